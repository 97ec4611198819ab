"""What could take the place of a user's loader: the rows of a report from which its advice chooses."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from dsconv._report import DatasetReport, Report

from .rows import Row


def advise(report: Report, rows: Sequence[Row]) -> None:
    """Fills in the report's advice, of which the command chooses and words one. All rows were measured in turns."""
    own = report.datasets[0]
    found = [_candidate(row, own, other) for row, other in zip(rows[1:], report.datasets[1:]) if row.command]
    if found:
        report.advice = {"text": "", "candidates": found}


def faster(a: DatasetReport, b: DatasetReport) -> float:
    """How many times as fast a is as b: the median over the rounds, in which they took turns."""
    ratios = [x.images_per_second / y.images_per_second for x, y in zip(a.rounds, b.rounds) if y.images_per_second]
    return statistics.median(ratios) if ratios else 0.0


def _candidate(row: Row, own: DatasetReport, other: DatasetReport) -> dict[str, Any]:
    seconds, times = statistics.median(r.seconds / r.epochs for r in own.rounds), faster(other, own)
    return {
        "command": row.command,
        "setting": True,
        "lossless": row.lossless,
        "before_seconds": seconds,
        "after_seconds": seconds / times if times else 0.0,
    }
