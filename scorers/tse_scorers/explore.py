"""`tse explore`: a page of scores, groups, the items behind them, and a sentence of your own; a gradio app.

Texts from results are shown as text, and nothing in a results folder is loaded or run: the only models that are asked
are those that the user named.
"""

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # gradio reads it when it is imported

import gradio as gr
import numpy as np
import pandas as pd
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from .io.files import printable
from .io.result_row import IDENTITY
from .report.comparable import not_comparable
from .report.inputs import Runs
from .report.measure import Measure
from .report.summary import headlines, marked, warnings_of
from .suites.registry import all_measures, find_suite, names
from .suites.standard_view import measures_in, rows_of

TITLE = "Targeted syntactic evaluation"
ALL = "all"
MOST = 300  # items that are shown
FILTERS = {
    ALL: "index == index",
    "A right, B wrong": "`score A` > 0.5 and `score B` <= 0.5",
    "both wrong": "`score A` <= 0.5 and `score B` <= 0.5",
    "ties": "`margin A` == 0 or `margin B` == 0",
}
MARGIN = "Margin: log P(good text) − log P(bad text); without two texts, log P or score − 0.5. A's worst items first."
ASKED = (
    "Surprisal: −log2 of the probability of a sentence or word, in bits (masked models: pseudo-likelihood)."
)
_SIDES = "score_good score_bad", "logprob_good logprob_bad", "logprob_correct logprob_incorrect"
_FIRST = ["sentence_good", "sentence_bad", "sentence", "A − B", "margin A", "margin B", "score A", "score B"]


class Explored:
    """Results as frames; `rows` have `data` (what was scored), `name` (of the measure) and `place` (the group)."""

    def __init__(self, runs: Runs) -> None:
        self._runs, heading = runs, names().heading
        self._lines = headlines(runs.rows, all_measures(), heading)
        signatures = [model for run in runs.runs for model in run["signature"]["models"]]
        self.remarks = [*not_comparable({"models": signatures}, heading), *warnings_of(self._lines)]
        self.measures: dict[tuple[str, str], tuple[str, str | None, Measure]] = {}
        rows = runs.rows.assign(data="", name=runs.rows["metric"])
        for (suite, config), of in runs.rows.groupby(["suite", "config"], sort=False, dropna=False):
            config = None if pd.isna(config) else config
            rows.loc[of.index, "data"] = data = heading(suite, config)
            for measure in measures_in(all_measures().get(suite, ()), of):
                if len(places := rows_of(of, measure).index):
                    rows.loc[places, "name"] = measure.label
                    self.measures[data, measure.label] = suite, config, measure
        rows["place"] = rows["value"].mask(rows["level"] == ALL, ALL)
        self.rows = rows.sort_values("level", key=lambda level: level != ALL, kind="stable")
        self.items = lru_cache(maxsize=4)(self._items)

    def leaderboard(self) -> pd.DataFrame:
        """Return the headline scores as text, with their intervals: systems down, the best first."""
        wide = self._lines.assign(text=marked(self._lines)).pivot_table(
            index="system", columns=["suite", "measure"], values=["text", "score"], aggfunc="last", sort=False
        )
        wide = wide.sort_values([c for c in wide if c[0] == "score"], ascending=False, kind="stable")
        text = wide["text"].fillna("")
        return text.set_axis(text.columns.map(": ".join), axis=1).reset_index(names="model")

    def groups(self, data: str, name: str, level: str) -> pd.DataFrame:
        """Return the rows of one measure: of all items, then of the groups of a level."""
        rows = self.rows[(self.rows["data"] == data) & (self.rows["name"] == name)]
        return rows[rows["level"].isin([level, ALL])].drop_duplicates(["system", "place"], keep=False)

    def _read(self, data: str, name: str, system: str) -> pd.DataFrame:
        """Return the items of a system: their texts and the user's own columns, `score` and `margin` (NaN for none)."""
        suite, config, measure = self.measures.get((data, name), ("", None, Measure(name)))
        files = {(file.system, file.config): file for file in self._runs.scores(suite, measure.table)}
        file = files.get((system, config))
        frame = None if file is None else find_suite(suite).item_table(file)
        if file is None or frame is None:
            raise ValueError(f"The folder of {system} does not contain items of {name} ({data}).")
        for axis, value in measure.at.items():
            frame = frame[frame[axis] == value] if axis in frame else frame
        score = next((frame[c] for c in (measure.score_column, "correct") if c in frame), np.nan)
        sides = next((pair.split() for pair in _SIDES if set(pair.split()) <= set(frame)), None)
        margin = frame["logprob"] if "logprob" in frame else score - 0.5
        margin = margin if sides is None else frame[sides[0]] - frame[sides[1]]
        scores = {*find_suite(suite).score_columns(file), measure.score_column}
        hidden = [*IDENTITY, *scores.intersection(frame.select_dtypes("number"))]
        items = frame.drop(columns=hidden, errors="ignore")
        return items.assign(score=score, margin=margin).astype({"score": float})

    def _items(self, data: str, name: str, a: str, b: str) -> pd.DataFrame:
        """Return the items that both systems have, sorted by A's margin."""
        one, other = self._read(data, name, a), self._read(data, name, b)
        texts = [c for c in one if c in other and c not in ("score", "margin")]
        # What follows a gap is seen by masked models only, so that it does not tell the items of others apart.
        keys = [c for c in texts if c not in ("suffix", "sentence") or one[c].isin(other[c]).any()]
        one, other = (of.assign(_n=of.groupby(keys, dropna=False).cumcount()) for of in (one, other))
        items = one.merge(other[[*keys, "_n", "score", "margin"]], on=[*keys, "_n"], suffixes=(" A", " B"))
        items = items.assign(**{"A − B": items["margin A"] - items["margin B"]}).drop(columns="_n")
        ordered = items[[*(c for c in _FIRST if c in items), *items.columns.difference(_FIRST, sort=False)]]
        return ordered.sort_values("margin A", kind="stable", ignore_index=True)


def found(items: pd.DataFrame, which: str = ALL, group: str = ALL, text: str = "") -> pd.DataFrame:
    """Return the items of a filter and of a group (`level: value`) that have a text in one of their columns."""
    items, (level, _, value) = items.query(FILTERS[which]), group.partition(": ")
    if group != ALL:
        items = items[items[level].astype(str) == value] if level in items else items[:0]
    texts = items.select_dtypes(exclude="number").astype(str)
    has_text = texts.apply(lambda column: column.str.contains(text, case=False, regex=False))
    return items[has_text.any(axis=1)] if text.strip() else items


_load = lru_cache(maxsize=4)(lambda model: import_module(".loading", __package__).load_scorer(model))


def surprisals(model: str, sentences: Sequence[str]) -> pd.DataFrame:
    """Return -log2 P of sentences and, where the model has these, of their words; or why there are none."""
    rows: list[tuple[Any, ...]] = []
    try:
        scorer = _load(model)
        wholes = zip(sentences, scorer.sentence_logprobs(sentences), strict=True)
        words: Any = getattr(scorer, "word_logprobs", lambda texts: [[] for _ in texts])(sentences)
        for number, (whole, of_sentence) in enumerate(zip(wholes, words, strict=True), 1):
            rows += [(model, number, text, logprob / -np.log(2)) for text, logprob in (whole, *of_sentence)]
    except (ValueError, ImportError) as error:
        rows = [(model, 0, str(error), np.nan)]
    return pd.DataFrame(rows, columns=["model", "sentence", "text", "surprisal"])


def shown(frame: pd.DataFrame) -> gr.Dataframe:
    """Return a table whose texts are nothing but text."""
    kinds: list[Any] = ["number" if c in frame.select_dtypes("number") else "str" for c in frame]
    frame = frame.assign(**frame.select_dtypes(exclude="number").astype(str).map(printable)).round(3)
    return gr.Dataframe(frame.rename(columns=printable), datatype=kinds, visible=True)


def picture(rows: pd.DataFrame) -> Any:
    """Draw the scores of groups, with their intervals: groups down, a colour for each system."""
    from matplotlib.figure import Figure  # slow to import

    places, systems = (list(dict.fromkeys(rows[column])) for column in ("place", "system"))
    figure = Figure(figsize=(9, 1.5 + len(places) * (0.2 + 0.03 * len(systems))), layout="constrained")
    axes = figure.subplots()
    for number, (system, of) in enumerate(rows.groupby("system", sort=False)):
        y = [places.index(place) + 0.7 * number / len(systems) for place in of["place"]]
        axes.plot(of["score"].astype(float), y, "o", color=f"C{number}", label=_drawn(system))
        axes.hlines(y, of["ci_low"].astype(float), of["ci_high"].astype(float), colors=f"C{number}")
    axes.set(yticks=range(len(places)), yticklabels=[*map(_drawn, places)], ylim=(len(places), -0.5))
    figure.legend(loc="outside upper left", ncols=4)
    return figure


def _drawn(text: str) -> str:
    return " " + printable(text).replace("$", r"\$")  # no formula, and not hidden for its underscore


def app(runs: Runs, models: Sequence[str] = ()) -> Any:
    """Return the page for some results; `models` can be asked about sentences, each is loaded when it first is."""
    explored, asking = Explored(runs), Lock()
    rows, systems = explored.rows, list(dict.fromkeys(runs.rows["system"]))
    all_data = list(dict.fromkeys(rows["data"]))

    def choices(data: str) -> list[list[str]]:
        of = rows[rows["data"] == data]
        groups = of[of["level"] != ALL]
        declared = [name for where, name in explored.measures if where == data]
        lists = [*declared, *of["name"]], groups["level"], [ALL, *(groups["level"] + ": " + groups["value"])]
        return [list(dict.fromkeys(each)) or [ALL] for each in lists]

    def pickers(place: int, label: str) -> tuple[list[Any], Any]:
        def update(data: str) -> list[gr.Dropdown]:
            return [gr.Dropdown(choices(data)[i], value=choices(data)[i][0]) for i in (0, place)]

        first, data = choices(all_data[0]), gr.Dropdown(all_data, label="Data")
        others = [gr.Dropdown(first[0], label="Measure"), gr.Dropdown(first[place], label=label)]
        return [data, *others], data.input(update, data, others)

    def show(function: Any, tab: gr.Tab, updated: Any, inputs: list[Any], outputs: list[Any]) -> None:
        events = [tab.select, *(control.input for control in inputs[1:-1]), inputs[-1].change]
        gr.on(events, function, inputs, outputs, trigger_mode="always_last")
        updated.then(function, inputs, outputs)  # when the choices are those of the data

    def groups(data: str, name: str, level: str) -> tuple[gr.Dataframe, Any]:
        of = explored.groups(data, name, level)
        wide = of.pivot_table(index="place", columns="system", values="score", sort=False, dropna=False)
        return shown(wide.reset_index(names="group")), picture(of)

    def items(*chosen: str) -> tuple[str, gr.Dataframe]:
        data, name, group, a, b, which, text = chosen
        try:
            every = explored.items(data, name, a, b)
        except ValueError as error:  # there are none, or a file is damaged
            return printable(str(error)), gr.Dataframe(visible=False)
        some = found(every, which, group, text)
        note = f"{len(some):,} of {len(every):,} items; at most {MOST} are shown. {MARGIN}"
        return note, shown(some[:MOST])

    def ask(*texts: str) -> gr.Dataframe:
        with asking:
            return shown(pd.concat([surprisals(model, [*filter(str.strip, texts)]) for model in models]))

    with gr.Blocks(title=TITLE, analytics_enabled=False) as page:
        gr.Markdown(f"# {TITLE}")
        with gr.Tab("Scores"):
            gr.Textbox("\n".join(explored.remarks), label="Remarks", visible=bool(explored.remarks))
            shown(explored.leaderboard())
        with gr.Tab("Groups") as tab:
            with gr.Row():
                inputs, updated = pickers(1, "Groups by")
            show(groups, tab, updated, inputs, [gr.Dataframe(visible=False), gr.Plot(show_label=False)])
        with gr.Tab("Items") as tab:
            with gr.Row():
                inputs, updated = pickers(2, "Group")
            with gr.Row():
                a, b = gr.Dropdown(systems, label="A"), gr.Dropdown(systems, value=systems[-1], label="B")
                inputs += [a, b, gr.Dropdown(list(FILTERS), label="Show"), gr.Textbox(label="Search")]
            show(items, tab, updated, inputs, [gr.Textbox(label="Found"), gr.Dataframe(visible=False)])
        with gr.Tab("A sentence of your own"):
            gr.Markdown(ASKED if models else "Name the models to ask: `tse explore RESULTS --model NAME`.")
            with gr.Row(visible=bool(models)):
                texts = [gr.Textbox(label="Sentence"), gr.Textbox(label="Another one, to compare")]
            button = gr.Button("Ask", variant="primary", visible=bool(models))
            button.click(ask, texts, gr.Dataframe(visible=False))
    return page


def launch(page: gr.Blocks, port: int | None = None, browser: bool = False) -> str:
    """Serve the page to this machine alone, and return its address; a ValueError says that the port is in use."""
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    try:
        page.launch(
            server_name="127.0.0.1", server_port=port, inbrowser=browser, share=False, quiet=True, ssr_mode=False,
            theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
            prevent_thread_lock=True, footer_links=[], max_file_size=1, app_kwargs={"middleware": [hosts]},
        )  # fmt: skip
    except OSError as error:
        raise ValueError(f"Port {port} is in use. Choose another one, or leave --port out.") from error
    return str(page.local_url)
