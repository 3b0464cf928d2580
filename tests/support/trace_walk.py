"""Run `tse` and write calls.json: which of the named functions were called while which others were running.

    python trace_walk.py '{"1": "tse_scorers.cli.app:run", …}' run --data pairs.csv

A class stands for its `__init__`.
"""

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


def code_of(name: str) -> CodeType:
    """Return the code that runs when the named function or class is called."""
    where, _, attribute = name.partition(":")
    if where.startswith("metrics/"):
        from tse_scorers.io.bundle import metric_modules

        _, metric, file = where.removesuffix(".py").split("/")
        found: Any = getattr(metric_modules(metric), file)
    else:
        found = import_module(where)
    for part in attribute.split("."):
        found = getattr(found, part)
    if inspect.isclass(found):
        found = found.__init__ if hasattr(found.__init__, "__code__") else found.__new__
    return inspect.unwrap(found).__code__


def main() -> None:
    """Trace one command."""
    step_of = {code_of(name): int(step) for step, name in json.loads(sys.argv[1]).items()}
    calls: list[tuple[int, list[int]]] = []

    def trace(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code not in step_of:
            return
        running, outer = set(), frame.f_back
        while outer is not None:
            running.add(step_of.get(outer.f_code, 0))
            outer = outer.f_back
        calls.append((step_of[frame.f_code], sorted(running)))

    from tse_scorers.cli import main as tse

    sys.argv = ["tse", *sys.argv[2:]]
    sys.setprofile(trace)
    try:
        tse()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.setprofile(None)
    Path("calls.json").write_text(json.dumps(calls), encoding="utf-8")


if __name__ == "__main__":
    main()
