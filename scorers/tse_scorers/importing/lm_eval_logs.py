"""Logs of lm-evaluation-harness: what `--output_path` and `--log_samples` leave (0.4.13).

    LOGS/<model>/results_<time>.json            model, options, configuration of each task
    LOGS/<model>/samples_<task>_<time>.jsonl    a line for each item, with the log-probability of each answer

A task is imported if its items are choices between two answers with log-probabilities. Their sums are compared, as the
harness does for `acc`; `acc_norm` is not read. Of two equal sums the harness takes the first answer, which is the
acceptable one in its own tasks. Here, a tie is not correct.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..io.files import read_bytes, require_exists
from ..io.suggestions import unknown_name
from ..models.answers import ROUNDING
from ..models.start_tokens import TURN_TOKENS
from ..report.comparable import listed
from ..suites.registry import options_class
from .choices import Choice, Log, Logs, NoChoiceError, labels_of, name_of, parsed_json

_EXPECTED = "what lm-evaluation-harness 0.4.13 writes with --output_path and --log_samples"
_FORMATS = ("json", "csv", "parquet", "text", "arrow")
"""What `dataset_path` is for data in files."""
_NAMED = 5
"""A sentence names at most this many tasks."""


@dataclass(frozen=True)
class _Config:
    """The model and its options."""

    model: str | None = None
    model_args: object = None
    model_dtype: str | None = None
    model_sha: str | None = None


@dataclass(frozen=True)
class _Task:
    """The configuration of a task."""

    dataset_path: str | None = None
    dataset_kwargs: object = None
    num_fewshot: int | None = None
    metadata: object = None


@dataclass(frozen=True)
class _Results:
    """`results_<time>.json`."""

    config: _Config
    configs: Mapping[str, _Task]
    group_subtasks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    model_name: str | None = None
    lm_eval_version: str | None = None
    tokenizer_bos_token: tuple[str | None, ...] | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None

    def argument(self, name: str) -> object:
        """Return one of `--model_args`."""
        arguments = self.config.model_args
        return arguments.get(name) if isinstance(arguments, dict) else None

    def groups_of(self, task: str) -> list[str]:
        """Return the groups that a task is in, the innermost first."""
        names = [task]
        for inner in names:  # which grows
            outer = [group for group, inside in self.group_subtasks.items() if inner in inside]
            names += [group for group in outer if group not in names]
        return names[1:]


@dataclass(frozen=True)
class _Sample:
    """A line of `samples_<task>_<time>.jsonl`."""

    doc: Mapping[str, object]
    target: str
    arguments: Mapping[str, Mapping[str, object]]
    filtered_resps: tuple[object, ...]
    doc_id: int = 0
    acc: object = None


@dataclass(frozen=True)
class _Run:
    """One run of a task."""

    task: str
    results: _Results
    samples: Path

    @property
    def model(self) -> str:
        return name_of(str(self.results.model_name or self.results.argument("pretrained") or "model"))

    @property
    def config(self) -> _Task:
        return self.results.configs[self.task]

    @property
    def exported(self) -> str | None:
        """The name of the data where `tse export lm-eval` wrote the task."""
        pairs = (
            self.config.dataset_kwargs.get("pairs") if isinstance(self.config.dataset_kwargs, dict) else None
        )
        if not isinstance(pairs, str) or not pairs.startswith("tse_"):
            return None
        return self._metadata("data") or Path(pairs).stem.removeprefix("tse_")

    @property
    def suite(self) -> str | None:
        """The suite that has the data of an exported task by name; None where it does not, or is not installed."""
        suite = None if self.exported is None else self._metadata("suite")
        with suppress(ValueError):
            if suite is not None and self.exported in options_class(suite).data_names():
                return suite
        return None

    def _metadata(self, key: str) -> str | None:
        """Return what `tse export lm-eval` wrote into a task."""
        text = self.config.metadata.get(key) if isinstance(self.config.metadata, dict) else None
        return text if isinstance(text, str) else None

    @property
    def data(self) -> str:
        groups = self.results.groups_of(self.task)
        path = (self.config.dataset_path or "").rstrip("/").rpartition("/")[2]
        name = "" if path in _FORMATS else path
        return self.exported or (groups[-1] if groups else name or self.task)


def read_lm_eval(logs: Path, tasks: Collection[str] = ()) -> Logs:
    """Return the choices of each model and set of data in a folder of logs.

    Args:
        logs: what `--output_path` named.
        tasks: only these tasks or groups of tasks; empty: all. Of a task that was run several times, the latest counts.

    Raises:
        ValueError: the folder has no logs, a file cannot be read or contradicts itself, a task is unknown, or tasks
            of one set of data were scored by different conventions.
    """
    require_exists(logs)
    paths = sorted(logs.rglob("results_*.json"), key=lambda path: (_time_of(path), str(path)))
    if not paths:
        raise ValueError(f"{logs} does not contain results_*.json; expected {_EXPECTED}. Check the path.")
    runs: dict[tuple[str, str], _Run] = {}
    task_names: dict[str, None] = {}
    for path in paths:  # a later run of a task takes the place of an earlier one
        results = parsed_json(_Results, read_bytes(path), path, _EXPECTED)
        task_names |= dict.fromkeys([*results.configs, *results.group_subtasks])
        for task in results.configs:
            samples = path.parent / Path(f"samples_{task}_{_time_of(path)}.jsonl").name  # a name is no path
            if samples.exists() and (not tasks or {task, *results.groups_of(task)} & {*tasks}):
                run = _Run(task, results, samples)
                runs[run.model, task] = run
    for task in tasks:
        if task not in task_names:
            raise ValueError(unknown_name("task", task, task_names))
    if not runs:
        raise ValueError(
            f"{logs} does not contain samples_*.jsonl of its tasks; expected {_EXPECTED}. Run the harness again with "
            "--log_samples."
        )
    left_out: dict[str, list[str]] = {}
    imported = list(_logs(runs.values(), left_out))
    sentences = [f"Not imported: {listed(names, _NAMED)}, because {why}." for why, names in left_out.items()]
    if not imported:
        raise ValueError(" ".join([f"{logs} does not contain choices between two answers.", *sentences]))
    return Logs(imported, sentences)


def _time_of(path: Path) -> str:
    return path.stem.rpartition("_")[2]


def _logs(runs: Collection[_Run], left_out: dict[str, list[str]]) -> Iterator[Log]:
    """Yield the log of each model and set of data; a task that cannot be imported goes to its reason in `left_out`."""
    together: dict[tuple[str, str], list[_Run]] = {}
    for run in runs:
        together.setdefault((run.model, run.data), []).append(run)
    for (model, data), of_data in together.items():
        choices: list[Choice] = []
        conventions: dict[str, dict[str, object]] = {}
        digest = hashlib.sha256()
        after_contexts = False
        for run in of_data:
            try:
                content = read_bytes(run.samples)
                samples = list(_samples(run, content))
                task_choices = [_choice(run, sample) for sample in samples]
            except NoChoiceError as error:
                left_out.setdefault(str(error), []).append(run.task)
                continue
            contexts = {text != "" for sample in samples for text, _ in _answers(sample)}
            after_contexts |= True in contexts
            spaces = {
                answer[:1].isspace() for sample in samples for text, answer in _answers(sample) if not text
            }
            conventions[run.task] = _convention(run.results, run.config, contexts, True in spaces)
            choices += task_choices
            digest.update(content)
        if choices:
            (first, convention), *others = conventions.items()
            for task, other in others:
                for key in {**convention, **other}:
                    if convention.get(key) != other.get(key):
                        raise ValueError(
                            f"{of_data[0].samples.parent}: the tasks {first} and {task} of {data} were scored by "
                            f"different conventions ({key}: {convention.get(key)} and {other.get(key)}). Import "
                            "them one by one into different folders, with --task."
                        )
            results = of_data[0].results
            # Whole sentences are the data; answers after contexts do not say what follows them.
            suite = of_data[0].suite if after_contexts else None
            yield Log(
                model,
                results.config.model_sha or None,
                f"lm-eval {results.lm_eval_version or 'of an unknown version'}",
                data,
                convention | {"log_sha256": digest.hexdigest()},
                choices,
                suite=suite or Log.suite,
                is_known_data=suite is not None,
            )


def _samples(run: _Run, content: bytes) -> Iterator[_Sample]:
    lines = [line for line in content.split(b"\n") if line.strip()]
    parsed = [
        parsed_json(_Sample, line, f"{run.samples}, line {number}", _EXPECTED)
        for number, line in enumerate(lines, 1)
    ]
    repeated = [item for item, n in Counter(sample.doc_id for sample in parsed).items() if n > 1]
    if repeated:
        raise ValueError(
            f"{run.samples} holds item {repeated[0]} in several lines; expected one line for each item. Logs were put "
            "together, or the task has several filters: run the harness again, with one filter."
        )
    yield from sorted(parsed, key=lambda sample: sample.doc_id)


def _answers(sample: _Sample) -> list[tuple[str, str]]:
    """Return the context and the continuation of each answer."""
    pairs = [(request.get("arg_0"), request.get("arg_1")) for request in sample.arguments.values()]
    for n, kind in ((len(pairs), "answers"), (len(sample.filtered_resps), "scored answers")):
        if n != 2:
            raise NoChoiceError(f"its items have {n} {kind}; expected 2")
    if not all(isinstance(text, str) for pair in pairs for text in pair):
        raise NoChoiceError("its answers are not texts")
    return [(str(context), str(answer)) for context, answer in pairs]


def _choice(run: _Run, sample: _Sample) -> Choice:
    where = f"{run.samples}, item {sample.doc_id}"
    answers = _answers(sample)
    logprobs = [_logprob(answer, where) for answer in sample.filtered_resps]
    texts = [answer.strip() for _, answer in answers]
    if sample.target in ("0", "1"):
        right = int(sample.target)
    elif sample.target.strip() in texts and texts[0] != texts[1]:
        right = texts.index(sample.target.strip())
    else:
        raise NoChoiceError("it does not say which of two answers is right")
    ahead = logprobs[right] - logprobs[1 - right]
    is_right = (
        ahead > 0 or (ahead == 0 and right == 0) or (logprobs[0] == logprobs[1] == -math.inf and right == 0)
    )
    if sample.acc in (0, 1) and bool(sample.acc) != is_right and not math.isnan(ahead):
        raise ValueError(
            f"{where} has acc {sample.acc}, but the log-probabilities {logprobs[right]:g} of the right answer and "
            f"{logprobs[1 - right]:g} of the other one. The log is damaged or was edited; run the harness again."
        )
    wholes = _texts_of_doc(sample.doc, right) or [context + answer for context, answer in answers]
    good, bad = wholes[right], wholes[1 - right]
    groups = run.results.groups_of(run.task)
    otherwise = {"UID": run.task} | ({"linguistics_term": groups[0]} if len(groups) > 1 else {})
    doc = dict(sample.doc)
    if run.exported is not None and isinstance(group := doc.get("group"), str):
        otherwise = {"UID": group}
    return Choice(
        good.strip(),
        bad.strip(),
        (logprobs[right], logprobs[1 - right]),
        bool(sample.acc) if sample.acc in (0, 1) else None,
        labels_of(doc, otherwise),
    )


def _texts_of_doc(doc: Mapping[str, object], right: int) -> list[str] | None:
    """Return both texts without examples or a chat before them, where the item's columns have them."""
    sides = [doc.get("sentence_good"), doc.get("sentence_bad")]
    if all(isinstance(side, str) for side in sides):
        return [str(sides[place != right]) for place in (0, 1)]
    context, choices = doc.get("context"), doc.get("choices")
    is_ours = isinstance(context, str) and isinstance(choices, list) and len(choices) == 2
    return [f"{context}{choice}" for choice in choices] if is_ours and isinstance(choices, list) else None


def _logprob(answer: object, where: str) -> float:
    """Return the log-probability of an answer, which is logged as a text beside whether it is the greedy one."""
    if not isinstance(answer, list) or len(answer) != 2:
        raise NoChoiceError("its answers have no log-probabilities")
    try:
        value = float(str(answer[0]))
    except ValueError as error:
        raise NoChoiceError("its answers have no log-probabilities") from error
    if value > ROUNDING:
        raise ValueError(
            f"{where} has the log-probability {value:g}; expected at most 0. The log is damaged."
        )
    return value


def _convention(
    results: _Results, task: _Task, contexts: Collection[bool], spaces: bool
) -> dict[str, object]:
    """Return how a task's answers were scored.

    Args:
        results: of the run.
        task: its configuration.
        contexts: whether answers stand after a context: True, False, or both.
        spaces: whether whole sentences begin with a space.
    """
    convention: dict[str, object] = {
        "dtype": (results.config.model_dtype or "unknown").removeprefix("torch.")
    }
    if False in contexts:
        first_token = _first_token(results)
        convention |= {"leading_space": spaces} | (
            {} if first_token is None else {"first_token": first_token}
        )
    if True in contexts and isinstance(adds_bos := results.argument("add_bos_token"), bool):
        convention["bos_at_gap"] = adds_bos
    examples = task.num_fewshot or 0
    return convention | {
        "ties_in_the_tool": "the first answer is taken",
        "normalization": "none",
        **({"num_fewshot": examples} if examples else {}),
        **({"chat_template": results.chat_template_sha} if results.chat_template_sha else {}),
        **({"system_instruction": results.system_instruction_sha} if results.system_instruction_sha else {}),
    }


def _first_token(results: _Results) -> str | None:
    """Say what the first token of a whole sentence is given: the start token, else the end token.

    None where the log does not say whether the tokenizer has a start token, as logs of servers.
    """
    start: Sequence[str | None] | None = results.tokenizer_bos_token
    chosen = results.argument("prefix_token_id")
    if start is None or len(start) != 2:
        return None if chosen is None else f"given the token {chosen}"
    token, number = start
    if chosen is not None and str(chosen) != number:
        return f"given the token {chosen}"
    if token is None:
        return "given the end token"
    return f"given {token}, which opens turns of a chat" if token in TURN_TOKENS else "given the start token"
