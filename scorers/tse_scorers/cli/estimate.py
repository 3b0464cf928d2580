"""The command `tse estimate`."""

import time
from typing import Annotated, Any

import typer

from ..models.options import ModelOptions
from . import tables, terminal
from .help import App
from .option_groups import takes_model_options, takes_suite_options
from .options import DATA, Models, SuiteName

app = App()


@app.command()
@takes_model_options
@takes_suite_options
def estimate(
    *,
    model: Models = None,
    suite: SuiteName = "agreement",
    asked: dict[str, Any],
    budget: Annotated[
        int | None,
        typer.Option(
            help="At most this many pairs in all, as in a training loop. Default: all, because `tse run` scores all.",
            min=1,
            rich_help_panel=DATA,
        ),
    ] = None,
    options: ModelOptions,
) -> None:
    """Print what scoring models on a suite costs, from the data and a few seconds of the real work."""
    with terminal.waiting("Reading the data"):
        from ..io.bundle import DEFAULT_MODELS
        from ..models.model_source import require_on_disk
        from ..suites.checks import findings_of
        from ..suites.registry import make_suite

        require_on_disk(model or ())
        chosen = make_suite(suite, **asked)
    terminal.findings(findings_of(chosen))
    if budget is not None:
        chosen.keep_sample(budget, seed=0)
    with terminal.starting("Loading PyTorch"):
        from ..loading import load_with_options, options_of_models
        from ..models.descriptions import Descriptions
        from ..runs.estimate import estimate as estimate_cost

        terminal.quiet()
        names, known = model or DEFAULT_MODELS, Descriptions()
        of_models = options_of_models(names, options, known)
    costs = []
    for name, used in zip(names, of_models, strict=True):
        start = time.perf_counter()
        with terminal.waiting(f"Loading {name}"):
            scorer = load_with_options(name, used, known=known)
        loading = time.perf_counter() - start
        with terminal.waiting(f"Estimating {name}"):
            costs.append((scorer.name, loading, estimate_cost(scorer, chosen)))
    tables.costs(costs)
    if asked.get("forms") == "all" and None in (asked.get("limit"), asked.get("lemma_sample")):
        terminal.say(_CHEAPER_FORMS)


_CHEAPER_FORMS = (
    "To save time, add --limit 18 --lemma-sample 200, which scores a sample of pairs and verbs. With a model of "
    "GPT-2's size, it takes about 6 times as long as --forms single on all pairs."
)
