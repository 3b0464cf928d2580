"""Faults of a user's table: a change of a table that is right, and what must be said of it (a regular expression)."""

from pathlib import Path

import pandas as pd

AGREEMENT = pd.DataFrame(
    [
        ("Simple", "The author", ".", "laughs", "laugh", "singular", 11, "a"),
        ("Simple", "The authors", ".", "laugh", "laughs", "plural", 12, "b"),
        ("Near", "The pilot near the guards", " tall.", "is", "are", "singular", 13, "a"),
        ("Near", "The pilots near the guard", " tall.", "are", "is", "plural", 14, "b"),
    ],
    columns=[
        "group",
        "prefix",
        "suffix",
        "form_correct",
        "form_incorrect",
        "number",
        "item",
        "condition",
    ],
)
PAIRS = pd.DataFrame(
    [
        ("agree", "agreement", "morphology", "The author laughs.", "The author laugh.", 5, "a"),
        ("agree", "agreement", "morphology", "The pilot swims.", "The pilot swim.", 6, "b"),
        ("order", "word_order", "syntax", "The guard is tall.", "The guard are tall.", 5, "a"),
    ],
    columns=["UID", "linguistics_term", "field", "sentence_good", "sentence_bad", "item", "condition"],
)
PUBLISHED = PAIRS.assign(pairID=[0, 1, 0], prob_good=[-9.0, -8.0, -7.0], prob_bad=[-10.0, -9.0, -8.0])
REGIONS = pd.DataFrame(
    [
        (1, "a", 1, "The author"),
        (1, "a", 2, "near the senators"),
        (1, "a", 3, "laughs."),
        (1, "b", 1, "The authors"),
        (1, "b", 2, "laugh."),
    ],
    columns=["item", "condition", "region_number", "text"],
)


def put(column, value, row=0):
    """Write a value into a cell."""

    def change(table):
        table[column] = table[column].astype(object)
        table.loc[row, column] = value
        return table

    return change


def every(column, value):
    return lambda table: table.assign(**{column: value})


def without(column):
    return lambda table: table.drop(columns=column)


def again(row=0):
    return lambda table: pd.concat([table, table.iloc[[row]]], ignore_index=True)


def swap_numbers(table):
    return table.assign(number=table["number"].map({"singular": "plural", "plural": "singular"}))


def exchange(first, second):
    return lambda table: table.assign(**{first: table[second], second: table[first]})


def other_language(table):
    return table.assign(
        form_correct=table["form_correct"] + "ar", form_incorrect=table["form_incorrect"] + "or"
    )


def behind(table):
    """Subjects behind the gap: the prefix is the same for both numbers."""
    return table.assign(prefix="Near the wall", suffix=" the author.")


def added(name, value=1):
    return lambda table: table.assign(**{name: value})


def save(table, path: Path) -> Path:
    if path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False)
    return path


REFUSED_PAIRS = {
    "an empty sentence": (put("sentence_good", " "), "an empty sentence_good in row 1"),
    "no sentence": (put("sentence_bad", None), "no value in column 'sentence_bad' of row 1"),
    "a number as sentence": (put("sentence_bad", 3), r"holds 3 \(int\) in column 'sentence_bad' of row 1; expected"),
    "a paradigm with a colon": (every("UID", "field:syntax"), "'field:syntax' in column 'UID' of row 1.*Rename it"),
    "one paradigm with a colon": (put("UID", "a:b", 2), "'a:b' in column 'UID' of row 3"),
    "a paradigm named all": (every("UID", "all"), "'all' in column 'UID' of row 1; this name is taken"),
    "a blank paradigm": (put("UID", " "), "expected the name of a group"),
    "a missing phenomenon": (put("linguistics_term", None), "no value in column 'linguistics_term' of row 1"),
    "a number twice": (every("pairID", 1), "pair 1 of agree occurs twice.*its own number"),
    "a number that is none": (every("pairID", "x"), "expected a whole number"),
    "a column named correct": (added("correct"), "correct, which the output would replace"),
    "a column named method": (added("method"), "method, which the output would replace"),
    "a column named tie": (added("tie"), "tie, which the output would replace"),
    "prefixes of another sentence": (
        lambda table: table.assign(one_prefix_method=True, one_prefix_prefix="A cat", one_prefix_word_good="eats",
                                   one_prefix_word_bad="eat"),
        "is not the beginning of the sentence_good",
    ),
    "a method that is neither true nor false": (every("one_prefix_method", "maybe"), "expected true or false"),
}  # fmt: skip

SAID_PAIRS = {
    "a repeated pair": (again(), "rows that repeat an earlier row: 1 "),
    "a double space": (put("sentence_good", "The  author laughs."), "white space other than one space"),
    "a space at the end": (put("sentence_bad", "The author laugh. "), "white space other than one space"),
    "a space at the beginning": (put("sentence_bad", " The author laugh."), "white space other than one space"),
    "a non-breaking space": (put("sentence_good", "The\u00a0author laughs."), "white space other than one space"),
    "a double space in the context": (added("context", "The  pilot."), "white space other than one space"),
}  # fmt: skip

REFUSED_PUBLISHED = {
    "NaN": (put("prob_bad", float("nan")), r"prob_bad' that are not finite numbers, in 1 of 3 rows: 1 \(nan\)"),
    "minus infinity": (put("prob_good", float("-inf"), 2), r"not finite numbers, in 1 of 3 rows: 3"),
    "all missing": (every("prob_good", float("nan")), r"numbers, in 3 of 3 rows: 1 \(nan\), 2 \(nan\), 3 \(nan\)"),
    "a word": (put("prob_good", "low"), "not finite numbers, in 1 of 3 rows"),
    "numbers of other pairs": (
        lambda table: table.assign(pairID=[1, 0, 0]),
        "2 of 3 pairs have other sentences.*pair 0 of agree: 'The pilot swims.'.*'The author laughs.'",
    ),
    "numbers that are not there": (every("pairID", [7, 8, 9]), "have no score in .*pair 0 of agree"),
    "another paradigm": (every("UID", ["agree", "agree", "other"]), "1 of 3 pairs have no score.*pair 0 of order"),
}  # fmt: skip
