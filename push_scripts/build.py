"""Build the data sets as Parquet: `OUT/<name>/<config>/<split>.parquet`.

python push_scripts/build.py [NAME ...] [--source DIR] [--download] [--out DIR]
"""

import argparse
import sys
from pathlib import Path

from builders import NAMES, SourceMissing, build

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the data sets as Parquet.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of: {', '.join(NAMES)}")
    parser.add_argument("--source", type=Path, help="folder with the files of other projects")
    parser.add_argument("--download", action="store_true", help="fetch these files, into --source or a cache")
    parser.add_argument("--out", type=Path, default=ROOT / "datasets", help="default: datasets/")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(NAMES)):
        parser.error(f"no data set named {', '.join(unknown)}; choose from: {', '.join(NAMES)}")
    for name in options.names or NAMES:
        try:
            for path in build(name, options.source, options.out, options.download):
                print(f"{path}  {path.stat().st_size:,} bytes")
        except SourceMissing as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            if options.names:
                return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
