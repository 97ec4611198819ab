"""Interleaved measurements and the table of their ratios."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field


@dataclass
class Comparison:
    """dsconv beside a peer at the same work, in seconds, one pair a round."""

    section: str
    ours: str
    theirs: str
    wanted: float  # the least speed of ours, in that of theirs
    our_seconds: list[float] = field(default_factory=list)
    their_seconds: list[float] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """How many times as fast ours was, for each round."""
        return [theirs / ours for ours, theirs in zip(self.our_seconds, self.their_seconds)]

    def ratio(self) -> float:
        return statistics.median(self.ratios())

    def reached(self) -> bool:
        return self.ratio() >= self.wanted

    def to_json(self) -> dict:
        return asdict(self) | {"ratios": self.ratios(), "ratio": self.ratio(), "reached": self.reached()}


def seconds(work: Callable[[], object], fresh: Callable[[], object]) -> float:
    """The time of work, which begins fresh and pays for nobody's unwritten pages but its own."""
    fresh()
    os.sync()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleave(
    c: Comparison, rounds: int, fresh: Callable[[], object], ours: Callable[[], object], theirs: Callable[[], object]
) -> Comparison:
    """Runs ours and theirs in turn, after one turn of each that is not counted."""
    for n in range(rounds + 1):
        pair = seconds(ours, fresh), seconds(theirs, fresh)
        if n > 0:
            c.our_seconds.append(pair[0])
            c.their_seconds.append(pair[1])
    return c


def table(comparisons: list[Comparison]) -> str:
    rows = [("", "dsconv", "beside", "s", "s", "ratio", "of rounds", "wanted", "")]
    for c in comparisons:
        ratios = c.ratios()
        rows.append(
            (
                c.section,
                c.ours,
                c.theirs,
                f"{statistics.median(c.our_seconds):.3f}",
                f"{statistics.median(c.their_seconds):.3f}",
                f"{c.ratio():.2f}",
                f"{min(ratios):.2f}-{max(ratios):.2f}",
                f"{c.wanted:.2f}",
                "reached" if c.reached() else "NOT REACHED",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
