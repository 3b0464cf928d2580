"""The file `eval.yaml` that makes a data set on the Hub a benchmark: one task for each score that `entries` writes.

Format: https://huggingface.co/docs/hub/eval-results, "Eval.yaml specification".
"""

from collections.abc import Collection, Iterator

import yaml

from ..suites.registry import all_suites

FILE = "eval.yaml"
FRAMEWORK = "refined-tse"
"""The Hub shows results of frameworks that huggingface.js lists (packages/tasks/src/eval.ts)."""


def task_id(config: str, task: str, lemmas: str | None) -> str:
    """Return the id of a task, which never changes: configuration, measure, and the lemma list if not `released`.

    >>> task_id("marvin_linzen", "ew", "clean"), task_id("marvin_linzen", "tse", "clean")
    ('marvin_linzen_ew_clean', 'marvin_linzen_tse')
    """
    ending = "" if lemmas in (None, "released") or task == "tse" else f"_{lemmas}"
    return f"{config}_{task}{ending}"


def benchmark(dataset: str, configs: Collection[str], title: str, description: str) -> bytes | None:
    """Return the `eval.yaml` of a shipped data set; None if no suite scores it.

    Args:
        dataset: name of the data set, for instance `agreement_templates`.
        configs: the configurations that are on the Hub.
        title: its name for people.
        description: what it measures.
    """
    tasks = [{"id": task, "config": config, "split": "test"} for task, config in _tasks(dataset, configs)]
    if not tasks:
        return None
    content = {"name": title, "description": description, "evaluation_framework": FRAMEWORK, "tasks": tasks}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110).encode()


def _tasks(dataset: str, configs: Collection[str]) -> Iterator[tuple[str, str]]:
    for suite in all_suites():
        for released in suite.known_data.released.values():
            if released.dataset != dataset or released.config not in configs:
                continue
            for measure in suite.measures:
                for lemmas in released.lemma_lists.values() if measure.over_lemmas else (None,):
                    yield task_id(released.config, measure.task, lemmas), released.config
