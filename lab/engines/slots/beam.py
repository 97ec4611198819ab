"""Beam on Flink, with a worker process of dsconv-beam for each TaskManager."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flink import JOB_SERVER, Flink


@contextmanager
def started(slots: int) -> Iterator[Callable[[str], object]]:
    engine = Path(os.environ["DSCONV_ENGINE"]).resolve()

    def run(plan: str) -> None:
        runner = ("--runner=flink", f"--endpoint={JOB_SERVER}", f"--parallelism={slots}", "--environment_type=PROCESS")
        subprocess.run([engine / "dsconv-beam", f"--plan={plan}", *runner], check=True, stdout=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        cluster = Flink(Path(folder), engine / "flink", slots)
        try:
            yield run
        finally:
            cluster.stop()
