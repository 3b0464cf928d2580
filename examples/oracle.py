"""TSE, EW, MW, BLiMP accuracy and the German AUC in one file, with nothing of this package: what `tse run` computes.

    python examples/oracle.py MODEL [--limit 20] [--blimp FOLDER]

MODEL is what `transformers` loads as a causal or masked language model. Each definition is written as its paper says
it, one forward pass after the other, so this is slow. A test of the package holds its numbers against these.
Log-probabilities are natural logs. Not covered: encoder-decoder models, cut-offs, prefix methods, forms of several
tokens, chat models whose start token opens a turn.

Newman et al. (2021), Refining Targeted Syntactic Evaluation; Warstadt et al. (2020), BLiMP; Rochereau et al. (2020),
Neural language modeling of free word order argument structure; Salazar et al. (2020) and Kauf & Ivanova (2023) for
sentences under masked models.
"""

import argparse
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "datasets" / "agreement_templates" / "marvin_linzen" / "test.parquet"
LEMMAS = ROOT / "datasets" / "verb_lemmas" / "released" / "train.parquet"
GERMAN = ROOT / "datasets" / "german_argument_structure" / "ours" / "test.parquet"
SETS = {"1-6": "NDA", "1-2_nominative": "N", "1-2_accusative": "A", "1-2_dative": "D"}
"""Minimal variation set -> the cases that its violations double."""


class Model:
    """A causal or masked language model of `transformers`, float32, one text at a time."""

    def __init__(self, name: str) -> None:
        architecture = (AutoConfig.from_pretrained(name).architectures or [""])[0]
        self.is_masked = architecture.endswith("ForMaskedLM")
        load = AutoModelForMaskedLM if self.is_masked else AutoModelForCausalLM
        self.model = load.from_pretrained(name, dtype=torch.float32).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.at_gap = cache(self._at_gap)

    def logprobs(self, ids: list[int]) -> torch.Tensor:
        """Return log P of every token at every position, (tokens, vocabulary), float64."""
        with torch.inference_mode():
            return self.model(torch.tensor([ids])).logits[0].double().log_softmax(-1)

    def _at_gap(self, prefix: str, suffix: str) -> np.ndarray:
        """Return log P at the gap between two texts, (vocabulary,): of a mask, or of what follows the prefix."""
        if not self.is_masked:
            encoded = self.tokenizer(prefix, return_special_tokens_mask=True)
            ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
            while special.pop():  # tokens that the tokenizer puts after a text
                ids.pop()
            return self.logprobs(ids)[-1].numpy()
        # A word stands in the gap while the text is tokenized, because a mask may be tokenized without its space.
        encoded = self.tokenizer(f"{prefix} is{suffix}", return_offsets_mapping=True)
        first, end = len(prefix), len(f"{prefix} is")
        spans = enumerate(encoded["offset_mapping"])
        inside = [place for place, (start, stop) in spans if stop > first and start < end and stop > start]
        ids = encoded["input_ids"]
        masked = [*ids[: inside[0]], self.tokenizer.mask_token_id, *ids[inside[-1] + 1 :]]
        return self.logprobs(masked)[inside[0]].numpy()

    def token(self, form: str) -> int | None:
        """Return the id of a word after a space, None where it is several tokens or unknown."""
        ids = self.tokenizer(" " + form, add_special_tokens=False)["input_ids"]
        return ids[0] if len(ids) == 1 and ids[0] != self.tokenizer.unk_token_id else None

    def sentence(self, text: str) -> float:
        """Return log P(sentence); masked: the pseudo-log-likelihood, later tokens of the same word masked too."""
        if not self.is_masked:
            ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
            start = self.tokenizer.bos_token_id  # without one, the first word is not scored
            given = ids if start is None else [start, *ids]
            rows = self.logprobs(given)
            return float(sum(rows[place - 1, given[place]] for place in range(1, len(given))))
        encoded = self.tokenizer(text, return_special_tokens_mask=True)
        ids, words, total = encoded["input_ids"], encoded.word_ids(), 0.0
        for place, token in enumerate(ids):
            if encoded["special_tokens_mask"][place]:
                continue
            hidden = [place, *(later for later in range(place + 1, len(ids)) if words[later] == words[place])]
            masked = [self.tokenizer.mask_token_id if i in hidden else other for i, other in enumerate(ids)]
            total += float(self.logprobs(masked)[place, token])
        return total


def agreement(model: Model, pairs: pd.DataFrame, lemmas: pd.DataFrame) -> dict[str, float]:
    """Return TSE over pairs, EW and MW over contexts (Newman et al. 2021, section 2).

    A lemma counts if each of its two forms is one token, and a pair if its own two forms are. A context is what the
    model sees: a causal model does not see the suffix. A column `stands_for` has the weights of a sample.
    """
    ids = [(model.token(row.singular), model.token(row.plural)) for row in lemmas.itertuples()]
    forms = np.array([both for both in ids if None not in both and both[0] != both[1]])
    right, contexts = [], {}
    for pair in pairs.itertuples():
        suffix = pair.suffix if model.is_masked else ""
        logprob = model.at_gap(pair.prefix, suffix)
        correct, incorrect = model.token(pair.form_correct), model.token(pair.form_incorrect)
        weight = getattr(pair, "stands_for", 1)
        if None not in (correct, incorrect):
            right.append((logprob[correct] > logprob[incorrect], weight))  # a tie is not right
        is_plural = int(pair.number == "plural")
        good, bad = logprob[forms[:, is_plural]], logprob[forms[:, 1 - is_plural]]
        mw = np.exp(good).sum() / (np.exp(good).sum() + np.exp(bad).sum())
        contexts[pair.prefix, suffix, is_plural] = np.mean(good > bad), mw, weight
    (tse, of_pairs), (ew, mw, of_contexts) = zip(*right, strict=True), zip(*contexts.values(), strict=True)
    scores = {"tse": (tse, of_pairs), "ew": (ew, of_contexts), "mw": (mw, of_contexts)}
    return {name: float(np.average(values, weights=weights)) for name, (values, weights) in scores.items()}


def blimp(model: Model, pairs: pd.DataFrame) -> dict[str, float]:
    """Return accuracy by paradigm and over all: the mean over paradigms (Warstadt et al. 2020, section 4)."""
    right = defaultdict(list)
    for pair in pairs.itertuples():
        right[pair.UID].append(model.sentence(pair.sentence_good) > model.sentence(pair.sentence_bad))
    scores = {paradigm: float(np.mean(values)) for paradigm, values in right.items()}
    return {"all": float(np.mean(list(scores.values()))), **scores}


def german(model: Model, sentences: pd.DataFrame) -> dict[str, float]:
    """Return the AUC of each minimal variation set: the mean over cells of the mean over templates.

    A cell is a case order and an order of the nouns (Rochereau et al. 2020, section 3). An acceptable sentence stands
    against those with the same template and positions in which one case is replaced by another that is there already;
    a tie counts one half.
    """
    keys = sentences[["template", "positions", "cases"]].itertuples(index=False, name=None)
    score = dict(zip(keys, map(model.sentence, sentences["sentence"]), strict=True))
    cells = {name: defaultdict(list) for name in SETS}
    for (template, positions, cases), good in score.items():
        if set(cases) != set("NDA"):
            continue
        for name, doubled in SETS.items():
            wrong = [
                cases[:at] + case + cases[at + 1 :]
                for case in doubled
                for at in range(3)
                if cases[at] != case
            ]
            others = [score[template, positions, cases_of_other] for cases_of_other in wrong]
            auc = np.mean([(good > other) + (good == other) / 2 for other in others])
            cells[name][cases, positions].append(auc)
    return {name: float(np.mean([*map(np.mean, of_set.values())])) for name, of_set in cells.items()}


def sampled(frame: pd.DataFrame, group: str, limit: int, together: str | None = None) -> pd.DataFrame:
    """Return at most so many rows of each group, or all of so many prefixes (`together`), with what each stands for.

    They are those that `tse run --limit` takes.
    """
    first = (frame if together is None else frame.drop_duplicates(together)).reset_index(drop=True)
    chosen = first.loc[first.sample(frac=1.0, random_state=0).groupby(group).head(limit).index.sort_values()]
    share = first[group].value_counts() / chosen[group].value_counts()
    if together is None:
        return chosen
    stands_for = chosen.set_index(together)[group].map(share)
    kept = frame[frame[together].isin(stands_for.index)]
    return kept.assign(stands_for=kept[together].map(stands_for))


def main() -> None:
    """Print the scores of a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    of_each = "prefixes of each construction, pairs of each paradigm, templates"
    parser.add_argument("--limit", type=int, default=20, help=of_each)
    parser.add_argument("--blimp", type=Path, help="folder with BLiMP's *.jsonl")
    given = parser.parse_args()
    model = Model(given.model)
    pairs = sampled(pd.read_parquet(PAIRS), "group", given.limit, together="prefix")
    print("Marvin & Linzen:", agreement(model, pairs, pd.read_parquet(LEMMAS)))
    sentences = pd.read_parquet(GERMAN)
    print("German word order:", german(model, sentences[sentences["template"] < given.limit]))
    if given.blimp:
        files = sorted(given.blimp.glob("*.jsonl"))
        frame = pd.concat([pd.read_json(file, lines=True) for file in files], ignore_index=True)
        print("BLiMP:", blimp(model, sampled(frame, "UID", given.limit)))


if __name__ == "__main__":
    main()
