"""Build the data sets as Parquet: `DIR/<name>/<config>/<split>.parquet`.

    python push_scripts/build_datasets.py [NAME ...] [--source DIR] [--download] [--out DIR]

Every name in `builders.NAMES` is a module with `build(source)`, which returns `{config: {split: table}}`. `source` is a
folder with the upstream files that the data set is made from, or None. A builder that needs such files and does not
find them raises `builders.SourceMissing`, which says where they come from. It lists them in `UPSTREAM`; `--download`
fetches these, pinned by commit and verified by checksum.
"""

import argparse
import importlib
import sys
from pathlib import Path

import pyarrow.parquet as pq

from builders import NAMES, SourceMissing, upstream

ROOT = Path(__file__).resolve().parent.parent


def build(name: str, source: Path | None, out: Path, download: bool = False) -> list[Path]:
    """Build one data set and return the files written; `download` first fetches the upstream files."""
    builder = importlib.import_module(f"builders.{name}")
    files = getattr(builder, "UPSTREAM", ())
    if download and files:
        source = source or upstream.cache()
        upstream.download(files, source)
    configs = builder.build(source)
    written = []
    for config, splits in configs.items():
        for split, table in splits.items():
            path = out / name / config / f"{split}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            # Without metadata of pandas or pyarrow, in one row group, the same table always gives the same bytes.
            pq.write_table(
                table.replace_schema_metadata(None),
                path,
                compression="zstd",
                compression_level=19,
                row_group_size=max(table.num_rows, 1),
            )
            written.append(path)
            print(f"{path}  {table.num_rows:,} rows  {path.stat().st_size:,} bytes")
    return written


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Build the data sets as Parquet.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of: {', '.join(NAMES)}")
    parser.add_argument("--source", type=Path, help="folder with the upstream files")
    parser.add_argument(
        "--download",
        action="store_true",
        help="fetch the pinned upstream files into --source (default: the user's cache)",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "datasets", help="default: datasets/")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"no data set named {', '.join(unknown)}; choose from: {', '.join(NAMES)}")
    if options.source is not None and not options.source.is_dir():
        parser.error(f"--source {options.source} is not a folder")
    for name in options.names or NAMES:
        try:
            build(name, options.source, options.out, options.download)
        except SourceMissing as error:
            if options.names:
                print(f"{name}: {error}", file=sys.stderr)
                return 2
            print(f"{name}: skipped ({error})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
