"""What a shell offers for a name after <Tab>, once `tse --install-completion` was run."""

from ..io.bundle import bundle_folder


def models() -> list[str]:
    """Return the names of the bundled models; a shell offers files where none of them fits."""
    return sorted(path.name for path in bundle_folder("models").iterdir() if path.is_dir())


def datasets() -> list[str]:
    """Return the names of the data of all suites."""
    from ..suites.registry import built_in_options

    return sorted({name for options in built_in_options().values() for name in options.data_names()})
