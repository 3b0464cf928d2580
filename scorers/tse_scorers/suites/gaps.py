"""EW, MW and TSE at the gaps of sentences: what a model is asked there, and what it answers.

`scorer.map` and the suite agreement call `score_gaps`. The definitions are those of `metrics/refined_tse`.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..engine.plan import Indices
from ..engine.progress import Progress, within
from ..io.bundle import metric_modules
from ..models.scorer import Scorer, Slot, checked
from ..models.text import capitalized

if TYPE_CHECKING:
    from torch import Tensor

NUMBERS = ("singular", "plural")
MEASURES = ("ew", "mw", "covered_mass")
SCORED = ""
EQUAL, UNKNOWN, SEVERAL, UNLIKE = ("equal forms", "unknown", "several tokens", "different lengths")
"""Why a lemma is not scored. `different lengths`: a masked model has to be told the number of pieces, and probabilities
given different numbers are not comparable."""
WORDS_AT_ONCE = 1 << 20
"""Log-probabilities of whole words that are asked for at once; a word has a few tokens."""
definitions: Any = metric_modules("refined_tse").definitions


@dataclass(frozen=True)
class Listing:
    """The lemma list as one model sees it at one kind of gap.

    `lemmas` is the whole list: `singular`, `plural`, `n_tokens_singular` and `n_tokens_plural` (0 for an unknown word),
    `excluded` (why a lemma is not scored, or `SCORED`).
    """

    lemmas: pd.DataFrame
    places: Indices  # (scored,) the scored lemmas in the list
    ids: Indices  # (2, scored) tokens of their singulars and plurals; of whole words, their places among `forms`
    forms: list[str]  # the different forms of the scored lemmas, where these are whole words


class ScoredGaps(NamedTuple):
    """The answers of one model.

    `contexts` has a row for each context that differs for the model: `prefix`, `suffix`, `number`, `opening`, the
    scores (`score_columns`), `n_lemmas`, `n_ties`, `right` (whether the correct form of each scored lemma is the more
    probable one, as bits), and if asked for the most probable `words` with their `probabilities`, a list each.

    `rows` has a row for each row of the data: `context`, its place there, and if it has verbs, `logprob_correct` and
    `logprob_incorrect` (natural logs; NaN where a form cannot be scored) and `tse` (0 or 1; NaN where they do not
    compare).
    """

    contexts: pd.DataFrame
    rows: pd.DataFrame


def score_gaps(
    scorer: Scorer,
    data: pd.DataFrame,
    lemmas: pd.DataFrame,
    whole_words: bool = False,
    progress: Progress | None = None,
    cutoffs: bool = True,
    listings: Mapping[bool, Listing] | None = None,
    n_words: int = 0,
) -> ScoredGaps:
    """Ask a model about each different gap once.

    Args:
        scorer: gives the distribution at a gap; for whole words, `form_logprobs` is enough.
        data: `prefix`, `suffix`, `number` (`singular` or `plural`); for TSE also `form_correct` and `form_incorrect`.
        lemmas: columns `singular` and `plural`.
        whole_words: score all forms, as words; else only lemmas whose two forms are single tokens.
        progress: called with (tokens done, tokens in all).
        cutoffs: score at all cut-offs; whole words have none.
        listings: what `list_lemmas` returned for this model, where several calls share it.
        n_words: how many of the most probable words of each gap are returned; none where whole words are scored.

    Raises:
        ValueError: the model can score no lemma, or a text is too long for it.
    """
    context = data.groupby([*scorer.context_columns, "number"], sort=False).ngroup().to_numpy()
    _, first = np.unique(context, return_index=True)
    contexts = data[["prefix", "suffix", "number"]].iloc[first].reset_index(drop=True)
    contexts["opening"] = contexts["prefix"] == ""
    slots = [
        Slot(*both) for both in zip(contexts["prefix"].tolist(), contexts["suffix"].tolist(), strict=True)
    ]
    is_singular, opens = (contexts["number"] == "singular").to_numpy(), contexts["opening"].to_numpy()
    openings = np.unique(opens).tolist()
    listings = listings or list_lemmas(scorer, lemmas, openings, whole_words)
    forms = data[["form_correct", "form_incorrect"]] if "form_correct" in data else pd.DataFrame()
    verbs = pd.unique(forms.to_numpy().ravel()).tolist()
    own = np.full((len(contexts), len(verbs)), np.nan)
    n_own_tokens = np.zeros(own.shape, np.int64)
    parts = []
    for opening in openings:
        listing, at = listings[opening], np.flatnonzero(opens == opening)
        some = [slots[place] for place in at]
        if whole_words:
            n_own_tokens[at] = lengths = _lengths(scorer, verbs, opening)
            known = np.flatnonzero(lengths)
            known_verbs = [verbs[place] for place in known]
            records = _score_words(scorer, some, listing, is_singular[at], known_verbs, progress)
        else:
            ids = _token_ids(scorer, verbs, opening)
            known = np.flatnonzero(ids >= 0)
            n_best = min(n_words, scorer.vocabulary_size)
            reader = GapReader(listing.ids, is_singular[at], ids[known], cutoffs, n_best)
            records = scorer.read_slots(some, reader, progress)
        own[np.ix_(at, known)] = records["verbs"]
        columns = score_columns(whole_words or not cutoffs)
        scores: dict[str, Any] = {name: records[measure][:, cut] for name, (measure, cut) in columns.items()}
        if records["tokens"].shape[1]:
            scores["words"] = _texts(scorer, records["tokens"])
            scores["probabilities"] = [*records["probabilities"]]
        scores |= {"n_lemmas": len(listing.places), "n_ties": records["ties"].astype(np.int64)}
        scores["right"] = [*records["right"]]
        parts.append(pd.concat([contexts.iloc[at], pd.DataFrame(scores, index=at)], axis=1))
    rows = pd.DataFrame({"context": context}, index=data.index)
    if len(verbs):
        number = {verb: place for place, verb in enumerate(verbs)}
        places = forms.apply(lambda of: of.map(number)).to_numpy()
        logprobs = own[context[:, None], places]
        rows["logprob_correct"], rows["logprob_incorrect"] = logprobs.T
        comparable = ~np.isnan(logprobs).any(axis=1)
        if whole_words and "suffix" in scorer.context_columns:  # P(length) is unknown
            n_tokens = n_own_tokens[context[:, None], places]
            comparable &= n_tokens[:, 0] == n_tokens[:, 1]
        rows["tse"] = np.where(comparable, definitions.is_correct(*logprobs.T), np.nan)
    return ScoredGaps(pd.concat(parts).sort_index(), rows)


def score_columns(whole: bool = False) -> dict[str, tuple[str, int]]:
    """Return the columns of scores (`ew_top_0.9`, ...), each with its measure and its place among the cut-offs.

    With `whole`, the whole distribution is the only cut-off.
    """
    cutoffs = [*enumerate([("top", 1.0)] if whole else definitions.CUTOFFS)]
    return {f"{name}_{side}_{p:g}": (name, cut) for name in MEASURES for cut, (side, p) in cutoffs}


def list_lemmas(
    scorer: Scorer, lemmas: pd.DataFrame, openings: Sequence[bool], whole_words: bool = False
) -> dict[bool, Listing]:
    """Say which lemmas a model scores at each kind of gap (whether forms open their sentences), and why not the others.

    Raises:
        ValueError: no lemma can be scored, or the tokenizer belongs to another model. A kind of gap without lemmas,
            beside another with some, is a warning.
    """
    listings = {opening: _listing(scorer, lemmas, opening, whole_words) for opening in openings}
    without = [opening for opening, listing in listings.items() if not len(listing.places)]
    for opening in without:
        where = " where they open a sentence, capitalized" if opening else ""
        problem = (
            f"{scorer.name} can score none of the {len(lemmas)} lemmas{where}: its vocabulary lacks them, or has none "
            "with both forms as single tokens. Use a list that fits it (--lemmas FILE), or whole words (forms='all')."
        )
        if len(without) == len(listings):
            raise ValueError(problem)
        warnings.warn(problem, stacklevel=3)
    return listings


def _listing(scorer: Scorer, lemmas: pd.DataFrame, opening: bool, whole_words: bool) -> Listing:
    forms = lemmas[[*NUMBERS]].reset_index(drop=True)
    n_tokens = np.stack([_lengths(scorer, forms[number].tolist(), opening) for number in NUMBERS])
    reasons = {
        UNLIKE: (n_tokens[0] != n_tokens[1]) & (whole_words and "suffix" in scorer.context_columns),
        UNKNOWN: (n_tokens < 1).any(axis=0),
        SEVERAL: (n_tokens > 1).any(axis=0) & (not whole_words),
        EQUAL: (forms["singular"] == forms["plural"]).to_numpy(),
    }
    excluded = np.full(len(forms), SCORED, dtype=object)
    for reason, holds in reasons.items():
        excluded[holds] = reason  # the last one that holds is given
    places = np.flatnonzero(excluded == SCORED)
    if whole_words:
        numbers, different = pd.factorize(forms.iloc[places].to_numpy().T.ravel())
        ids, words = numbers.reshape(2, -1), list(different)
    else:
        ids = np.stack(
            [_token_ids(scorer, forms[number].iloc[places].tolist(), opening) for number in NUMBERS]
        )
        same = ids[0] == ids[1]  # two spellings may be one token (an uncased model)
        excluded[places[same]] = UNKNOWN
        places, ids, words = places[~same], ids[:, ~same], []
    counts = {f"n_tokens_{number}": of_form for number, of_form in zip(NUMBERS, n_tokens, strict=True)}
    return Listing(forms.assign(**counts, excluded=excluded), places, ids.astype(np.int64), words)


def _token_ids(scorer: Scorer, forms: list[str], opening: bool) -> Indices:
    """Return the token of each form at a gap, (forms,); -1 if it is not a single known one.

    Raises:
        ValueError: the tokenizer gives a token that the model does not have.
    """
    ids = scorer.single_token_ids([*map(capitalized, forms)] if opening else forms, opening)
    if ids.max(initial=-1) >= (size := scorer.vocabulary_size):
        raise ValueError(
            f"The tokenizer gives token {ids.max()} for a verb, but {scorer.name} has only {size}. They do not belong "
            "together: name a folder or repository with both."
        )
    return ids


def _lengths(scorer: Scorer, forms: list[str], opening: bool) -> Indices:
    """Return the number of tokens of each form at a gap, (forms,); 0 if it is unknown."""
    if scorer.can("form_lengths"):
        return np.asarray(scorer.form_lengths(forms, opening))
    return np.where(_token_ids(scorer, forms, opening) >= 0, 1, 0)


def _texts(scorer: Scorer, tokens: Indices) -> list[NDArray[Any]]:
    """Return the texts of tokens without the space before them, an array for each row."""
    different, places = np.unique(tokens, return_inverse=True)
    texts = [text.strip() or repr(text) for text in map(scorer.token_text, different.tolist())]
    return [*np.array(texts, dtype=object)[places.reshape(tokens.shape)]]


class GapReader:
    """Reduces distributions at gaps to records: scores, which lemmas are right, own verbs, most probable tokens.

    Args: see `Listing.ids` and `score_gaps`; `is_singular` is of each gap, `verb_ids` are tokens.
    """

    def __init__(
        self,
        ids: Indices,
        is_singular: NDArray[np.bool_],
        verb_ids: Indices,
        cutoffs: bool = True,
        n_words: int = 0,
    ) -> None:
        n_cutoffs = len(definitions.CUTOFFS) if cutoffs else 1
        self.dtype = _record(ids.shape[1], len(verb_ids), n_cutoffs, n_words)
        self._ids, self._is_singular, self._verb_ids = ids, is_singular, verb_ids
        self._cutoffs, self._n_words, self._repeated = cutoffs, n_words, definitions.repeated_forms(ids)

    def __call__(self, logits: "Tensor", at: Indices, answers: Indices) -> NDArray[Any]:
        """Return the records of gaps; the number of an answer is that of its gap, which has one."""
        import torch

        logits = logits[torch.from_numpy(at).to(logits.device)]
        logits = logits.cpu() if logits.device.type == "mps" else logits  # mps has no float64
        asked = self._ids, self._is_singular[answers]
        if self._cutoffs:
            scores = definitions.gap_scores(logits, *asked, self._repeated, threads=torch.get_num_threads())
            log_normalizer = torch.as_tensor(scores.log_normalizer)
        else:
            ids, is_singular = (torch.from_numpy(of).to(logits.device) for of in asked)
            log_normalizer = torch.logsumexp(logits.double(), dim=1, keepdim=True)
            logprobs = logits[:, ids] - log_normalizer[:, :, None]
            scores = definitions.whole_scores(logprobs, is_singular, self._repeated)
        top = logits.topk(self._n_words, dim=1)
        verbs, best = logits[:, self._verb_ids] - log_normalizer, (top.values - log_normalizer).exp()
        return _filled(self.dtype, scores, verbs, top.indices, best)


def _score_words(
    scorer: Scorer, slots: list[Slot], listing: Listing, is_singular: NDArray[np.bool_], verbs: list[str],
    progress: Progress | None,
) -> NDArray[Any]:  # fmt: skip
    """Return the records of gaps where whole words are scored."""
    forms = list(dict.fromkeys([*listing.forms, *verbs]))
    at_verbs, repeated = [forms.index(verb) for verb in verbs], definitions.repeated_forms(listing.ids)
    dtype, parts = _record(listing.ids.shape[1], len(verbs), 1), []
    for part in np.array_split(np.arange(len(slots)), max(1, len(slots) * len(forms) // WORDS_AT_ONCE)):
        of_part = within(progress, part[0], part[-1] + 1, len(slots))
        answers = scorer.form_logprobs([slots[place] for place in part], forms, of_part)
        logprobs = checked(scorer, answers, (len(part), len(forms)))
        scores = definitions.whole_scores(logprobs[:, listing.ids], is_singular[part], repeated)
        parts.append(_filled(dtype, scores, logprobs[:, at_verbs]))
    return np.concatenate(parts)


def _record(n_lemmas: int, n_verbs: int, n_cutoffs: int, n_words: int = 0) -> np.dtype:
    """Return what is kept of one context."""
    scores = [(measure, "f8", (n_cutoffs,)) for measure in MEASURES]
    words = [("tokens", "i4", (n_words,)), ("probabilities", "f2", (n_words,))]
    right, verbs = ("right", "u1", (-(-n_lemmas // 8),)), ("verbs", "f8", (n_verbs,))
    return np.dtype([*scores, ("ties", "i4"), right, verbs, *words])


def _filled(dtype: np.dtype, scores: Any, *more: Any) -> NDArray[Any]:
    """Return records with the scores of contexts, and what follows `right` in them."""
    import torch

    parts = (np.asarray(torch.as_tensor(part).cpu()) for part in (*scores[:4], *more))
    ew, mw, covered, logprob, *rest = parts
    records = np.zeros(len(ew), dtype)
    records["ew"], records["mw"], records["covered_mass"] = ew, mw, covered
    records["ties"] = (logprob[:, 0] == logprob[:, 1]).sum(axis=1)
    records["right"] = np.packbits(definitions.is_correct(logprob[:, 0], logprob[:, 1]), axis=1)
    for name, values in zip(("verbs", "tokens", "probabilities"), rest, strict=False):
        records[name] = values
    return records
