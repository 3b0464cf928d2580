"""Write a table of minimal pairs as tasks of lm-evaluation-harness: one for each group, and one for all.

    python examples/lm_eval_tasks.py pairs.csv tasks
    lm-eval run --model hf --model_args pretrained=MODEL --tasks tse_pairs --include_path tasks

The table (CSV) has the columns `sentence_good` and `sentence_bad`, and `UID` if it has groups. The acceptable sentence
is the second answer: of equal scores, the harness takes the first, so a tie is not correct, as in `tse run`.
"""

import argparse
import re
from pathlib import Path

import pandas as pd
import yaml


def write_tasks(pairs: pd.DataFrame, name: str, out: Path) -> str:
    """Write the tasks of pairs into a folder, and return the name of the task for all of them."""
    out.mkdir(parents=True, exist_ok=True)
    groups = pairs["UID"] if "UID" in pairs else pd.Series("all", pairs.index)
    tasks = []
    for group, rows in pairs.groupby(groups, sort=False):
        task = "_".join(["tse", name, re.sub(r"\W+", "_", str(group)).lower()])
        if task in tasks:
            raise ValueError(f"Two groups would be the task {task}; rename one of them.")
        data = (out / f"{task}.jsonl").resolve()
        choices = pd.DataFrame({"choices": rows[["sentence_bad", "sentence_good"]].to_numpy().tolist()})
        choices.to_json(data, orient="records", lines=True, force_ascii=False)
        content = {
            "task": task,
            "task_alias": str(group),
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(data)}},
            "output_type": "multiple_choice",
            "test_split": "test",
            "doc_to_text": "",
            "doc_to_choice": "choices",
            "doc_to_target": 1,
            "target_delimiter": "",
            "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        }
        (out / f"{task}.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        tasks.append(task)
    # The mean of the groups, as in `tse run`.
    mean = {"metric": "acc", "aggregation": "mean", "weight_by_size": False}
    whole = {"group": f"tse_{name}", "task": tasks, "aggregate_metric_list": [mean]}
    (out / f"tse_{name}.yaml").write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
    return f"tse_{name}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a table of minimal pairs as tasks of lm-eval.")
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    table = pd.read_csv(options.pairs, keep_default_na=False)  # "null" and "NA" are words
    print(f"--tasks {write_tasks(table, options.pairs.stem, options.out)} --include_path {options.out}")
