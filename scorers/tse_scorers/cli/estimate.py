"""The command `tse estimate`."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from ..io.files import printable
from ..models.options import DATA, ModelOptions
from . import tables, terminal
from .help import App
from .options import Models, SuiteNames, option, takes_model_options, takes_suite_options
from .several_suites import make_suites

if TYPE_CHECKING:
    from ..runs.estimate import Estimate
    from ..suites.contract import Suite

app = App()


@app.command()
@takes_model_options
@takes_suite_options
def estimate(
    *,
    model: Models = None,
    suite: SuiteNames = None,
    suite_options: dict[str, object],
    budget: Annotated[
        int | None,
        option(
            "At most this many pairs of each suite, as in a training loop. Default: all, because `tse run` "
            "scores all.",
            DATA,
            min=1,
        ),
    ] = None,
    options: ModelOptions,
) -> None:
    """Estimate the time and compute that a run needs, from the data and a short trial."""
    with terminal.starting():
        from ..io.bundle import DEFAULT_MODELS
        from ..models.model_source import require_on_disk
        from ..suites.checks import purpose_of

        require_on_disk(model or ())
    suites_made = make_suites(suite, suite_options)
    for chosen, _ in suites_made:
        terminal.findings(chosen.findings)
        if budget is not None:
            chosen.keep_sample(budget, seed=0)
    with terminal.starting("Loading PyTorch"):
        from ..loading import load_with_options, options_of_models
        from ..models.from_pretrained import Descriptions
        from ..runs.estimate import estimate as estimate_cost

        terminal.quiet()
        names, descriptions = model or DEFAULT_MODELS, Descriptions()
        of_models = options_of_models(
            names, options, descriptions, purpose_of([chosen for chosen, _ in suites_made])
        )
    loading, costs = {}, []
    for name, used in zip(names, of_models, strict=True):
        start = time.perf_counter()
        with terminal.waiting(f"Loading {name}"):
            scorer = load_with_options(name, used, descriptions=descriptions)
        loading[scorer.name] = time.perf_counter() - start
        with terminal.waiting(f"Estimating {name}"):
            costs += [(scorer.name, chosen, estimate_cost(scorer, chosen)) for chosen, _ in suites_made]
    _show(costs, loading)
    for advice in dict.fromkeys(chosen.options.advice_on_time for chosen, _ in suites_made):
        if advice:
            terminal.say(advice)


def _show(estimates: "Sequence[tuple[str, Suite, Estimate]]", loading: Mapping[str, float]) -> None:
    """Print what models cost on suites, one row per model and suite.

    Args:
        estimates: name of the model, the suite, and what it costs.
        loading: seconds that loading took, by name of the model.
    """
    import pandas as pd

    from ..report.systems import end_names

    rows = [
        {
            "model": printable(model),
            "data": printable(f"{suite.dataset}/{suite.config}"),
            "items": f"{cost.n_examples:,}",
            "texts": f"{cost.n_inputs:,}",
            "tokens": f"{cost.n_tokens:,}",
            "computed": f"{cost.n_computed:,}",
            "read": f"{cost.n_reads:,}",
            "FLOPs": f"{cost.flops:.3g}",
            "time here": duration(cost.seconds),
        }
        for model, suite, cost in estimates
    ]
    frame = pd.DataFrame(rows)
    tables.table(frame if frame["data"].nunique() > 1 else frame.drop(columns="data"))
    names = end_names([printable(model) for model in loading])
    times = [f"{names[printable(model)]} {duration(seconds)}" for model, seconds in loading.items()]
    terminal.say(
        "tokens: of all texts, each run by itself; computed: what the model runs, equal beginnings once."
    )
    terminal.say("read: positions at which the distribution over the vocabulary is computed.")
    terminal.say(
        "time here: measured on this machine, in one process. "
        f"Loading takes additional time: {', '.join(times)}."
    )


def duration(seconds: float) -> str:
    """Say how long something takes, in the units of a clock.

    >>> duration(7.31), duration(95), duration(7520)
    ('7.3 s', '1 min 35 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
