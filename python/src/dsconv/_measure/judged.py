"""Lets the command judge a report: it fills in the verdicts of rows that have costs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence

from dsconv import _command
from dsconv._report import Report


def judged(report: Report, merge: Sequence[Report | str | os.PathLike[str]] = ()) -> Report:
    """The report with verdicts, and with reports of other runs below it. dsconv.Error: the command failed."""
    from dsconv._bench import _file

    with tempfile.TemporaryDirectory(prefix="dsconv-bench-") as scratch:
        out = os.path.join(scratch, "report.json")
        others = [f"--merge={_file(r, scratch, i)}" for i, r in enumerate(merge)]
        _command.run(["bench", "--merge=-", *others, f"--json={out}"], stdin=report.to_json())
        return Report.load(out)
