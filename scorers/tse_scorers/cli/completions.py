"""What a shell offers for a name after <Tab>, once `tse --install-completion` was run."""

from ..io.bundle import bundle_folder


def models() -> list[str]:
    """Return the names of the bundled models; a shell offers files where none of them fits."""
    return sorted(path.name for path in bundle_folder("models").iterdir() if path.is_dir())


def pair_sets() -> list[str]:
    """Return the names of the sets of minimal pairs."""
    from ..suites.minimal_pairs.registry import set_names

    return set_names()


def datasets() -> list[str]:
    """Return the names of the data sets of agreement, and of the sets of minimal pairs."""
    from ..suites.agreement.data.tables import NAMES

    return sorted({*NAMES, *pair_sets()})
