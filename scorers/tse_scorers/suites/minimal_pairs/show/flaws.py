"""How many of the pairs behind scores are known to be flawed."""

from collections.abc import Collection

from ....report.comparable import listed
from ....report.inputs import Runs
from ....report.tables import count


def flawed_pairs(runs: Runs, configs: Collection[str]) -> list[str]:
    """Say how many pairs of some data are known to be flawed, one sentence for each number and what became of them."""
    systems: dict[str, list[str]] = {}
    for (system, suite, config), signature in runs.signatures.items():
        is_shown = suite == "minimal_pairs" and config in configs
        scored, left_out = (signature.get(key) for key in ("n_flawed", "n_flawed_left_out"))
        if is_shown and scored:
            systems.setdefault(f"{count(scored)} scored pairs are known to be flawed", []).append(system)
        if is_shown and left_out:
            systems.setdefault(f"{count(left_out)} flawed pairs are left out", []).append(system)
    return [f"{what} ({listed(list(dict.fromkeys(names)))})." for what, names in systems.items()]
