"""Lets the command judge a report: it fills in the verdicts of rows that have costs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dsconv import _progress, _scratch
from dsconv._report import Report


def judged(
    report: Report,
    merge: Sequence[Report | str | os.PathLike[str]] = (),
    advise: bool | None = False,
    drawn: bool = False,
) -> Report:
    """The report with verdicts, and with reports of other runs below it. dsconv.Error: the command failed.

    With advise, ways to pack are tried for its DataLoader; None: if a row of dsconv.Loader has native transforms.
    drawn shows the progress of that."""
    if advise is None:
        advise = any("augment" in (row.settings or {}) for row in report.datasets[1:])
    with _scratch.scratch("bench") as scratch:
        out = os.path.join(scratch, "report.json")
        others = [f"--merge={report_file(r, scratch, i)}" for i, r in enumerate(merge)]
        arguments = [
            "bench",
            "--merge=-",
            *others,
            f"--json={out}",
            *(["--advise", "--progress=json"] if advise else []),
        ]
        _progress.run_command(arguments, "step", "pack", drawn, stdin=report.to_json())
        return Report.load(out)


def report_file(report: Report | str | os.PathLike[str], scratch: str, i: int) -> str:
    """The path of a report's file; a Report is written to scratch first."""
    if not isinstance(report, Report):
        return os.fspath(report)
    file = Path(scratch, str(i), "report.json")
    file.parent.mkdir()
    named = Report(**{**vars(report), "source": report.source or f"merged {i + 1}"})
    named.save(file)
    return str(file)
