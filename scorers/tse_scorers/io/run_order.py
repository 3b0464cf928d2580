"""The order of the runs in a results.json, which making it anew keeps."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


def identity_key(identity: Mapping[str, Any]) -> str:
    """Return a key for what a run is about: suite, data, model and revision."""
    return json.dumps(identity, sort_keys=True)


def places_of_runs(results: Path) -> dict[str, int]:
    """Return the place of each run in a results.json, by its key; empty where there is none that can be read."""
    signature: Any = None
    with suppress(OSError, ValueError, AttributeError):
        signature = json.loads(results.read_text(encoding="utf-8")).get("signature")
    models = signature.get("models") if isinstance(signature, dict) else None
    keys = [
        identity_key(each["identity"])
        for each in (models if isinstance(models, list) else ())
        if isinstance(each, dict) and isinstance(each.get("identity"), dict)
    ]
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}
