"""Nothing is printed when the interpreter ends, whatever of dsconv's is alive then, in all versions of Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dsconv
import pytest

PROGRAM = Path(__file__).with_name("ending_program.py")
PLACES = ("globals", "contextlib", "os", "sys", "threading", "codecs", "signal", "thread", "looping", "fork")
PYTHONS = os.environ.get("DSCONV_PYTHONS", "").split()


@pytest.mark.long
@pytest.mark.parametrize("python", [sys.executable, *PYTHONS])
@pytest.mark.parametrize("place", [*PLACES, "torch"])
def test_the_end_is_quiet(place: str, python: str, packed: Path, tmp_path: Path) -> None:
    if place == "torch":
        if python in PYTHONS:
            pytest.skip("torch is not installed there")
        pytest.importorskip("torch", reason="torch is not installed")
    (tmp_path / "dsconv").symlink_to(Path(dsconv.__file__).parent)  # alone: the packages beside it are of one Python
    done = subprocess.run(
        [python, "-W", "ignore", str(PROGRAM), str(packed), place],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
