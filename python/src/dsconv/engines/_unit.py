"""The unit of work of all engines, one shard of a plan, and what is done before and after the units."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from typing import Any, Union

from dsconv import _command
from dsconv._errors import Error
from dsconv._pack import PackReport, report_of

Path = Union[str, "os.PathLike[str]"]


def pack(plan: str, shard: int, threads: int = 1) -> int:
    """Packs a shard in a worker and returns its number. A shard that is there already is left as it is.

    The command never outlives this process, not even one that is killed: it stops when its standard input ends, a pipe
    whose other end only this process holds. An exception, such as a cancellation, stops it too.
    """
    arguments = ["shards", "pack", plan, str(shard), f"-j={threads}", "--stop-with-stdin", "--quiet"]
    with subprocess.Popen(
        [_command.path(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        assert process.stderr is not None
        messages = process.stderr.read()  # communicate() would close the standard input
        code = process.wait()
    if code != _command.DONE:
        cause = _command.message(messages) or f"dsconv shards pack ended with exit code {code}"
        raise Error(f"shard {shard} of {count(plan)}: {cause}")
    return shard


def count(plan: str) -> int:
    """The number of the plan's shards."""
    with open(plan, encoding="utf-8") as file:
        return int(json.load(file)["shards"])


def missing(plan: str) -> list[int]:
    """The shards that are not there yet."""
    return [int(line) for line in _command.run(["shards", "missing", plan]).stdout.split()]


def commit(plan: str) -> PackReport:
    """Publishes the dataset, if all shards are there."""
    return report_of(json.loads(_command.run(["shards", "commit", "--json", "--quiet", plan]).stdout))


def engine(module: str, package: str) -> Any:
    """The engine's module. Only those who use an engine have it installed."""
    try:
        return importlib.import_module(module)
    except ImportError as err:
        raise ImportError(f"{module} is not installed here; pip install {package}") from err
