"""`tse estimate` takes and refuses the options that a run takes and refuses."""

from pathlib import Path

import pytest
from option_walk import MODEL_VALUES, as_arguments, bases, load_once, suite_values, tse, walk, write_data

from tse_scorers import loading, make_suite
from tse_scorers.loading import options_of_models
from tse_scorers.models.options import ModelOptions
from tse_scorers.runs.estimate import estimate
from tse_scorers.suites.checks import purpose_of


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture
def loaded_once(monkeypatch) -> None:
    load_once(monkeypatch)


@pytest.mark.parametrize(
    "base",
    [
        pytest.param("agreement", marks=pytest.mark.slow),
        *walk(["agreement, all forms", "minimal_pairs", "in_context", "regions"]),
    ],
)
def test_options_of_an_estimate(base, data, loaded_once, monkeypatch, record_property):
    """`tse estimate` refuses what a run refuses, and plans what a run with this option plans."""
    monkeypatch.setattr("tse_scorers.runs.estimate._measure", lambda runner, clock: (0.0, 0.0))
    name, asked = bases(data)[base]
    wrong, n = [], 0
    cases = [({option: value} | needed, {}) for of, option, value, needed in suite_values(data) if of == base]
    if base in ("agreement", "minimal_pairs"):  # gaps, sentences
        cases += [({}, {option: value}) for option, values in MODEL_VALUES.items() for value in values]
    for of_suite, of_model in cases:
        if [] in of_suite.values() or False in (of_suite | of_model).values() or "methods" in of_suite:
            continue  # the command line has no empty list, and no False
        n += 1
        try:
            suite = make_suite(name, **(asked | of_suite))
            options = options_of_models(
                ["tiny-causal"], ModelOptions(**of_model), purpose=purpose_of([suite])
            )[0]
            scorer = loading.load_with_options("tiny-causal", options)  # once
            suite.check_scorer(scorer)
            found = estimate(scorer, suite)
            expected = [
                f"{number:,}" for number in (found.n_examples, found.n_inputs, found.n_tokens, found.n_reads)
            ]
        except (ValueError, TypeError, ImportError):
            expected = []
        arguments = as_arguments(asked | of_suite | of_model)
        code, said = tse("estimate", "-m", "tiny-causal", "--suite", name, *arguments)
        if code != (0 if expected else 2) or not set(expected) <= set(said.split()):
            wrong.append(f"{of_suite | of_model}: {code}, {expected}, {said[-300:]}")
    assert not wrong, "\n".join(wrong)
    record_property("combinations", n)


def test_the_budget_of_an_estimate(data):
    """A sample of each suite is planned."""
    asked = ("estimate", "-m", "tiny-causal", "--suite", "minimal_pairs", "--data", data / "blimp.jsonl")
    rows = [
        next(line.split() for line in tse(*asked, *more)[1].splitlines() if line.startswith(" tiny-causal"))
        for more in ((), ("--budget", "2"))
    ]
    assert [row[1] for row in rows] == ["4", "2"]
