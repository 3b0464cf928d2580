"""Tables 1 to 28 of Rochereau, Sagot & Dupoux (2020) and Keller's (2001) contrasts, on results of the suite german."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from ..io.store import Record
from ..report.blocks import Block, Plot, Table
from ..report.scores import drawn
from ..statistics import Units, mean
from ..suites.base import ALL
from ..suites.german import KINDS, German, set_aucs
from .published import rows as published_rows

NAME = "Rochereau et al. 2020"
ORDERS = ("NAD", "NDA", "DNA", "AND", "DAN", "ADN")
ROLES = ("ag1,re2,pa3", "ag2,re1,pa3", "ag1,re3,pa2", "ag2,re3,pa1", "ag3,re1,pa2", "ag3,re2,pa1")
PLAUSIBLE = ROLES[:2]
SETS = {"1-6": "all six"} | {
    f"1-2_{case}": f"{case} twice" for case in ("nominative", "accusative", "dative")
}
PEOPLE = "people"
SYSTEMS = {
    "human": PEOPLE, "unigram": "unigram (published)", "bigram": "bigram (published)", "lstm": "LSTM (published)",
    "bert": "German BERT (published)", "distilbert": "German DistilBERT (published)",
}  # fmt: skip
BIAS = (("accusative", "nominative"), ("dative", "accusative"), ("dative", "nominative"))
MOST_PANELS = 6
"""Of our systems; beside them are people and two models of the paper."""
KEY = (
    "N, D and A: nominative, dative and accusative, in the order of the clause. ag, re and pa: which noun is agent, "
    "recipient and patient; nouns 1 and 2 are people, 3 is a thing."
)
CONTRASTS = (
    "Keller's constraints: the nominative comes first (NOMALIGN), and the dative before the accusative (DATALIGN). "
    "People follow the first throughout, and the second where the roles are plausible."
)
_NUMBER = ["panel", "measure"]


def parts(rows: pd.DataFrame, records: Mapping[str, Record]) -> dict[str, Sequence[Block]]:
    """Return the paper's tables and figures of tidy rows on one data set, by heading."""
    kind = rows["name"].str.partition("@")[2]
    rows = rows.assign(variation_set=kind.where(kind != "", KINDS[0]))
    correlations = rows[rows["name"].str.startswith("human_")]
    rows = _in_order(rows[rows["name"].str.startswith("auc")], "source", ("run", "people", "paper"))
    if rows.empty:
        return {}
    rows = rows.drop_duplicates(["system", "variation_set", "level", "value"], keep="last")
    rows = rows.assign(kind=rows["variation_set"].map(SETS))
    six = rows[rows["variation_set"] == "1-6"]
    overall = _in_order(rows[rows["level"] == ALL], "variation_set", SETS)
    title = "AUC by the case that is doubled (Table 4)."
    table4 = Table("german_table4", title, overall, "system", ("kind",), intervals=False)
    columns = ["template", "cases", "positions", "logprob"]
    aucs = {system: set_aucs(record.tables["items"].read(columns)) for system, record in records.items()}
    return {
        "Which orders": [KEY, _means(six, "case_order", ORDERS, "german_table2", "case order (Table 2)")],
        "Which roles": [_means(six, "role", ROLES, "german_table3", "role assignment (Table 3)")],
        "Which case is doubled": [table4, frequency_bias(overall, aucs)],
        "The 36 cells": cells(rows),
        "Agreement with people": agreement(rows, correlations),
        "Word order": [CONTRASTS, contrasts(six, aucs)],
    }


def published(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the AUCs of the paper's models and people: the cells, and their means as the metric takes them."""
    paper = published_rows("rochereau2020")
    paper = paper[paper["repeats_table"].isna() & rows["name"].eq("auc").any()].replace({"system": SYSTEMS})
    paper = paper.assign(
        measure=paper["name"].map({measure.name: measure.label for measure in German.measures})
    )
    order, role = (paper["value"].str.split("|").str[place] for place in (0, 1))
    values = {"cell": paper["value"], "case_order": order, "role": role, ALL: ""}
    keys = ["source", "system", "suite", "name", "measure", "level", "value"]
    every = pd.concat([paper.assign(level=level, value=value) for level, value in values.items()])
    return every.groupby(keys, sort=False)["score"].mean().reset_index()


def _in_order(rows: pd.DataFrame, column: str, order: Iterable[str]) -> pd.DataFrame:
    places = {name: place for place, name in enumerate(order)}
    return rows.sort_values(column, key=lambda names: names.map(places), kind="stable")


def _means(rows: pd.DataFrame, level: str, order: Sequence[str], name: str, called: str) -> Table:
    """Return the means by case order or by roles, and over all; systems down, as in the paper."""
    groups, overall = (rows[rows["level"] == of] for of in (level, ALL))
    shown = pd.concat([_in_order(groups, "value", order), overall.assign(value="mean")])
    return Table(name, f"AUC by {called}.", shown, "system", ("value",), intervals=False)


def frequency_bias(rows: pd.DataFrame, aucs: Mapping[str, pd.DataFrame]) -> Table:
    """Return how much easier violations with rarer cases are, with intervals over templates (section 5.4)."""

    def differences(kinds: pd.DataFrame) -> pd.DataFrame:
        numbers = {("", f"{a} − {b}"): kinds[f"1-2_{a}"] - kinds[f"1-2_{b}"] for a, b in BIAS}
        return pd.DataFrame(numbers).rename_axis(columns=_NUMBER)

    overall = rows.set_index(["system", "variation_set"])["score"]
    templates = {of: sets.groupby(["template", "variation_set"])["auc"].mean() for of, sets in aucs.items()}
    shown = _over_templates(differences, overall, templates, rows)
    title = "Differences of AUC between doubled cases; a bias for frequent cases makes all three positive."
    return Table("german_frequency_bias", title, shown, "system", ("measure",), bars="")


def contrasts(rows: pd.DataFrame, aucs: Mapping[str, pd.DataFrame]) -> Table:
    """Return means of AUC by the place of the nominative and by the order of the other two, and their effects."""
    overall = rows[rows["level"] == "cell"].set_index(["system", "value"])["score"]
    templates = {}
    for system, sets in aucs.items():
        six = sets[sets["variation_set"] == "1-6"]
        cell = (six["case_order"] + "|" + six["role"]).rename("value")
        templates[system] = six.set_index(["template", cell])["auc"]
    title = "Means of AUC by the place of the nominative, and by the order of dative and accusative."
    shown = _over_templates(_constraints, overall, templates, rows)
    return Table("german_contrasts", title, shown, "system", _NUMBER, intervals=False, bars="")


def _constraints(wide: pd.DataFrame) -> pd.DataFrame:
    """Average cells (columns) of systems or templates (rows): columns (constraint, position), and the effects."""
    order, role = (wide.columns.str.split("|").str[place] for place in (0, 1))
    nominative, dative_first = order.str.index("N"), order.str.index("D") < order.str.index("A")
    means = {
        ("NOMALIGN", f"nominative {name}"): wide.loc[:, nominative == place].mean(axis=1)
        for place, name in enumerate(("first", "second", "last"))
    }
    means["NOMALIGN", "effect"] = means["NOMALIGN", "nominative first"] - means["NOMALIGN", "nominative last"]
    for name, of in (("DATALIGN", role != ""), ("DATALIGN, plausible roles", role.isin(PLAUSIBLE))):
        means[name, "dative first"] = wide.loc[:, of & dative_first].mean(axis=1)
        means[name, "accusative first"] = wide.loc[:, of & ~dative_first].mean(axis=1)
        means[name, "effect"] = means[name, "dative first"] - means[name, "accusative first"]
    return pd.DataFrame(means).rename_axis(columns=_NUMBER)


def _over_templates(
    numbers_of: Callable[[pd.DataFrame], pd.DataFrame], scores: "pd.Series[float]",
    templates: Mapping[str, "pd.Series[float]"], rows: pd.DataFrame,
) -> pd.DataFrame:  # fmt: skip
    """Return numbers of AUCs as tidy rows; those of ours with intervals over the same numbers of each template."""
    wide = numbers_of(scores.astype(float).unstack(sort=False))
    shown = wide.stack(_NUMBER, future_stack=True).rename("score").reset_index()
    ends = []
    for system, aucs in templates.items():
        numbers = numbers_of(aucs.dropna().unstack())
        units = Units(numbers.index.to_numpy(), "templates")
        for key, of in numbers.items():
            is_difference = key[1] == "effect" or "−" in key[1]
            found = mean(of.to_numpy(), units, bounded=not is_difference)
            ends.append((system, *key, found.low, found.high, found.reliable))
    keys = ["system", *_NUMBER]
    found = pd.DataFrame(ends, columns=[*keys, "ci_low", "ci_high", "reliable"])
    sources = rows[["system", "source"]].drop_duplicates()
    return shown.merge(found, how="left", on=keys).merge(sources, on="system").assign(usable=False, digits=3)


def cells(rows: pd.DataFrame) -> list[Block]:
    """Return a figure of the 36 cells, a panel for each system, and a table of each with all kinds of sets."""
    of_cells = rows[rows["level"] == "cell"]
    split = of_cells["value"].str.split("|", expand=True)
    of_cells = of_cells.assign(label=split[0], x=split[1], panel=of_cells["system"], y=of_cells["score"])
    shown, which = drawn(_in_order(_in_order(of_cells, "x", ROLES), "label", ORDERS), MOST_PANELS)
    ours = _in_order(shown[shown["source"] == "run"], "variation_set", SETS)
    panels = [PEOPLE, *ours["system"].unique(), SYSTEMS["lstm"], SYSTEMS["bert"]]
    points = shown[shown["variation_set"].eq("1-6") & shown["system"].isin(panels)]
    points = _in_order(points, "system", panels)
    title = f"AUC of the 36 cells of case order by roles, all six violations (Tables 1 and 6 to 28).{which}"
    blocks: list[Block] = [Plot("german_cells", title, "heat", points, "AUC", chance=None)]
    for place, (system, of) in enumerate(ours.groupby("system", sort=False)):
        name, title = f"german_cells_{place}", f"{system}: AUC of the 36 cells."
        blocks.append(Table(name, title, of, columns=("kind", "x"), intervals=False, folded=True, bars=""))
    return blocks


def agreement(rows: pd.DataFrame, correlations: pd.DataFrame) -> list[Block]:
    """Return the correlation of each system's 36 cells with those of people; r of ours has intervals over templates."""
    of_cells = _in_order(rows[rows["level"] == "cell"], "variation_set", SETS)
    keys, sources = ["system", "variation_set"], rows[["system", "source"]].drop_duplicates()
    wide = of_cells.set_index([*keys, "value"])["score"].astype(float).unstack("system", sort=False)
    if PEOPLE not in wide:
        return []
    by_kind = wide.groupby(level="variation_set", sort=False)
    r = pd.DataFrame({kind: of.drop(columns=PEOPLE).corrwith(of[PEOPLE]) for kind, of in by_kind})
    r = r.rename_axis(index="system", columns="variation_set").T.stack().rename("score").reset_index()
    ours = correlations[correlations["name"].str.startswith("human_pearson")]
    ours = ours[[*keys, "ci_low", "ci_high", "reliable", "n_units_effective"]]
    shown = r.merge(ours, how="left", on=keys).merge(sources, on="system")
    shown = shown.assign(kind=shown["variation_set"].map(SETS), measure="r", usable=False)
    title = "Pearson's r between the 36 cells of people and each model, intervals over templates (Table 5)."
    blocks = [Table("german_table5", title, shown, "system", ("kind",), bars="")]
    names = correlations["name"].str.extract("human_([a-z]+)")[0].str.capitalize()
    three = correlations.assign(measure=names, usable=False)[correlations["variation_set"] == "1-6"]
    title = "Three correlations with the cells of people, of sets that double any case."
    last = Table("german_agreement", title, three, "system", ["measure"], folded=True, bars="")
    return [*blocks, last] if len(three) else [*blocks]
