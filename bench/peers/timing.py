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
    wanted: float | None  # the least speed of ours, in that of theirs; None if there is no goal
    our_seconds: list[float] = field(default_factory=list)
    their_seconds: list[float] = field(default_factory=list)

    def ratios(self) -> list[float]:
        """How many times as fast ours was, for each round."""
        return [theirs / ours for ours, theirs in zip(self.our_seconds, self.their_seconds)]

    def ratio(self) -> float:
        return statistics.median(self.ratios())

    def reached(self) -> bool | None:
        return None if self.wanted is None else self.ratio() >= self.wanted

    def to_json(self) -> dict:
        return asdict(self) | {"ratios": self.ratios(), "ratio": self.ratio(), "reached": self.reached()}


@dataclass
class Figure:
    """What dsconv reaches by itself, a value a round."""

    section: str
    name: str
    unit: str
    wanted: float
    at_most: bool = False  # of wanted: the largest value, not the smallest
    values: list[float] = field(default_factory=list)
    details: list = field(default_factory=list)  # what the values are made of, for the record

    def value(self) -> float:
        return statistics.median(self.values)

    def reached(self) -> bool:
        return self.value() <= self.wanted if self.at_most else self.value() >= self.wanted

    def to_json(self) -> dict:
        return asdict(self) | {"value": self.value(), "reached": self.reached()}


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
        times = f"{statistics.median(c.our_seconds):.4g}", f"{statistics.median(c.their_seconds):.4g}"
        wanted = "-" if c.wanted is None else f"{c.wanted:.2f}", verdict(c.reached())
        rows.append((c.section, c.ours, c.theirs, *times, f"{c.ratio():.2f}", spread(c.ratios()), *wanted))
    return aligned(rows)


def figures_table(figures: list[Figure]) -> str:
    rows = [("", "dsconv", "", "median", "of rounds", "wanted", "")]
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
