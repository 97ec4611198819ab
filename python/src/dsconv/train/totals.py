"""The table of whole trainings: seconds of all epochs, speed-ups and accuracy side by side."""

from __future__ import annotations

from collections.abc import Sequence

from dsconv._report import DatasetReport, Report


def totals(report: Report, title: str, published: Sequence[float | None] = ()) -> str:
    """The table as text, with a row for each dataset of the report.

    published are another machine's seconds, by row; None for a row that has none. Without any, the columns for them
    are left out.
    """
    head = [title, "seconds", "times as fast", "images/s", "accuracy"]
    head += ["published s", "times as fast"] if published else []
    rows = [head]
    first = seconds(report.datasets[0])
    for number, dataset in enumerate(report.datasets):
        row = [dataset.path, f"{seconds(dataset):.2f}", f"{first / seconds(dataset):.2f}", f"{rate(dataset):.0f}"]
        row.append("-" if dataset.accuracy is None else f"{dataset.accuracy:.2%}")
        if published:
            row += beside(published, number)
        rows.append(row)
    return "\n".join(aligned(rows))


def seconds(dataset: DatasetReport) -> float:
    """Of all epochs, without the evaluations."""
    return sum(turn.seconds for turn in dataset.rounds)


def rate(dataset: DatasetReport) -> float:
    """Images/s over all epochs."""
    return sum(turn.images for turn in dataset.rounds) / seconds(dataset)


def beside(published: Sequence[float | None], row: int) -> list[str]:
    """The cells of the published seconds and their ratio to those of the first row."""
    there = published[row] if row < len(published) else None
    if there is None or published[0] is None:
        return ["-", "-"]
    return [f"{there:.2f}", f"{published[0] / there:.2f}"]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]
