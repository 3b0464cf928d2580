"""The common part of the scorers for masked and causal language models of `transformers`.

A word of one or several tokens at a gap is scored in *steps*, which words share. Causal: P(form | c) = product over i
of P(t_i | c, t_<i), times P(end | c, t_1 ... t_k): the total probability of all tokens that do not continue the word
(`text.continuing_ids`). Masked: P(form | c) = product over i of P(t_i | k masks of which the first i - 1 are filled),
for a form of k tokens (Kauf & Ivanova 2023); compare only forms of equal length, because P(k) is unknown.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine.forward import Forward
from ..engine.plan import Indices, Plan
from ..engine.progress import Progress, within
from ..engine.run import Reader, TokenReader, run
from .scorer import CARRIER, Logprobs, Scorer, Slot
from .text import TooLongError, capitalized, checked_texts, warn_of_unknown

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from .own_model import LanguageModel

OPENED = Slot("The", " author.")
"""`CARRIER` for words that open a sentence; they replace its first word."""
END = -1
"""In place of a token: the total probability of all tokens that do not continue the word."""
State = tuple[int, ...]
"""What a form adds to its gap before a token is read: ids of tokens, with their own meaning for each kind of model."""
Step = tuple[State, int]
"""A state and the token (or `END`) whose probability is read in it."""
one_at_a_time = RLock()
"""One thread at a time runs a model: scorers of one model share its forward hooks."""


class PretrainedScorer(Scorer):
    """Answers queries with one model and its tokenizer; several threads may share it.

    Args:
        model: a language model of `transformers`; it is not changed and stays on its device.
        tokenizer: its tokenizer.
        name: the model's name in results.
        revision: commit, or hash of the weights.
        leading_space: put a space before the first word of a text.
        batch_tokens: tokens in one batch; None chooses by free memory.

    Raises:
        ValueError: the tokenizer returns no tokens, or does not give their positions.
    """

    state_at_gap: State
    """The state in which the distribution at the gap itself is read."""
    word_ends: NDArray[np.bool_] | None = None
    """(vocabulary,) which ids end a word, as `END` means; None where words need no end."""

    def __init__(
        self,
        model: "LanguageModel",
        tokenizer: "PreTrainedTokenizerBase",
        *,
        name: str = "model",
        revision: str | None = None,
        leading_space: bool = False,
        batch_tokens: int | None = None,
    ) -> None:
        if not tokenizer.is_fast or not tokenizer(CARRIER.prefix, add_special_tokens=False)["input_ids"]:
            raise ValueError(
                f"The tokenizer of {name} returns no tokens, or not where they are in the text. Use a fast one (with a "
                "tokenizer.json), and save it into the model's folder: tokenizer.save_pretrained(FOLDER)."
            )
        self.model, self.tokenizer, self.name = model.eval(), tokenizer, name
        self.leading_space, self.batch_tokens = leading_space, batch_tokens
        self.signature = {
            "model": name,
            "revision": revision,
            "architecture": type(model).__name__,
            "dtype": str(model.dtype).removeprefix("torch."),
            "leading_space": leading_space,
        }
        self.execution = {"device": str(model.device)}
        self._forward: Forward | None = None
        self._ids_of_forms: dict[bool, dict[str, list[int]]] = {True: {}, False: {}}

    @property
    def forward(self) -> Forward:
        """The forward pass of the model, probed when it is first needed.

        Raises:
            ValueError: the model is in training mode, or not of the scorer's kind.
        """
        if self.model.training:
            raise ValueError(
                f"{self.name} is in training mode: its scores are random. Call model.eval() first."
            )
        with one_at_a_time:
            if self._forward is None:
                forward = Forward(self.model)
                self.check_forward(forward)
                self._forward = forward
            return self._forward

    def check_forward(self, forward: Forward) -> None:
        """Raise ValueError where the model is not of the scorer's kind."""

    def sentence_logprobs(self, sentences: Iterable[str], progress: Progress | None = None) -> Logprobs:
        """Return log P of each sentence, of a masked model the pseudo-log-likelihood, (sentences,). See `Scorer`."""
        texts = checked_texts(sentences)
        return self.continuation_logprobs([""] * len(texts), texts, progress)

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, which is the width of the logits."""
        return int(self.model.config.get_text_config().vocab_size)

    def token_text(self, token: int) -> str:
        """Return the text of a vocabulary id."""
        return str(self.tokenizer.decode([token]))

    def token_counts(self, sentences: Iterable[str]) -> Indices:
        """Return the number of tokens of each sentence, (sentences,), without special tokens."""
        texts = list(sentences)
        ids = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"] if texts else []
        return np.array([len(row) for row in ids], dtype=np.int64)

    def single_token_ids(self, words: Sequence[str], opening: bool = False) -> Indices:
        """Return the vocabulary id of each word at a gap, (words,); -1 if it is not a single token. See `Scorer`."""
        form_ids = self.form_ids(words, opening)
        return np.array([ids[0] if len(ids) == 1 else -1 for ids in form_ids], dtype=np.int64)

    def form_lengths(self, forms: Sequence[str], opening: bool = False) -> Indices:
        """Return the number of tokens of each form, (forms,); 0 if it cannot be scored. See `Scorer`."""
        words = [capitalized(form) if opening else form for form in checked_texts(forms)]
        return np.array([len(ids) for ids in self.form_ids(words, opening)], dtype=np.int64)

    def form_ids(self, forms: Sequence[str], opening: bool = False) -> list[list[int]]:
        """Return the vocabulary ids of each word at a gap; none if it is unknown or merges with the text around it."""
        # A suite asks for the same list several times, and tokenizing it takes longer than scoring some pairs.
        known = self._ids_of_forms[opening]
        if new := [form for form in dict.fromkeys(forms) if form not in known]:
            known.update(zip(new, self._tokenized(new, opening), strict=True))
        return [known[form] for form in forms]

    def _tokenized(self, forms: Sequence[str], opening: bool) -> Iterator[list[int]]:
        """Yield the ids of each form: those between the ids before and after the carrier's gap."""
        if opening:  # a word fills the gap because a text cannot begin with a space; its ids are removed
            before, first = self.opened(["", self._spaced(OPENED.prefix)])
            after = self.tokenizer(self._spaced(OPENED.prefix + OPENED.suffix))["input_ids"][len(first) :]
            texts = [self._spaced(form + OPENED.suffix) for form in forms]
        else:
            (before,) = self.opened([CARRIER.prefix])
            after = self.tokenizer(CARRIER.prefix + CARRIER.suffix)["input_ids"][len(before) :]
            texts = [CARRIER.prefix + " " + form + CARRIER.suffix for form in forms]
        unknown = self.tokenizer.unk_token_id  # looking it up takes longer than the comparison of a row
        for row in self.tokenizer(texts)["input_ids"]:
            inside = row[len(before) : len(row) - len(after)]
            fits = row == before + inside + after and unknown not in inside
            yield inside if fits else []

    def form_logprobs(
        self, slots: Iterable[Slot], forms: Sequence[str], progress: Progress | None = None
    ) -> Logprobs:
        """Return log P of each form at each gap, (slots, forms), natural logs; NaN if it cannot be scored."""
        slots, forms = list(slots), checked_texts(forms)
        result, done = np.full((len(slots), len(forms)), np.nan), 0
        for opening in (False, True):
            places = [place for place, slot in enumerate(slots) if opening == (not slot.prefix)]
            number: dict[Step, int] = {}
            steps = [
                [number.setdefault(step, len(number)) for step in self.steps_of(ids)]
                for ids in self.form_ids(list(map(capitalized, forms)) if opening else forms, opening)
            ]
            if not number or not places:
                continue
            states: dict[State, int] = {}
            state = np.array([states.setdefault(state, len(states)) for state, _ in number])
            token = np.array([token for _, token in number])
            plan = self.plan_reads([slots[place] for place in places], list(states))
            plan.read_of = plan.read_of.reshape(len(places), -1)[:, state].ravel()
            reader = TokenReader(np.tile(token, len(places)), self.word_ends if END in token else None)
            part, done = within(progress, done, done + len(places), len(slots)), done + len(places)
            values = self.run(plan, reader, part).reshape(len(places), -1)
            for form, of_form in enumerate(steps):
                if of_form:
                    result[places, form] = values[:, of_form].sum(axis=1)
        return result

    def read_slots(
        self, slots: Iterable[Slot], reader: Reader, progress: Progress | None = None
    ) -> NDArray[Any]:
        """Return what a reader makes of the distribution at each gap, (slots,) records; see `Scorer`."""
        slots = list(slots)
        if not slots:
            return np.zeros(0, reader.dtype)
        return self.run(self.plan_reads(slots, [self.state_at_gap]), reader, progress)

    @abstractmethod
    def steps_of(self, ids: Sequence[int]) -> list[Step]:
        """Return the steps whose log-probabilities sum to that of a form with these ids."""

    @abstractmethod
    def plan_reads(self, slots: Sequence[Slot], states: Sequence[State]) -> Plan:
        """Plan a read in each state at each gap: those of the first slot, then those of the second, and so on.

        Raises:
            ValueError: a text is too long, or a gap has no context that the model sees.
        """

    def _spaced(self, text: str) -> str:
        return " " + text if self.leading_space else text

    def opened(self, prefixes: Sequence[str]) -> list[list[int]]:
        """Return the tokenizer's default ids of texts, without end tokens at their end."""
        special = self.tokenizer(CARRIER.prefix, return_special_tokens_mask=True)["special_tokens_mask"]
        closing = special[::-1].index(0)
        opened = self.tokenizer(list(prefixes), verbose=False)["input_ids"]
        return [ids[: len(ids) - closing] for ids in opened]

    def run(self, plan: Plan, reader: Reader, progress: Progress | None = None) -> NDArray[Any]:
        """Run a plan and return (answers,) records."""
        with one_at_a_time:
            return run(self.forward, plan, reader, self.batch_tokens, progress)

    def check_inputs(self, sequences: Sequence[Sequence[int]], texts: Sequence[str]) -> None:
        """Check the ids that the model is going to read, and warn about words that the tokenizer does not know.

        Raises:
            ValueError: a text has more tokens than the model has positions, or a token that it does not have.
        """
        most, n_ids = self._positions(), self.vocabulary_size
        for place, (ids, text) in enumerate(zip(sequences, texts, strict=True)):
            if max(ids, default=0) >= n_ids:  # on a GPU, it would end the process
                raise ValueError(
                    f"The tokenizer returns token {max(ids)} in {text[:80]!r}, but the vocabulary of {self.name} has "
                    f"{n_ids} tokens. They do not belong together: use a folder or repository that holds both."
                )
            if most is not None and len(ids) > most:
                raise TooLongError(
                    f"A text of {len(ids)} tokens is longer than the {most} positions of {self.name}: {text[:80]!r}… "
                    "Split it at its sentences, shorten it or remove it; a truncated text would get a wrong score.",
                    place,
                    text,
                )
        unknown = self.tokenizer.unk_token_id
        # Byte-level tokenizers know everything; their unknown token is the one that opens or ends texts.
        start = getattr(self, "start_token", None)
        if unknown not in (None, start, self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            is_unknown = [unknown in ids for ids in sequences]
            warn_of_unknown(self.name, texts, is_unknown, str(self.tokenizer.unk_token))

    def _positions(self) -> int | None:
        """Return the most tokens of a text; None for any number."""
        config = self.model.config.get_text_config()
        rope = getattr(config, "rope_parameters", None) or {}
        if rope.get("rope_type") == "longrope":
            # Beyond this limit the scaling changes for a whole batch, so scores would depend on its other texts.
            name = "original_max_position_embeddings"
            return int(rope.get(name) or getattr(config, name))
        most = getattr(config, "max_position_embeddings", None) or 0
        if config.model_type in ROBERTA_POSITIONS:  # they count positions from the padding id
            most -= (getattr(config, "pad_token_id", None) or 0) + 1
        return int(most) if most > 0 else None


ROBERTA_POSITIONS = {
    "roberta", "xlm-roberta", "camembert", "longformer", "mpnet", "xlm-roberta-xl", "roberta-prelayernorm",
    "data2vec-text", "esm", "ibert", "luke", "markuplm", "xmod",
}  # fmt: skip
