"""What must hold between a data set's card and its files."""

from pathlib import Path

import pyarrow.parquet as pq
import yaml

from builders import NAMES


def read_card(folder: Path) -> dict:
    """The YAML block at the head of a README."""
    _, header, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header)


def check_card(folder: Path, tables: dict) -> None:
    """The card's configs, features, row counts and sizes against built tables `{config: {split: table}}`."""
    assert folder.name in NAMES
    card = read_card(folder)
    assert {"language", "license", "pretty_name", "size_categories", "task_categories", "tags"} <= set(card)
    files = {
        (config["config_name"], entry["split"]): entry["path"]
        for config in card["configs"]
        for entry in config["data_files"]
    }
    assert files == {(name, split): f"{name}/{split}.parquet" for name in tables for split in tables[name]}
    for info in card["dataset_info"]:
        splits = tables[info["config_name"]]
        for split in info["splits"]:
            table = splits[split["name"]]
            assert table.num_rows == split["num_examples"]
            features = [(field.name, str(field.type)) for field in table.schema]
            names = {"double": "float64", "float": "float32"}  # Arrow's names for them
            assert [(f["name"], f["dtype"]) for f in info["features"]] == [
                (name, names.get(dtype, dtype)) for name, dtype in features
            ]
            path = folder / info["config_name"] / f"{split['name']}.parquet"
            if path.exists():
                assert pq.read_schema(path).equals(table.schema)
        assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"])
    assert {info["config_name"] for info in card["dataset_info"]} == set(tables)
