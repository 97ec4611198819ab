"""Interleaved measurements and the table of their ratios."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field


@dataclass
class Comparison:
    """The seconds of dsconv and of a peer for the same work, one pair for each round."""

    section: str
    ours: str
    theirs: str
    wanted: float | None  # minimum of our speed / their speed; None for no goal
    our_seconds: list[float] = field(default_factory=list)
    their_seconds: list[float] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """Our speed / their speed, for each round."""
        return [theirs / ours for ours, theirs in zip(self.our_seconds, self.their_seconds)]

    def ratio(self) -> float:
        return statistics.median(self.ratios())

    def reached(self) -> bool | None:
        return None if self.wanted is None else self.ratio() >= self.wanted

    def to_json(self) -> dict:
        return asdict(self) | {"ratios": self.ratios(), "ratio": self.ratio(), "reached": self.reached()}


@dataclass
class Figure:
    """A measurement of dsconv alone, one value for each round."""

    section: str
    name: str
    unit: str
    wanted: float
    at_most: bool = False  # wanted is the maximum, not the minimum
    values: list[float] = field(default_factory=list)
    details: list = field(default_factory=list)  # the measurements behind the values

    def value(self) -> float:
        return statistics.median(self.values)

    def reached(self) -> bool:
        return self.value() <= self.wanted if self.at_most else self.value() >= self.wanted

    def to_json(self) -> dict:
        return asdict(self) | {"value": self.value(), "reached": self.reached()}


def seconds(work: Callable[[], object], fresh: Callable[[], object]) -> float:
    """The time of work, after fresh and a sync, so that it does not write the pages of earlier work."""
    fresh()
    os.sync()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def interleave(
    c: Comparison, rounds: int, fresh: Callable[[], object], ours: Callable[[], object], theirs: Callable[[], object]
) -> Comparison:
    """Runs ours and theirs in turn. The first turn of each is not counted."""
    for n in range(rounds + 1):
        pair = seconds(ours, fresh), seconds(theirs, fresh)
        if n > 0:
            c.our_seconds.append(pair[0])
            c.their_seconds.append(pair[1])
    return c


def table(comparisons: list[Comparison]) -> str:
    rows = [("", "dsconv", "peer", "s", "s", "ratio", "range", "goal", "")]
    for c in comparisons:
        times = f"{statistics.median(c.our_seconds):.4g}", f"{statistics.median(c.their_seconds):.4g}"
        wanted = "-" if c.wanted is None else f"{c.wanted:.2f}", verdict(c.reached())
        rows.append((c.section, c.ours, c.theirs, *times, f"{c.ratio():.2f}", spread(c.ratios()), *wanted))
    return aligned(rows)


def figures_table(figures: list[Figure]) -> str:
    rows = [("", "dsconv", "", "median", "range", "goal", "")]
    for f in figures:
        wanted = f"{'at most ' if f.at_most else ''}{f.wanted:g}", verdict(f.reached())
        rows.append((f.section, f.name, f.unit, f"{f.value():.4g}", spread(f.values), *wanted))
    return aligned(rows)


def spread(values: list[float]) -> str:
    return f"{min(values):.3g}-{max(values):.3g}"


def verdict(reached: bool | None) -> str:
    return {True: "reached", False: "NOT REACHED", None: "no goal"}[reached]


def aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
