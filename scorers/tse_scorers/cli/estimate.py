"""The command `tse estimate`."""

import time
from typing import Annotated

from ..models.options import DATA, ModelOptions
from . import tables, terminal
from .help import App
from .option_groups import takes_model_options, takes_suite_options
from .options import Models, SuiteNames, option
from .several_suites import make_suites

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
    """Print what scoring models on suites costs, from the data and a few seconds of the real work."""
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
    tables.costs(costs, loading)
    given_options = [recipe.given for _, recipe in suites_made]
    if any(
        options_of_suite.get("forms") == "all" and not {"limit", "lemma_sample"} <= set(options_of_suite)
        for options_of_suite in given_options
    ):
        terminal.say(_CHEAPER_FORMS)


_CHEAPER_FORMS = (
    "To save time, add --limit 18 --lemma-sample 200, which scores a sample of pairs and verbs. With a model of "
    "GPT-2's size, it takes about 6 times as long as --forms single on all pairs."
)
