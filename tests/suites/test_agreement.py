"""Agreement from pairs to averages, against the definitions taken at their word.

The expected numbers come from one plain forward pass of each context and `literal_tse`, which ranks the whole
vocabulary and shares no code with the package or the metric.
"""

import copy
import functools
import math
import zlib
from types import MappingProxyType

import literal_tse
import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from own_tables import WORDS, write_table
from plain_loop import at_mask, next_token
from tiny import tiny_model
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tse_scorers import Scorer, Slot, load_scorer, run
from tse_scorers.models.causal import CausalScorer
from tse_scorers.models.masked import MaskedScorer
from tse_scorers.statistics import Units, mean
from tse_scorers.suites.agreement import SUBJECTS, Agreement, load_lemmas, scored_lemmas, subject
from tse_scorers.suites.data import DataWarning

TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 1.0)
CUTOFFS = [*(("top", p) for p in TOP), *(("bottom", p) for p in (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6))]
MEASURES = ("ew", "mw", "covered_mass")
LEMMAS = pd.DataFrame(
    [("laughs", "laugh"), ("likes", "like"), ("knows", "know"), ("swims", "swim"), ("exists", "exist"),
     ("admires", "admire"), ("is", "are"), ("has", "have"), ("unlikes", "unlike")],
    columns=["singular", "plural"],
)  # fmt: skip
PAIRS = pd.DataFrame(
    [
        ("Simple", "The author", ".", "singular", "laughs", "laugh"),
        ("Simple", "The author", ".", "singular", "swims", "swim"),  # the same context
        ("Simple", "The authors", " tall.", "plural", "are", "is"),
        ("Simple", "The author", " tall.", "singular", "is", "are"),  # to a causal model the first context
        ("Near", "The movie near the pilot", " old.", "singular", "is", "are"),
        ("Near", "The senators near the guard", ".", "plural", "unlike", "unlikes"),  # not single tokens
        ("Near", "The author", ".", "singular", "laughs", "laugh"),  # a context of two groups
    ],
    columns=["group", "prefix", "suffix", "number", "form_correct", "form_incorrect"],
)
OPENING = PAIRS.iloc[:2].assign(
    prefix="", suffix=[" the author tall.", " the authors tall."], number=["singular", "plural"],
    form_correct=["Is", "are"], form_incorrect=["Are", "is"],
)  # fmt: skip
MODELS = [
    ("masked", "bert"),
    ("masked", "roberta"),
    ("causal", "gpt2"),
    ("causal", "llama"),
    ("causal", "mamba"),
]
both = pytest.mark.parametrize("kind, family", [("masked", "bert"), ("causal", "gpt2")])


def at(measure, side, cutoff):
    return measure if (side, cutoff) == ("top", 1.0) else f"{measure}@{side}-{cutoff:g}"


@functools.cache
def scorer_of(kind, family, capitals=False, **options):
    model, tokenizer = tiny_model(kind, family, capitals=capitals)
    if kind == "causal" and capitals:
        options["bos"] = True
    kinds = {"masked": MaskedScorer, "causal": CausalScorer}
    return kinds[kind](model, tokenizer, name=family, revision="1", **options)


def suite_of(pairs=PAIRS, lemmas=LEMMAS, **options):
    return Agreement(data=pairs, lemmas=lemmas, **options)


def asked(scorer, suite):
    """Tables of scores, and the rows of results over the whole distribution by (measure, group)."""
    tables = suite.joined([suite.ask(scorer, suite.items)])
    rows = Agreement.rows(tables)
    return tables, {(row["measure"], row["value"] or "all"): row for row in rows}


@functools.cache
def scored(kind, family):
    return asked(scorer_of(kind, family), suite_of())


def probabilities_at(scorer, prefix, suffix):
    """One plain forward pass in float32; the rest of the way in Python's floats."""
    if not isinstance(scorer, CausalScorer):
        spaced = " " * (scorer.leading_space and not prefix)
        ids = scorer.tokenizer(f"{prefix} is{suffix}" if prefix else f"{spaced}Is{suffix}")["input_ids"]
        column = ids.index(single(scorer, "is" if prefix else "Is", not prefix))
        ids[column] = scorer.tokenizer.mask_token_id
        return literal_tse.softmax(at_mask(scorer.model, ids, column).tolist())
    ids = scorer.tokenizer(prefix)["input_ids"] if prefix else [scorer.start_token]
    if (
        prefix
        and scorer.start_token is not None
        and ids[0] != scorer.start_token
        and scorer.signature.get("bos")
    ):
        ids = [scorer.start_token, *ids]
    return literal_tse.softmax(next_token(scorer.model, ids).tolist())


def single(scorer, word, opening=False):
    return int(scorer.single_token_ids([word], opening)[0])


def ids_of(scorer, number, opening=False):
    """(correct, incorrect) tokens of the lemmas with two single tokens."""
    forms = [[form.capitalize() if opening else form for form in lemma] for lemma in LEMMAS.values.tolist()]
    ids = [tuple(single(scorer, form, opening) for form in lemma) for lemma in forms]
    return [lemma if number == "singular" else lemma[::-1] for lemma in ids if min(lemma) >= 0]


@pytest.mark.parametrize("kind, family", MODELS)
def test_contexts_and_pairs_equal_the_literal_definitions(kind, family):
    scorer, (tables, _) = scorer_of(kind, family), scored(kind, family)
    contexts, seen = tables["contexts"], ["prefix", "suffix"] if kind == "masked" else ["prefix"]
    expected = PAIRS.drop_duplicates([*seen, "number", "group"])
    assert contexts[["group", *seen]].values.tolist() == expected[["group", *seen]].values.tolist()
    assert contexts.groupby("context")[[*seen, "number"]].nunique().eq(1).all(axis=None)
    for context in contexts.to_dict("records"):
        probabilities = probabilities_at(scorer, context["prefix"], context["suffix"])
        ids = ids_of(scorer, context["number"])
        assert context["n_lemmas"] == len(ids) == 8
        assert context["right"].tolist() == [probabilities[a] > probabilities[b] for a, b in ids]
        best = literal_tse.ranking(probabilities)[:10]
        np.testing.assert_allclose(
            context["probabilities"], [probabilities[token] for token in best], atol=1e-3
        )
        assert len(context["words"]) == 10
        for side, cutoff in CUTOFFS:
            values = literal_tse.cutoff_scores(probabilities, ids, cutoff, side)
            found = [context[at(measure, side, cutoff)] for measure in MEASURES]
            np.testing.assert_allclose(found, values, rtol=0, atol=1e-5, err_msg=f"{side} {cutoff}")
    for pair in tables["pairs"].to_dict("records"):
        probabilities = probabilities_at(scorer, pair["prefix"], pair["suffix"])
        right, wrong = single(scorer, pair["form_correct"]), single(scorer, pair["form_incorrect"])
        assert pair["verb"] in LEMMAS["singular"].tolist()
        if min(right, wrong) < 0:
            assert math.isnan(pair["tse"])
            continue
        assert pair["tse"] == (probabilities[right] > probabilities[wrong])
        logprobs = [pair["logprob_correct"], pair["logprob_incorrect"]]
        assert logprobs == pytest.approx([math.log(probabilities[form]) for form in (right, wrong)], abs=1e-5)
    assert tables["lemmas"].set_index("singular")["excluded"].to_dict() == {
        lemma: "several tokens" if lemma == "unlikes" else "" for lemma in LEMMAS["singular"]
    }


@both
def test_averages_are_over_different_contexts_and_over_all_pairs(kind, family):
    tables, rows = scored(kind, family)
    contexts, pairs = tables["contexts"], tables["pairs"]
    for group in ("Simple", "Near", "all"):
        inside = contexts[contexts["group"] == group]
        inside = contexts.drop_duplicates("context") if group == "all" else inside
        for side, cutoff in CUTOFFS:
            without = inside[at("ew", side, cutoff)].isna()
            assert rows[at("share_without_lemmas", side, cutoff), group]["score"] == without.mean()
            for measure in MEASURES:
                values = inside[at(measure, side, cutoff)].dropna()
                row = rows.get((at(measure, side, cutoff), group))
                assert (row is None) == values.empty
                if row:
                    assert row["score"] == pytest.approx(values.mean())
                    assert (row["n"], row["n_excluded"]) == (len(values), len(inside) - len(values))
        own = pairs["tse"] if group == "all" else pairs["tse"][pairs["group"] == group]
        row = rows["tse", group]
        assert row["score"] == own.mean()
        assert (row["n"], row["n_excluded"]) == (own.notna().sum(), own.isna().sum())
    for row in rows.values():
        ends = [row["ci_low"], row["score"], row["ci_high"]]
        assert math.isnan(row["ci_low"]) or (ends == sorted(ends) and 0 <= ends[0] and ends[2] <= 1)
    headlines = [measure.name for measure in Agreement.measures if measure.headline]
    assert headlines == ["tse", "ew", "mw"] and Agreement.leading().name == "ew"


@both
def test_chunks_and_batches_do_not_change_scores(kind, family):
    scorer, suite = scorer_of(kind, family), suite_of()
    whole, _ = asked(scorer, suite)
    scorer.batch_tokens = 9
    wholes = suite.items["prefix"].unique()
    parts = [suite.items[suite.items["prefix"] == prefix] for prefix in reversed(wholes)]
    joined = suite.joined([suite.ask(scorer, part) for part in parts])
    scorer.batch_tokens = None
    for name, table in whole.items():
        numbers = [column for column in table if table[column].dtype.kind == "f"]
        np.testing.assert_allclose(joined[name][numbers], table[numbers], rtol=0, atol=1e-5)
        texts = [column for column in ("prefix", "suffix", "context", "row", "singular") if column in table]
        assert joined[name][texts].equals(table[texts])


@pytest.mark.parametrize("kind, family", [("masked", "bert"), ("masked", "xlm-roberta"), ("causal", "gpt2")])
@pytest.mark.parametrize("leading_space", [False, True])
def test_a_verb_that_opens_its_sentence_has_a_capital_and_no_space(kind, family, leading_space):
    scorer = scorer_of(kind, family, capitals=True, leading_space=leading_space)
    tables, _ = asked(scorer, suite_of(pd.concat([PAIRS.iloc[2:3], OPENING], ignore_index=True), LEMMAS[:-1]))
    assert tables["pairs"]["good"].tolist()[1:] == ["Is the author tall.", "Are the authors tall."]
    contexts = tables["contexts"][tables["contexts"]["prefix"] == ""]
    assert len(contexts) == 2 and set(tables["lemmas"]["opening"]) == {False, True}
    for context, pair in zip(contexts.to_dict("records"), OPENING.to_dict("records"), strict=True):
        probabilities = probabilities_at(scorer, "", context["suffix"])
        for side, cutoff in (("top", 1.0), ("top", 0.5), ("bottom", 0.5), ("bottom", 0.01)):
            expected = literal_tse.cutoff_scores(
                probabilities, ids_of(scorer, context["number"], True), cutoff, side
            )
            found = [context[at(measure, side, cutoff)] for measure in MEASURES]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
        right = probabilities[single(scorer, pair["form_correct"].capitalize(), True)]
        logprob = (
            tables["pairs"].set_index("good").loc[f"{pair['form_correct'].capitalize()}{pair['suffix']}"]
        )
        assert logprob["logprob_correct"] == pytest.approx(math.log(right), abs=1e-5)


def test_a_vocabulary_without_capitals_has_scores_elsewhere():
    scorer, suite = scorer_of("masked", "bert"), suite_of(pd.concat([PAIRS.iloc[2:3], OPENING]))
    with pytest.warns(UserWarning, match=r"none of the 9 lemmas .*capitalized.*--lemmas"):
        tables, rows = asked(scorer, suite)
    assert tables["contexts"]["ew"].notna().tolist() == [True, False, False]
    assert (rows["ew", "all"]["n"], rows["ew", "all"]["n_excluded"]) == (1, 2)
    with pytest.raises(ValueError, match="Use bos"):
        asked(CausalScorer(*tiny_model("causal", "gpt2", capitals=True)), suite_of(OPENING))


def test_the_first_token_of_a_vocabulary_is_a_verb_like_any_other():
    ids = {token: index for index, token in enumerate(["laughs", "laugh", "The", "author", ".", "?"])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    logits = torch.tensor([0.4, 0.2, 0.1, 0.1, 0.1, 0.1]).log()
    scorer = load_scorer(
        lambda ids: logits.expand(*ids.shape, 6),
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?"),
    )
    tables, _ = asked(scorer, suite_of(PAIRS[:1], LEMMAS[:1]))
    (pair,) = tables["pairs"].to_dict("records")
    assert (pair["tse"], pair["logprob_correct"]) == (1.0, pytest.approx(math.log(0.4), abs=1e-6))


def test_ties_are_counted_and_not_correct():
    """A model that gives every token the same probability."""
    model, tokenizer = copy.deepcopy(tiny_model("masked", "bert"))
    with torch.no_grad():
        for parameter in model.cls.parameters():
            parameter.zero_()
        model.get_output_embeddings().weight.zero_()
    _, rows = asked(MaskedScorer(model, tokenizer), suite_of())
    assert (rows["tse", "all"]["score"], rows["tse", "all"]["n_ties"]) == (0.0, 6)
    assert (rows["ew", "all"]["score"], rows["ew", "all"]["n_ties"]) == (0.0, 8 * 5)
    assert rows["mw", "all"]["score"] == pytest.approx(0.5)


# ---- whole words ------------------------------------------------------------------------------------------


@both
def test_all_forms_are_scored_as_words(kind, family):
    scorer = scorer_of(kind, family)
    more = pd.DataFrame([("must", "must"), ("tall", "unpredictability")], columns=LEMMAS.columns)
    pairs = pd.concat([PAIRS, PAIRS[:1].assign(form_correct="tall", form_incorrect="unpredictability")])
    tables, rows = asked(scorer, suite_of(pairs, pd.concat([LEMMAS, more]), forms="all"))
    lemmas = tables["lemmas"].set_index("singular")
    lengths = lemmas["n_tokens_singular"] != lemmas["n_tokens_plural"]
    assert lemmas.loc["must", "excluded"] == "equal forms"
    if kind == "masked":
        assert lengths.any() and (lemmas["excluded"][lengths] == "different lengths").all()
        assert tables["pairs"]["tse"].isna().tolist() == [False] * 7 + [True]
    else:
        assert (lemmas["excluded"].drop("must") == "").all() and tables["pairs"]["tse"].notna().all()
    listed = [*scored_lemmas(tables["lemmas"])]
    for context in tables["contexts"].to_dict("records"):
        slot = [Slot(context["prefix"], context["suffix"])]
        forms = np.exp([[float(scorer.form_logprobs(slot, [f])[0, 0]) for f in pair] for pair in listed])
        right, wrong = forms.T if context["number"] == "singular" else forms.T[::-1]
        assert context["right"].tolist() == (right > wrong).tolist()
        expected = [(right > wrong).mean(), right.sum() / forms.sum(), forms.sum()]
        assert [context[measure] for measure in MEASURES] == pytest.approx(expected, abs=1e-6)
    assert {measure for measure, _ in rows} == {"tse", *MEASURES, "share_without_lemmas"}


class Given(Scorer):
    """Gives each form the same probability at all gaps, and no distribution over tokens."""

    name, context_columns, reads_word_ends = "given", ("prefix",), True
    signature = MappingProxyType({"model": "given", "revision": "1"})
    probabilities = MappingProxyType({"is": 0.3, "are": 0.15, "be": 0.05, "has": 0.06, "have": 0.04})
    n_listed = 0

    def sentence_logprobs(self, sentences, progress=None):
        raise AssertionError("no sentence is asked for")

    def form_lengths(self, forms, opening=False):
        self.n_listed += "be" in forms
        return np.ones(len(forms), dtype=np.int64)

    def form_logprobs(self, slots, forms, progress=None):
        return np.tile([math.log(self.probabilities.get(form, 1e-3)) for form in forms], (len(slots), 1))


def test_a_form_of_two_lemmas_is_covered_once_and_the_list_is_asked_once():
    """0.3 + 0.15 + 0.05 + 0.06 + 0.04, not 0.9: *is* stands under two lemmas, and MW counts it in both."""
    twice = pd.DataFrame([("is", "are"), ("is", "be"), ("has", "have")], columns=["singular", "plural"])
    scorer, suite = Given(), suite_of(lemmas=twice, forms="all")
    parts = [suite.ask(scorer, part) for _, part in suite.items.groupby("prefix")]
    assert len(parts) == 4 and scorer.n_listed == 1 and suite.facts(scorer) == {"word_end": True}
    singular, plural = 2 * 0.3 + 0.06, 0.15 + 0.05 + 0.04
    for context in suite.joined(parts)["contexts"].to_dict("records"):
        is_singular = context["number"] == "singular"
        mw = (singular if is_singular else plural) / (singular + plural)
        assert [context[name] for name in MEASURES] == pytest.approx([float(is_singular), mw, 0.6])


def test_scorers_that_do_not_answer_at_gaps_are_refused():
    with pytest.raises(ValueError, match=r"given does not give\. Words there \(--forms all\)"):
        suite_of().check_scorer(Given())
    suite_of(forms="all").check_scorer(Given())


# ---- data -------------------------------------------------------------------------------------------------

RIGHT = PAIRS.iloc[[0, 2, 4]].reset_index(drop=True)


def put(column, value, row=0):
    """A table with another cell."""
    cells = RIGHT[column].astype(object).tolist() if column in RIGHT else [None] * len(RIGHT)
    return RIGHT.assign(**{column: [*cells[:row], value, *cells[row + 1 :]]})


SWAPPED = RIGHT.assign(number=["plural", "singular", "plural"])
REFUSED = {
    "all numbers swapped": (
        SWAPPED,
        "'laughs' .*in column 'form_correct' of row 1; expected the correct form",
    ),
    "one number swapped": (
        put("number", "plural"),
        "row 1; expected the correct form .*singular or plural.*--lemmas",
    ),
    "both forms singular": (put("form_incorrect", "knows"), "'knows' .*in column 'form_incorrect' of row 1"),
    "identical forms": (put("form_incorrect", "laughs"), "row 1; expected another form than form_correct"),
    "an unknown number": (
        put("number", "dual"),
        "'dual' .*in column 'number' of row 1; expected singular or plural",
    ),
    "no number": (put("number", None), "no value in column 'number' of row 1"),
    "a missing suffix": (put("suffix", None, 1), "no value in column 'suffix' of row 2"),
    "a space after the prefix": (
        put("prefix", "The author "),
        "column 'prefix' of row 1; expected no space at its",
    ),
    "a space before the verb": (put("form_correct", " laughs"), "a word, with no space at its ends"),
    "an empty verb": (put("form_correct", "", 1), "column 'form_correct' of row 2; expected a word"),
    "a suffix without its space": (put("suffix", "tall.", 2), "a space or a punctuation mark first"),
    "a blank group": (put("group", "  "), "expected the name of a group"),
    "no prefixes": (RIGHT.drop(columns="prefix"), "lacks the column prefix"),
    "no rows": (RIGHT.iloc[:0], "has no rows"),
    "numbers as verbs": (RIGHT.assign(form_correct=3), r"holds 3 \(.*\) in column 'form_correct' of row 1"),
    "a column named tse": (RIGHT.assign(tse=1), "tse, which the output would replace"),
    "one value": (RIGHT.assign(value="a").drop(columns="number"), "1 different values in its column 'value'"),
    "values without a list": (
        RIGHT.assign(value=["a", "b", "a"]).drop(columns="number"),
        "The lemma list.* lacks the columns a, b",
    ),
    "no gap in a text of Grew-TSE": (
        pd.DataFrame({"masked_text": ["A b."], "form_grammatical": ["is"], "form_ungrammatical": ["are"]}),
        "column 'masked_text' of row 1; expected a text with \\[MASK\\]",
    ),
}


@pytest.mark.parametrize(("pairs", "message"), list(REFUSED.values()), ids=list(REFUSED))
def test_wrong_pairs_are_refused(pairs, message):
    with pytest.raises(ValueError, match=message):
        _ = suite_of(pairs).items


@pytest.mark.parametrize(
    ("lemmas", "message"),
    [
        ("relesed", "Unknown lemma list 'relesed'.*Did you mean released"),
        ("excluded", "Unknown lemma list 'excluded'"),
        (LEMMAS.iloc[:, :1], "lacks the column plural"),
        (
            pd.concat([LEMMAS, LEMMAS[:1]]),
            "'laughs' .*in column 'singular' of row 10; expected each lemma once",
        ),
        (LEMMAS.set_axis(["plural", "singular"], axis=1), "as the lemma list"),
    ],
)
def test_wrong_lists_are_refused(lemmas, message):
    with pytest.raises(ValueError, match=message):
        _ = suite_of(lemmas=lemmas).items


SAID = {
    "no verb is listed": (
        RIGHT.assign(form_correct="zibs", form_incorrect="zib"), "not in the lemma list: 3 .*zibs / zib.*--lemmas"
    ),
    "a verb that is not listed": (
        RIGHT.assign(form_correct=["zibs", *RIGHT["form_correct"][1:]], form_incorrect=["zib", "is", "are"]),
        "pairs whose verbs are not in the lemma list: 1 .*zibs / zib",
    ),
    "a subject behind the gap": (RIGHT.assign(prefix="Near the wall"), "prefixes that occur with both numbers: 1"),
    "repeated rows": (pd.concat([RIGHT, RIGHT[:2]]), "rows that repeat an earlier row: 2 "),
    "a double space": (put("prefix", "The  author"), "white space other than one space.*: 1 .*row 1"),
    "a space at the end": (put("suffix", ". "), "white space"),
}  # fmt: skip


@pytest.mark.parametrize(("pairs", "message"), list(SAID.values()), ids=list(SAID))
def test_odd_pairs_are_warned_about(pairs, message):
    with pytest.warns(DataWarning, match=message):
        assert len(suite_of(pairs).items) == len(pairs)


@pytest.mark.filterwarnings("error")
def test_of_right_pairs_nothing_is_said():
    assert len(suite_of(RIGHT).items) == len(Agreement(data=RIGHT).items) == 3
    assert len(Agreement(groups=["Simple"], lemmas="clean").items) == 140


def test_equal_options_of_other_types_ask_the_same():
    usual = Agreement(groups=["Simple"], limit=3)
    assert Agreement(groups=("Simple",), limit=np.int64(3)).asked() == usual.asked()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_pairs_and_lemmas_may_be_files(tmp_path, ending):
    """A gap may open or end its sentence; `null` and `NA` are words."""
    cells = {"prefix": ["", "1984", "The author"], "suffix": [" the author?", "", "."]}
    pairs = RIGHT.assign(**cells, number="singular", form_correct="is", form_incorrect="are")
    read = Agreement(data=str(write_table(pairs, tmp_path / f"p{ending}"))).items
    assert read[list(pairs)].to_dict("records") == pairs.to_dict("records")
    path = write_table(pd.DataFrame(WORDS), tmp_path / f"lemmas{ending}")
    assert load_lemmas(str(path)).to_dict("list") == WORDS


def test_own_columns_come_out_and_a_context_has_those_that_its_pairs_agree_in():
    pairs = PAIRS.assign(
        item=range(7), noun=["a", "a", "b", "a", "c", "d", "a"], speed=[0.5, None, 1, 2, 3, 4, 5]
    )
    tables, _ = asked(scorer_of("causal", "gpt2"), suite_of(pairs))
    assert tables["pairs"][["item", "noun"]].equals(pairs[["item", "noun"]])
    np.testing.assert_array_equal(tables["pairs"]["speed"], pairs["speed"])
    contexts = tables["contexts"]
    assert contexts["noun"].tolist() == ["a", "b", "c", "d", "a"]
    assert contexts["item"].isna().tolist() == [True, False, False, False, False]
    assert not {"form_correct", "form_incorrect"} & {*contexts}  # a context has several verbs


def test_tables_of_grew_tse_are_read():
    texts = pd.DataFrame(
        {"masked_text": ["The author [MASK] tall.", "[MASK] the authors tall?"], "number": ["singular", "plural"],
         "form_grammatical": ["is", "Are"], "form_ungrammatical": ["are", "Is"], "sentence_id": [1, 2]}
    )  # fmt: skip
    items = suite_of(texts).items
    assert items[["prefix", "suffix"]].values.tolist() == [
        ["The author", " tall."],
        ["", " the authors tall?"],
    ]
    assert items["form_correct"].tolist() == ["is", "Are"] and set(items["group"]) == {"Grew-TSE"}


def test_two_values_score_as_the_two_numbers_do():
    """Another name of the two values changes no score; only the values in the tables differ."""
    names, pairs = {"singular": "one", "plural": "many"}, PAIRS[:6]
    own = pairs.assign(value=pairs["number"].map(names)).drop(columns="number")
    scorer = scorer_of("causal", "gpt2")
    for forms in ("single", "all"):
        (number, rows), (value, other) = (
            asked(scorer, suite)
            for suite in (
                suite_of(pairs, forms=forms),
                suite_of(own, LEMMAS.rename(columns=names), forms=forms),
            )
        )
        for key, row in rows.items():
            assert [other[key][name] for name in ("score", "n", "se")] == pytest.approx(
                [row[name] for name in ("score", "n", "se")], nan_ok=True
            )
        assert value["contexts"]["number"].tolist() == number["contexts"]["number"].map(names).tolist()


def test_built_data_come_from_a_folder(tmp_path):
    folder = tmp_path / "blimp_agreement" / "newman2021"
    folder.mkdir(parents=True)
    PAIRS.to_parquet(folder / "test.parquet")
    suite = Agreement(data="newman2021", source=tmp_path, groups=["Near"])
    assert len(suite.items) == 3 and (suite.dataset, suite.config) == ("blimp_agreement", "newman2021")
    with pytest.raises(ValueError, match="source is only for"):
        _ = Agreement(source=tmp_path).items


def test_the_lists_content_is_asked_for():
    first, second = (suite_of(lemmas=LEMMAS[:n]).asked() for n in (8, 9))
    assert {key for key in first if first[key] != second[key]} >= {"lemmas"}
    assert len(Agreement(forms="all").lemma_list) < len(Agreement().lemma_list)
    assert len(Agreement(data="clams_german").lemma_list) == len(load_lemmas("german"))


# ---- units, samples, comparison ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped():
    return Agreement().items


def test_subjects_of_the_shipped_pairs_are_the_grammars_nouns(root, shipped):
    grammar = yaml.safe_load((root / "push_scripts/sources/marvin_linzen_grammar.yaml").read_text("utf-8"))
    assert set(SUBJECTS) == set(grammar["constructions"]) == set(shipped["construction"])
    keys = ["construction", "prefix", "number"]
    contexts = shipped.drop_duplicates(keys)[keys]
    nouns = contexts.assign(noun=[subject(*row) for row in contexts.values.tolist()])
    for name, entry in grammar["constructions"].items():
        word = next(w for w in entry["pattern"].split() if "subject" in w and "predicate" not in w)
        lexicon = {item.split("|")[0] for item in grammar["lexicon"][word.strip("<>").split(":")[0]]}
        assert set(nouns["noun"][nouns["construction"] == name]) == lexicon
    assert nouns["noun"].nunique() == 29
    assert subject("obj_rel_within_anim", "The pilots that the taxi driver", "singular") == "taxi driver"
    assert subject("prep_anim", "The farmers to the side of the parent", "plural") == "farmer"
    assert subject("mine", "Dogs", "plural") == "Dogs"


@pytest.mark.parametrize(
    ("n_groups", "cluster", "overall", "of_group"),
    [(11, True, ("clusters", 2), "clusters"), (11, False, ("groups", 11), "left contexts"),
     (3, False, ("left contexts", 12), "left contexts")],
)  # fmt: skip
def test_units_of_ones_own_data(n_groups, cluster, overall, of_group):
    nouns = ["author", "pilot", "guard", "movie"]
    pairs = pd.DataFrame(
        [(f"g{n}", f"The {noun} near {n}", ".", "singular", verb, verb[:-1], nouns.index(noun) // 2)
         for n in range(n_groups) for noun in nouns for verb in ("laughs", "swims")],
        columns=[*PAIRS.columns, "cluster"],
    )  # fmt: skip
    _, rows = asked(
        scorer_of("causal", "gpt2"), suite_of(pairs if cluster else pairs.drop(columns="cluster"))
    )
    for measure, more in (("tse", " x verbs"), ("ew", " x lemmas"), ("mw", "")):
        row = rows[measure, "all"]
        assert (row["unit"], row["n_units"]) == (overall[0] + more, overall[1])
        assert rows[measure, "g1"]["unit"] == of_group + more


def test_the_interval_of_ew_is_that_of_the_long_table():
    """Each (context, lemma) as an item: nouns crossed with lemmas, constructions as strata."""
    suite = Agreement(groups=["Simple", "VP coordination"], limit=8)
    tables, rows = asked(load_scorer("tiny-causal"), suite)
    contexts = tables["contexts"]
    right, n = np.stack(contexts["right"]), len(contexts["right"][0])
    columns = [np.repeat(contexts[name].to_numpy(), n) for name in ("subject", "construction", "stands_for")]
    lemmas = np.tile(np.arange(n), len(contexts))
    expected = mean(
        right.ravel().astype(float), Units(columns[0], "", lemmas, columns[1], weights=columns[2])
    )
    row = rows["ew", "all"]
    assert (row["score"], row["n_units"], row["n_lemmas"]) == (
        pytest.approx(expected.mean),
        expected.n_units,
        n,
    )
    # Of means of cells.
    assert (row["se"], row["ci_low"]) == pytest.approx((expected.se, expected.low), rel=0.03)


def test_a_limited_run_stands_for_the_whole(shipped):
    """Rare constructions are as many as frequent ones in a sample, and count for less there."""
    contexts = shipped.drop_duplicates(["prefix", "number"]).reset_index(drop=True)
    effect = pd.factorize(contexts["group"])[0] / 20
    score = effect + np.array([zlib.crc32(prefix.encode()) % 1000 / 2000 for prefix in contexts["prefix"]])
    suite, means = Agreement(), []
    for seed in range(60):
        sample = suite._sample(contexts.assign(score=score), seed, limit=20)
        means.append(np.average(sample["score"], weights=sample["stands_for"]))
    assert abs(np.mean(means) - score.mean()) < np.std(means) < abs(score.mean() - np.mean(effect) - 0.1)
    limited, whole = Agreement(limit=3).items, shipped.drop_duplicates("prefix")["group"].value_counts()
    prefixes = limited.drop_duplicates("prefix")
    assert prefixes.groupby("group")["stands_for"].sum().to_dict() == pytest.approx(whole.to_dict())
    # Prefixes keep all of their pairs.
    assert len(limited) == shipped["prefix"].isin(prefixes["prefix"]).sum()


def test_models_with_other_lemmas_and_contexts_are_paired_up():
    tables = [scored(*model)[0] for model in (("masked", "bert"), ("causal", "gpt2"))]
    measures = {name: Agreement.measure(name) for name in ("ew", "mw", "tse", "ew@top-0.9")}
    items, others, about = Agreement.pair_up(*tables, measures["mw"])
    assert len(items) == len(others) == 5 and about == {"n_lemmas": 8}
    one = tables[0]["contexts"].query("group == 'Simple' and prefix == 'The author'")
    assert items["mw"][0] == pytest.approx(one["mw"].mean()) and items["right"][0].dtype.kind == "f"
    fewer, _ = asked(scorer_of("causal", "gpt2"), suite_of(lemmas=LEMMAS[3:8]))
    items, others, about = Agreement.pair_up(tables[0], fewer, measures["ew"])
    assert about == {"n_lemmas": 5} and {len(right) for right in items["right"]} == {5}
    assert others["ew"].tolist() == fewer["contexts"]["ew"].tolist()
    values, units, _ = Agreement.cells(
        [items, others], measures["ew"], Agreement.units(items, measures["ew"], "all")
    )
    assert [len(of) for of in values] == [len(units.crossed)] * 2
    for name in ("mw", "ew@top-0.9"):
        with pytest.raises(ValueError, match=r"8 and 5, 5 in common\); .*tse run agreement --lemmas FOLDER"):
            Agreement.pair_up(tables[0], fewer, measures[name])
    assert len(Agreement.pair_up(*tables, measures["tse"])[0]) == 7


def test_the_lemmas_of_a_folder_are_those_that_all_its_models_score(tmp_path):
    for kind, family, n in (("masked", "bert", 9), ("causal", "gpt2", 5)):
        run(scorer_of(kind, family), suite_of(lemmas=LEMMAS[:n]), out=tmp_path, report=False)
    again = suite_of(lemmas=tmp_path)
    assert again.lemma_list.equals(LEMMAS[:5])
    results = run(scorer_of("masked", "bert"), again, out=tmp_path / "again", report=False)
    assert set(results.frame["n_lemmas"].dropna()) == {5}
