"""Makes the logs in this folder: of lm-evaluation-harness 0.4.13 and inspect_ai 0.3.285, on tiny models.

    python tests/golden/imports/make_logs.py lm-eval     needs lm_eval==0.4.13
    python tests/golden/imports/make_logs.py inspect     needs inspect_ai==0.3.285

* `lm_eval/`: tiny-causal on `lm_syneval`, with the harness's template, on four pairs of each of our 15 constructions of
  Marvin and Linzen (the data set itself is on the Hub); and `pairs.jsonl` as tasks of `tse export lm-eval`, with one
  tie.
* `grammar.eval`, `grammar.json`: `pairs.jsonl` as questions with two choices, answered by tiny-causal.

Descriptions of the machine are removed from `results_*.json`, and events and messages from the logs of Inspect.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SUBJECTS = ("The author", "The pilot", "The surgeon", "The farmer", "The manager", "The customer")
MACHINE = ("pretty_env_info", "total_evaluation_time_seconds", "start_time", "end_time", "git_hash", "date")


def pairs() -> list[dict[str, object]]:
    """Twelve pairs of two paradigms; the first of `order` has two equal sentences."""
    rows: list[dict[str, object]] = []
    for paradigm, (good, bad) in {"agreement": ("laughs", "laugh"), "order": ("smiles", "is")}.items():
        for number, subject in enumerate(SUBJECTS):
            wrong = good if (paradigm, number) == ("order", 0) else bad
            rows.append(
                {"UID": paradigm, "pairID": number, "linguistics_term": "own", "field": "syntax"}
                | {"sentence_good": f"{subject} {good}.", "sentence_bad": f"{subject} {wrong}."}
            )
    return rows


def lm_eval(folder: Path) -> None:
    """Run the harness in a folder and copy its logs."""
    import lm_eval
    import yaml

    import tse_scorers
    from tse_scorers import load_data

    shutil.copytree(
        Path(tse_scorers.__file__).parent / "bundled_models" / "tiny-causal", folder / "tiny-causal"
    )
    tasks = folder / "tasks"
    exported = [
        "export",
        "lm-eval",
        str(tasks),
        "--suite",
        "minimal_pairs",
        "--data",
        str(HERE / "pairs.jsonl"),
    ]
    subprocess.run([sys.executable, "-m", "tse_scorers", *exported], check=True)
    template = Path(lm_eval.__file__).parent / "tasks" / "lm_syneval" / "_template_yaml"
    common = yaml.safe_load(template.read_text())
    data = load_data("agreement_templates", "marvin_linzen").to_pandas()
    names = []
    for construction, rows in data.groupby("construction", sort=False):
        name = f"lm_syneval__agreement__{construction}"
        some = rows.sample(4, random_state=0)[["sentence_good", "sentence_bad"]]
        some.to_json(tasks / f"{name}.jsonl", orient="records", lines=True)
        own = {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": f"tasks/{name}.jsonl"}},
        }
        (tasks / f"{name}.yaml").write_text(yaml.safe_dump(common | own))
        names.append(name)
    inner = {"group": "lm_syneval__agreement", "task": names}
    (tasks / "lm_syneval__agreement.yaml").write_text(yaml.safe_dump(inner))
    outer = {"group": "lm_syneval", "task": ["lm_syneval__agreement"]}
    (tasks / "lm_syneval.yaml").write_text(yaml.safe_dump(outer))
    command = "import sys; from lm_eval.__main__ import cli_evaluate; sys.exit(cli_evaluate())"
    options = "run --model hf --model_args pretrained=tiny-causal,dtype=float32 --device cpu --batch_size 8 --tasks "
    options += "lm_syneval,tse_pairs --include_path tasks --output_path logs --log_samples"
    subprocess.run([sys.executable, "-c", command, *options.split()], check=True, cwd=folder)
    shutil.rmtree(HERE / "lm_eval", ignore_errors=True)
    shutil.copytree(folder / "logs", HERE / "lm_eval")
    for path in (HERE / "lm_eval").rglob("results_*.json"):
        content = json.loads(path.read_text())
        for key in MACHINE:
            content.pop(key, None)
        path.write_text(json.dumps(content, ensure_ascii=False) + "\n")


def inspect(folder: Path, rows: list[dict[str, object]] | None = None, logs: Path = HERE) -> None:
    """Run pairs as questions with two choices, as an archive and as JSON.

    The provider of the model answers with the choice that has the higher probability after the start token, added up
    by `transformers` alone; of two equal ones, with the first.
    """
    import tiktoken
    import torch
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ModelAPI, ModelOutput, modelapi
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice
    from transformers import AutoModelForCausalLM, AutoTokenizer

    class Words:
        """Counts words, because the tokenizer is downloaded."""

        def encode(self, text: str, **_: object) -> list[str]:
            return text.split()

    tiktoken.get_encoding = lambda _: Words()
    path = HERE.parents[2] / "scorers" / "tse_scorers" / "bundled_models" / "tiny-causal"
    model, tokenizer = AutoModelForCausalLM.from_pretrained(path), AutoTokenizer.from_pretrained(path)

    def logprob(sentence: str) -> float:
        ids = torch.tensor(
            [[tokenizer.bos_token_id, *tokenizer(sentence, add_special_tokens=False).input_ids]]
        )
        with torch.no_grad():
            logprobs = model(ids).logits[0, :-1].log_softmax(-1)
        return float(logprobs.gather(1, ids[0, 1:, None]).double().sum())

    @modelapi(name="likelihood")
    class Likelihood(ModelAPI):
        async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:
            first, second = re.findall(r"^[AB]\) (.*)$", input[-1].text, re.MULTILINE)
            letter = "A" if logprob(first) >= logprob(second) else "B"
            return ModelOutput.from_content(self.model_name, f"ANSWER: {letter}")

    samples = []
    for number, row in enumerate(pairs() if rows is None else rows):
        sides = [str(row["sentence_bad"]), str(row["sentence_good"])][:: -1 if number % 2 else 1]
        about = {"UID": row["UID"], "pairID": row["pairID"]}
        target = "A" if number % 2 else "B"
        question = "Which sentence is grammatical?"
        samples.append(Sample(input=question, choices=sides, target=target, id=number, metadata=about))
    task = Task(
        dataset=MemoryDataset(samples, name="pairs"),
        solver=multiple_choice(),
        scorer=choice(),
        name="grammar",
    )
    (log,) = eval(task, model="likelihood/tiny-causal", log_dir=str(folder), display="none")
    log = read_eval_log(log.location)
    log.eval.model_args = {}
    for sample in log.samples or []:
        sample.events, sample.messages, sample.attachments, sample.events_data = [], [], {}, None
    write_eval_log(log, str(logs / "grammar.eval"))
    write_eval_log(log, str(logs / "grammar.json"))


if __name__ == "__main__":
    (HERE / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs()))
    with tempfile.TemporaryDirectory() as temporary:
        {"lm-eval": lm_eval, "inspect": inspect}[sys.argv[1]](Path(temporary))
