"""The library's start where something is missing: an error that says what, never the end of the process or a loop."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dsconv
import numpy as np
import pytest
from dsconv import _library

LIMITED = """
import os, resource
from dsconv import _library
import dsconv
resource.setrlimit({limit}, ({value}, {value}))
if os.getuid() == 0 and {limit} == resource.RLIMIT_NPROC:
    os.setgroups([])
    os.setresuid(45678, 45678, 45678)  # root has no limit
try:
    _library.library()
except dsconv.Error as err:
    print(err)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limits are Linux's")
@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("resource.RLIMIT_AS", 1 << 30, "MiB of address space, and the process has less"),
        ("resource.RLIMIT_AS", 2 << 30, "MiB of address space, and the process has less"),
        ("resource.RLIMIT_NPROC", 1, "threads, and the process can start"),
        ("resource.RLIMIT_NPROC", 4, "threads, and the process can start"),
    ],
)
def test_a_limit_is_named(limit: str, value: int, message: str) -> None:
    path = {**os.environ, "PYTHONPATH": str(Path(dsconv.__file__).parents[1]), "OPENBLAS_NUM_THREADS": "1"}
    code = LIMITED.format(limit=limit, value=value)
    done = subprocess.run([sys.executable, "-c", code], env=path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and message in done.stdout, done.stdout + done.stderr


def test_a_library_that_becomes_shorter_while_it_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sendfile", lambda out, source, offset, count: 0)
    with pytest.raises(dsconv.Error, match="became shorter while it was read"):
        _library._open_copy()


@pytest.mark.parametrize("keep", [0, 10, 63, 64, 5000, -1])
def test_a_damaged_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: int) -> None:
    cut = tmp_path / "cut.so"
    cut.write_bytes(_library.path().read_bytes()[:keep])
    monkeypatch.setenv("DSCONV_LIBRARY", str(cut))
    for load in (_library._open, _library._open_copy):
        with pytest.raises(dsconv.Error, match="is not whole|cannot be loaded"):
            load()


@pytest.mark.parametrize("size", [0, 1, 100, 4096])
def test_targets_stay_after_the_file_was_cut(packed: Path, tmp_path: Path, size: int) -> None:
    copy = tmp_path / "cut.lmdb"
    shutil.copytree(packed, copy)
    dataset = dsconv.Dataset(copy)
    targets, want = dataset.targets, dsconv.Dataset(packed).targets.tolist()
    assert not targets.flags.writeable and targets.dtype == np.int64
    os.truncate(copy / "index", size)
    assert targets.tolist() == dataset.targets.tolist() == want
    dataset.close()
    assert targets.tolist() == want
