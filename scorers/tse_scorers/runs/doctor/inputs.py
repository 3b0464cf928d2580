"""Checks of what goes into a model: start token, mask, spaces, which lemmas are single tokens."""

from collections.abc import Sequence

from ...io.bundle import shipped_table
from ...models.causal import CausalScorer
from ...models.masked import MaskedScorer
from ...models.queries import CARRIER
from ...models.start_tokens import opens_chat_turns
from ...models.tokens import SPACES
from .diagnosis import Diagnosis, NeuralScorer, not_applicable

SENTENCE = "The author near the senators is tall."
FEW_LEMMAS = 10
"""EW and MW over fewer say nothing about other verbs."""


def start_token(scorer: NeuralScorer) -> Diagnosis:
    """Check that a text begins with one start token, and that it does not open a chat turn."""
    check = "start token"
    if not isinstance(scorer, CausalScorer):
        return not_applicable(check, "masked models have none")
    token, expected = scorer.start_token_text, "one token, which opened documents in pretraining"
    special = set(scorer.tokenizer.all_special_ids)
    if scorer.tokenizer.unk_token_id != scorer.start_token:  # English words may be unknown
        special.discard(scorer.tokenizer.unk_token_id)
    for kind, ids in (
        ("sentence", scorer.sentence_ids([SENTENCE])[0]),
        ("gap", scorer.slot_ids([CARRIER.prefix])[0]),
    ):
        if len(ids) > 1 and ids[0] == ids[1] and ids[0] in special:
            twice = scorer.tokenizer.convert_ids_to_tokens(ids[0])
            return Diagnosis(
                check, "failed", f"a {kind} begins with {twice} twice", expected,
                "Remove the start token from the tokenizer's post-processor (or its text template), which adds it "
                "again, and save the tokenizer.",
            )  # fmt: skip
    if scorer.start_token is None:
        return Diagnosis(
            check, "warning", "none: the first token of a sentence is not scored", expected,
            "If the model was trained with a token between documents, name it: --start-token TOKEN.",
        )  # fmt: skip
    if opens_chat_turns(scorer.tokenizer, scorer.start_token):
        return Diagnosis(
            check, "warning", f"{token}, which opens the turns of a chat", expected,
            "Name the token that opened documents in pretraining: --start-token TOKEN.",
        )  # fmt: skip
    instead = " (the model's own start token opens chat turns)" if scorer.avoids_chat_token else ""
    return Diagnosis(check, "ok", f"a sentence's first token is conditioned on {token}{instead}", expected)


def mask(scorer: NeuralScorer) -> Diagnosis:
    """Check that there is a mask token, and that it stands in a gap as a word would, its space included."""
    check, expected = "mask token", "one mask in a gap, and the same tokens around it as around a word"
    if not isinstance(scorer, MaskedScorer):
        return not_applicable(check, "causal models have none")
    token = scorer.tokenizer.mask_token_id
    if token is None or not 0 <= token < scorer.vocabulary_size:
        problem = "the tokenizer has no mask token" if token is None else f"the mask has the id {token}"
        return Diagnosis(
            check, "failed", problem, f"an id from 0 to {scorer.vocabulary_size - 1}",
            "Set the tokenizer's mask_token to the one of the model's training, and save the tokenizer.",
        )  # fmt: skip
    (ids,), (column,) = scorer.slot_ids([CARRIER])
    word = next((w for w in ("is", "was", "has") if scorer.single_token_ids([w])[0] >= 0), None)
    if word is None:
        return Diagnosis(
            check, "warning", "no frequent verb is a single token", expected, "Check the tokenizer."
        )
    filled = scorer.tokenizer(CARRIER.prefix + " " + word + CARRIER.suffix)["input_ids"]
    if ids[:column] + ids[column + 1 :] != filled[:column] + filled[column + 1 :] or ids[column] != token:
        return Diagnosis(
            check, "failed", f"the tokens of a sentence with a mask are {_readable(scorer, ids)}", expected,
            "Use the fast tokenizer of the model (one with a tokenizer.json); its mask must take the space before it.",
        )  # fmt: skip
    return Diagnosis(check, "ok", f"{scorer.tokenizer.mask_token} in place of a word and its space", expected)


def leading_space(scorer: NeuralScorer) -> Diagnosis:
    """Check that a word inside a sentence is tokenized with its space, where tokens carry spaces."""
    check, expected = "leading space", "a word inside a sentence keeps the space before it"
    tokenizer = scorer.tokenizer
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    # A few tokens begin with a space in any vocabulary.
    if sum(bool(token) and token.startswith(SPACES) for token in tokens) <= 0.05 * len(tokens):
        return not_applicable(check, "the tokens of this vocabulary carry no spaces")
    shorter, longer = scorer.opened([CARRIER.prefix, f"{CARRIER.prefix} is"])
    if longer[: len(shorter)] != shorter or len(longer) == len(shorter):
        return Diagnosis(
            check,
            "warning",
            "the token of ' is' depends on the word before it",
            expected,
            "Check the tokenizer.",
        )
    inside = longer[len(shorter) :]
    if not tokens[inside[0]].startswith(SPACES):
        return Diagnosis(
            check, "failed", f"inside a sentence, 'is' becomes {_readable(scorer, inside)}", expected,
            "Remove the step of the tokenizer that strips or splits at spaces: add_prefix_space, a normalizer or a "
            "pre-tokenizer that differs from the one of the model's training.",
        )  # fmt: skip
    start = tokenizer("is", add_special_tokens=False)["input_ids"]
    rule = f"{_readable(scorer, start)} (--leading-space would make it the same)"
    if tokens[start[0]].startswith(SPACES):
        rule = "the same"
    finding = f"inside a sentence, 'is' becomes {_readable(scorer, inside)}; at its start, {rule}"
    return Diagnosis(check, "ok", finding, expected)


def _readable(scorer: NeuralScorer, ids: Sequence[int]) -> str:
    """Return tokens in quotation marks; a space for the character that stands for it in the vocabulary.

    For instance ' is' for `Ġis`, and ' ' 'is' for `Ġ` and `is`.
    """
    tokens = scorer.tokenizer.convert_ids_to_tokens(list(ids))
    return " ".join(repr(f" {token[1:]}" if token.startswith(SPACES) else token) for token in tokens)


def lemma_coverage(scorer: NeuralScorer) -> Diagnosis:
    """Count the lemmas whose two forms are single tokens, which EW and MW average over."""
    lemmas = shipped_table("verb_lemmas", "released").to_pandas()
    singular, plural = (scorer.single_token_ids(lemmas[number].tolist()) for number in ("singular", "plural"))
    single = (singular >= 0) & (plural >= 0) & (singular != plural)
    examples = lemmas[~single].head(3)
    names = ", ".join(f"{a}/{b}" for a, b in zip(examples["singular"], examples["plural"], strict=True))
    others = f"; not {names}" if names else ""
    result = f"{single.sum():,} of {len(lemmas):,} listed lemmas have two single-token forms{others}"
    if single.sum() >= FEW_LEMMAS:
        return Diagnosis(
            "lemma coverage", "ok", result, "as many as possible, because EW and MW average over them"
        )
    so_far = (
        "EW and MW would average over these lemmas only" if single.any() else "EW and MW cannot be computed"
    )
    return Diagnosis(
        "lemma coverage", "warning", result, f"at least {FEW_LEMMAS}",
        f"{so_far}. Score all lemmas as whole words (--forms all), use a lemma list of the model's language "
        "(--lemmas), or sentence scores (--suite minimal_pairs).",
    )  # fmt: skip
