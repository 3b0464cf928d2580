"""Small data sets and metrics to push: real cards over a few rows, made in a test's own folder."""

import textwrap
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from huggingface_hub import constants
from loopback_hub import LoopbackHub


def read_from(hub: LoopbackHub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process take this Hub for the Hub, with a cache of its own; for downloads, not for uploads."""
    there = constants.ENDPOINT
    for name in ("ENDPOINT", "HUGGINGFACE_CO_URL_TEMPLATE"):
        monkeypatch.setattr(constants, name, getattr(constants, name).replace(there, hub.url))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("datasets.config.HF_ENDPOINT", hub.url)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", hub.url)
    monkeypatch.setattr("transformers.utils.hub._hf_api", None, raising=False)  # made when it is first needed


def make_dataset(
    folder: Path, configs: dict[str, list[str]], license: str = "cc-by-4.0", licence_section: str = ""
) -> Path:
    """A data set with one column `sentence`; `configs` maps a config to its sentences."""
    heads, infos = [], []
    for name, sentences in configs.items():
        path = folder / name / "test.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = pa.table({"sentence": pa.array(sentences, pa.string())})
        pq.write_table(table, path)
        heads.append({"config_name": name, "data_files": [{"split": "test", "path": f"{name}/test.parquet"}]})
        split = {"name": "test", "num_bytes": table.nbytes, "num_examples": table.num_rows}
        info = {"config_name": name, "features": [{"name": "sentence", "dtype": "string"}], "splits": [split]}
        sizes = {"download_size": path.stat().st_size, "dataset_size": table.nbytes}
        infos.append(info | sizes)
    heads[0]["default"] = True
    head = {
        "pretty_name": "Test pairs",
        "language": ["en"],
        "license": license,
        "size_categories": ["n<1K"],
        "task_ids": ["language-modeling"],
        "tags": ["test"],
        "configs": heads,
        "dataset_info": infos,
    }
    body = textwrap.dedent(f"""
        # Test pairs

        `load_dataset("datasets/{folder.name}")`

        ## Columns

        | column | meaning |
        |---|---|
        | `sentence` | a sentence |

        ## How it is made

        By hand.

        ## Limits

        For tests.

        ## Citation

        None.
        """)
    text = f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n{body}{licence_section}"
    (folder / "README.md").write_text(text, encoding="utf-8")
    return folder


METRIC = '''"""Share of ones.

>>> share([1, 0])
0.5
"""

import datasets
import evaluate

from .{helper} import share


class {name}(evaluate.Metric):
    """Share of ones."""

    def _info(self):
        features = datasets.Features({{"predictions": datasets.Value("int32")}})
        return evaluate.MetricInfo(description="d", citation="c", features=features, inputs_description="i")

    def _compute(self, predictions):
        return {{"share": share(predictions), "version": "{version}"}}
'''

METRIC_CARD = """---
title: Share of ones
sdk: static
description: The share of ones.
tags:
- evaluate
- metric
---

# Share of ones

`evaluate.load("metrics/{name}")`

## Definition

Their mean.

## Inputs

`predictions`.

## Outputs

`share`, from 0 to 1.

## Published values

None.

## Limits

For tests.

## Citation

None.
"""


def make_metric(folder: Path, version: str = "1") -> Path:
    """A metric with a helper beside it; its result tells its version."""
    folder.mkdir(parents=True, exist_ok=True)
    helper = "counting"
    (folder / "README.md").write_text(METRIC_CARD.format(name=folder.name), encoding="utf-8")
    code = METRIC.format(name="ShareOfOnes", helper=helper, version=version)
    (folder / f"{folder.name}.py").write_text(code, encoding="utf-8")
    (folder / f"{helper}.py").write_text(
        '"""Counting."""\n\n\ndef share(values):\n    """The mean."""\n    return sum(values) / len(values)\n',
        encoding="utf-8",
    )
    (folder / "requirements.txt").write_text("evaluate\n", encoding="utf-8")
    return folder
