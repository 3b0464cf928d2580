"""`tse explore`: a page of scores, groups, the items behind them, and a sentence of your own; a gradio app.

Texts from results are shown as text, and nothing in a results folder is loaded or run: the only models that are asked
are those that the user named.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
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

from .io.files import one_line, printable
from .report.headline import remarks, standing
from .report.items import items_of
from .report.numbers import with_interval
from .report.scores import best_first, headlines, tidy
from .results import Results
from .runs.comparable import all_notices
from .suites import find_suite
from .suites.base import ALL, ROW, WEIGHT, Measure

TITLE = "Targeted syntactic evaluation"
MOST = 300  # items that are shown
FILTERS = {
    ALL: "index == index",
    "A right, B wrong": "`score A` > 0.5 and `score B` <= 0.5",
    "both wrong": "`score A` <= 0.5 and `score B` <= 0.5",
    "ties": "`margin A` == 0 or `margin B` == 0",
}
MARGIN = "Margin: log P(good text) − log P(bad text); without two texts, log P or score − 0.5. A's worst items first."
ASKED = "Surprisal: −log2 of the probability of a sentence or word, in bits (masked: pseudo-likelihood)."
_FIRST = ["good", "bad", "sentence", "A − B", "margin A", "margin B", "score A", "score B"]
_SCORES = ["score", "margin"]


class Explored:
    """Results as tidy rows (`report.scores`), with the measures that tell whose items they are over."""

    def __init__(self, results: Results) -> None:
        self._results, rows = results, best_first(tidy(results))
        self.rows = rows.sort_values("level", key=lambda level: level != ALL, kind="stable")
        self._lines = headlines(rows)
        self.remarks = [*all_notices(results), *remarks(self._lines)]
        self.measures: dict[tuple[str, str], tuple[str, str, Measure]] = {}
        columns = ["data", "suite", "config", "name", "measure"]
        for data, suite, config, name, label in rows[columns].drop_duplicates().itertuples(index=False):
            known = {measure.name: measure for measure in find_suite(suite).measures}
            if name in known:
                self.measures[data, label] = suite, config, known[name]
        self.items = lru_cache(maxsize=4)(self._items)

    def leaderboard(self) -> pd.DataFrame:
        """Return the headline scores as text, with their intervals: systems down, the best first."""
        text = replace(standing(self._lines), intervals=True).text()
        called = [": ".join(key) if isinstance(key, tuple) else str(key) for key in text.columns]
        return text.set_axis(called, axis=1).reset_index(names="model")

    def groups(self, data: str, measure: str, level: str) -> pd.DataFrame:
        """Return the rows of one measure: of all items, then of the groups of a level."""
        rows = self.rows[(self.rows["data"] == data) & (self.rows["measure"] == measure)]
        return rows[rows["level"].isin([level, ALL])].drop_duplicates(["system", "label"])

    def _read(self, data: str, name: str, system: str) -> pd.DataFrame:
        """Return the items of a system."""
        suite, config, measure = self.measures.get((data, name), ("", "", Measure(name)))
        record = self._results.of(suite, config).get(system)
        if record is None:
            raise ValueError(f"The folder of {system} does not contain items of {name} ({data}).")
        frame = items_of(record.read(), find_suite(suite), measure)
        of_model = {of.column for of in find_suite(suite).measures} | {"context", ROW, WEIGHT}
        starts = ("logprob", "score_", "share_", "n_", "ties", "opening")
        lists = [name for name in frame if any(isinstance(cell, np.ndarray) for cell in frame[name][:1])]
        drop = [name for name in frame if name in (*lists, *of_model) or name.startswith(starts)]
        return frame.drop(columns=drop)

    def _items(self, data: str, name: str, a: str, b: str) -> pd.DataFrame:
        """Return the items that both systems have, sorted by A's margin."""
        one, other = self._read(data, name, a), self._read(data, name, b)
        texts = [c for c in one if c in other and c not in _SCORES]
        # What follows a gap is seen by masked models only, so that it does not tell the items of others apart.
        keys = [c for c in texts if c not in ("suffix", "sentence") or one[c].isin(other[c]).any()]
        one, other = (of.assign(_n=of.groupby(keys, dropna=False).cumcount()) for of in (one, other))
        columns = [*texts, "_n", "score", "margin"]
        items = one[columns].merge(other[[*keys, *columns[-3:]]], on=[*keys, "_n"], suffixes=(" A", " B"))
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
    frame = frame.assign(**frame.select_dtypes(exclude="number").astype(str).map(one_line)).round(3)
    return gr.Dataframe(frame.rename(columns=printable), datatype=kinds, visible=True, wrap=True)


def app(results: Results, models: Sequence[str] = ()) -> Any:
    """Return the page for some results; `models` can be asked about sentences, each is loaded when it first is."""
    explored, asking = Explored(results), Lock()
    rows, systems = explored.rows, list(dict.fromkeys(results.systems))
    all_data = list(dict.fromkeys(rows["data"]))

    def choices(data: str) -> list[list[str]]:
        of = rows[rows["data"] == data]
        groups = of[of["level"] != ALL]
        declared = [name for where, name in explored.measures if where == data]
        in_words = [ALL, *(groups["level"] + ": " + groups["value"])]
        lists = [*declared, *of["measure"]], groups["level"], in_words
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

    def groups(*chosen: str) -> gr.Dataframe:
        of = explored.groups(*chosen)
        of = of.assign(text=[with_interval(row, 3) for row in of.to_dict("records")])
        wide = of.pivot_table("text", "label", "system", aggfunc="last", sort=False).fillna("–")
        return shown(wide.reset_index(names="group"))

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
            show(groups, tab, updated, inputs, [gr.Dataframe(visible=False)])
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


def launch(page: gr.Blocks, port: int | None = None) -> str:
    """Serve the page to this machine alone, and return its address; a ValueError says that the port is in use."""
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    try:
        page.launch(
            server_name="127.0.0.1", server_port=port, share=False, quiet=True, ssr_mode=False,
            theme=gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
            prevent_thread_lock=True, footer_links=[], max_file_size=1, app_kwargs={"middleware": [hosts]},
        )  # fmt: skip
    except OSError as error:
        raise ValueError(f"Port {port} is in use. Choose another one, or leave --port out.") from error
    return str(page.local_url)
