"""`tse power`: how many units a study needs to detect a difference.

How much units differ is known from two systems in an earlier run (a pilot), or given. See `statistics/power.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...report.inputs import read_runs
from ...statistics.differences import minimum_detectable_difference
from ...statistics.estimate import MIN_RELIABLE_UNITS
from ...statistics.power import Components, fewest_clusters, power
from .paired_scores import paired

LEMMAS = (10, 20, 50, 100, 200, 500, 1000)
"""Numbers of lemmas to try where lemmas (for TSE: verbs) vary."""
_N_NAMED = 10
"""Groups that an error names."""


@dataclass(frozen=True)
class Pilot:
    """How much the difference of two systems varies between units.

    Attributes:
        about: what rows say about it: suite, measure, group, systems, unit.
        components: variances between units; of a single kind of unit, only the first one.
        n_units: units of the pilot run; None without one.
        n_effective: effective number of them, of the smaller kind where two cross.
        n_lemmas: lemmas (for TSE: verbs) that vary in it; None with a single kind of unit.
        detectable: the least true difference that the pilot run detects with 80 % power; None without a run or
            variance. Above 1, it is more than any difference.
        crossed: whether lemmas (for TSE: verbs) vary as well.
    """

    about: Mapping[str, object]
    components: Components
    n_units: int | None = None
    n_lemmas: int | None = None
    detectable: float | None = None
    crossed: bool = True
    n_effective: float | None = None


def pilots(folders: Sequence[Path], reference: str | None = None, group: str = "all") -> Iterator[Pilot]:
    """Yield each measure of each system with a reference, for one group of results.

    Args:
        folders: output folders of `tse run`.
        reference: see `compare`.
        group: name of a group in results.

    Raises:
        ValueError: two runs are unlike, no group has this name, or no measure is a mean of items.
    """
    names: dict[str, None] = {}
    single_units: dict[str, None] = {}
    is_known = is_planned = False
    for pair in paired(read_runs(folders), reference):
        for group_difference in pair.system.differences(pair.reference):
            names[group_difference.group] = None
            if group_difference.group == group:
                is_known = True
                if group_difference.components is None:
                    single_units[pair.names.measure] = None
                    continue
                is_planned = True
                of_pair, estimate, detectable = (
                    group_difference.components,
                    group_difference.difference.estimate,
                    None,
                )
                if any(of_pair):
                    detectable = minimum_detectable_difference(estimate.se, estimate.df)
                yield Pilot(
                    pair.names._asdict() | {"group": group_difference.group, "unit": estimate.unit}, of_pair,
                    estimate.n_units, estimate.n_crossed, detectable, estimate.n_crossed is not None,
                    estimate.n_effective,
                )  # fmt: skip
    if not is_known:
        some = ", ".join(list(names)[:_N_NAMED]) + (", …" if len(names) > _N_NAMED else "")
        groups = (
            f"choose a group of results: {some}"
            if names
            else "no two models scored the same items; run a second model"
        )
        raise ValueError(f"There is no difference for the group {group!r}; {groups}.")
    if single_units and not is_planned:
        raise ValueError(
            f"The power for {', '.join(single_units)} cannot be computed: these runs have a single unit, and "
            "nothing says how much units differ. Run both models on more of the data."
        )


def given(clusters: float, lemmas: float, cells: float) -> Pilot:
    """Return a pilot from standard deviations; without any for lemmas and cells, clusters are the only units.

    Raises:
        ValueError: a standard deviation is negative, or all are 0.
    """
    deviations = (clusters, lemmas, cells)
    if min(deviations) < 0 or not any(deviations):
        raise ValueError(
            f"The standard deviations are {', '.join(f'{sd:g}' for sd in deviations)}; expected numbers from 0 up, "
            "at least one above 0. Give those of the difference between two models, for instance --sd-clusters 0.05."
        )
    crossed = bool(lemmas or cells)
    unit = "clusters x lemmas" if crossed else "clusters"
    components = Components(*(sd**2 for sd in deviations))
    return Pilot({"unit": unit}, components, crossed=crossed)


def designs(
    pilot: Pilot, difference: float, lemmas: Sequence[int] = LEMMAS, target: float = 0.8
) -> list[dict[str, object]]:
    """Return one row per number of lemmas: how many units detect a difference; None where no number does.

    Units are of equal size, and at least 4, because fewer give no reliable interval. None also for a pilot without
    variance, in which all units differ alike: it does not say how much other units would vary.

    Args:
        pilot: what is known about the variances.
        difference: the true difference to detect, 0 to 1.
        lemmas: numbers of lemmas to try, where they vary.
        target: the required power, 0 to 1.

    Raises:
        ValueError: the difference, the power or a number of lemmas is out of range.
    """
    _check(difference, lemmas, target)
    own_number = () if pilot.n_lemmas is None else (pilot.n_lemmas,)
    tried: list[int | None] = [*sorted({*lemmas, *own_number})] if pilot.crossed else [None]
    variances = dict(zip(("var_units", "var_lemmas", "var_cells"), pilot.components, strict=True))
    about = {**pilot.about, "difference": difference}
    earlier = {
        "pilot_n_units": pilot.n_units,
        "pilot_n_units_effective": pilot.n_effective,
        "pilot_n_lemmas": pilot.n_lemmas,
    }
    rows = []
    for number in tried:
        fewest = None
        if any(pilot.components):
            fewest = fewest_clusters(difference, pilot.components, number, target)
        design: dict[str, object] = {"n_lemmas": number, "n_units": None, "power": None}
        if fewest is not None:
            n_units = max(fewest, MIN_RELIABLE_UNITS)
            design |= {"n_units": n_units, "power": power(difference, pilot.components, n_units, number)}
        rows.append({**about, **design, **variances, **earlier, "pilot_detectable": pilot.detectable})
    return rows


def _check(difference: float, lemmas: Sequence[int], target: float) -> None:
    if not 0 < difference < 1:
        raise ValueError(
            f"The difference is {difference:g}; expected a number between 0 and 1, as scores are: 0.02 is two points."
        )
    if not 0.05 < target < 1:
        raise ValueError(f"The power is {target:g}; expected a number between 0.05 and 1, for instance 0.8.")
    if not lemmas or min(lemmas) < 2:
        raise ValueError(f"The numbers of lemmas are {list(lemmas)}; expected whole numbers from 2 up.")
