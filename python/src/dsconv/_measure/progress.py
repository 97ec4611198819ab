"""Shows the turns of a bench: as a bar, or as the lines of ``--progress json``."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Iterator
from typing import Any, Callable

from dsconv._progress import Bar

from .turns import Turn


@contextlib.contextmanager
def shown(drawn: bool) -> Iterator[Callable[[Turn], None] | None]:
    """A function that shows turns in a bar; None if nothing is to be drawn."""
    if not drawn:
        yield None
        return
    bars: list[Bar] = []

    def show(turn: Turn) -> None:
        if not turn.total:  # a trial of other settings, of which nobody knows how many there will be
            return
        if not bars:
            bars.append(Bar("bench", turn.total, "turn"))
        bars[0].show(turn.done, f"{turn.name}: {turn.images_per_second:.0f} images/s")

    try:
        yield show
    finally:
        for bar in bars:
            bar.close()


def write_line(turn: Turn) -> None:
    """Writes a line of JSON to standard error, with the keys of the command's own lines."""
    values: dict[str, Any] = dataclasses.asdict(turn)
    values["dataset"] = values.pop("name")
    del values["rounds"]
    print(json.dumps(values), file=sys.stderr, flush=True)
