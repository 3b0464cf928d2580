"""What files of others may ask for: only what the user's own command grants.

A `results.json` names models, files and options. Its checksum has no key, so anybody can have written it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..io import limits
from ..models.options import Option, OptionError
from .recipe import TABLES, named_files, named_texts, paths_in


@dataclass(frozen=True)
class Granted:
    """What a command grants to the files that it reads.

    Attributes:
        trust_remote_code: a model that is named there may run Python code of its repository.
        files: folders, and files, that may be read.
    """

    trust_remote_code: bool = False
    files: Sequence[Path | str] = ()

    def require_model(self, name: str, who: str) -> None:
        """Raise ValueError unless a model may be loaded; one on the Hub and a bundled one may.

        Args:
            name: of the model.
            who: names it, for the message.
        """
        for path in [Path(name)] if os.path.lexists(name) else paths_in(name):
            self.require_file(path, who)

    def require_options(self, options: Mapping[str, object], who: str) -> None:
        """Raise ValueError where an option names a file or folder that may not be read."""
        for option, text in named_texts(options):
            if "://" in text:
                raise ValueError(
                    f"{who} names the address {text:.100} ({option}); expected names of data, or files in a folder "
                    "that is named with --files. Run `tse run` yourself with that address."
                )
        for option, path in named_files(options):
            self.require_file(path, f"{who} ({option})")

    def require_file(self, path: Path, who: str) -> None:
        """Raise ValueError unless a file, or all that is in a folder, is below one of `files`, also through links."""
        roots = [Path(root).resolve() for root in self.files]
        for place in (path, *_below(path, roots)):
            target = Path(os.path.realpath(place))
            if not any(target.is_relative_to(root) for root in roots):
                leads = f" (a link to {target})" if place.is_symlink() else ""
                raise OptionError(
                    f"{who} names {place}{leads}, which your command does not; only files in folders that you "
                    "name are read. If it should be, add "
                    f"{Option('files', str(path.parent if path.is_file() else path))} to your command."
                )


def _below(folder: Path, roots: Sequence[Path]) -> Iterator[Path]:
    """Yield what is in a folder, if that is below a root; raises ValueError where it is too much."""
    if not folder.is_dir() or not any(Path(os.path.realpath(folder)).is_relative_to(root) for root in roots):
        return
    n_files = n_bytes = 0
    for place, folders, files in os.walk(folder):
        n_files += len(folders) + len(files)
        n_bytes += sum(os.lstat(Path(place, file)).st_size for file in files if file.endswith(TABLES))
        if n_files > limits.SOURCE_FILES or n_bytes > limits.SOURCE_BYTES:
            raise ValueError(
                f"{folder} holds more than {limits.SOURCE_FILES:,} files, or tables of more than "
                f"{limits.shown_bytes(limits.SOURCE_BYTES)}; expected the data of one run. Name the folder of the data."
            )
        yield from (Path(place, name) for name in (*folders, *files) if os.path.islink(Path(place, name)))
