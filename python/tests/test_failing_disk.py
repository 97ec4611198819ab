"""Truncated files and disks that fail during reads: samples have errors, and the process does not crash."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dsconv
import pytest

PROGRAM = Path(__file__).with_name("failing_disk_program.py")
PACKAGES = Path(dsconv.__file__).parents[1]
MOMENTS = 20
SAMPLES = 48

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="SIGBUS is handled on Linux alone")

NAMES = {
    "lmdb": ["x.lmdb"],
    "raw lmdb": ["x.lmdb", "--encode=raw"],
    "hdf5": ["x.h5"],
    "raw hdf5": ["x.h5", "--encode=raw"],
    "tar": ["x.tar"],
    "tfrecord": ["x.tfrecord"],
    "folder": [],
}


@pytest.fixture(scope="module")
def stored(command: str, photos: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The photos in each format, each in a separate folder."""
    paths, disk = {}, tmp_path_factory.mktemp("disk")
    for name, arguments in NAMES.items():
        folder = disk / name.replace(" ", "-")
        folder.mkdir()
        if not arguments:
            paths[name] = folder / "images"
            subprocess.run(["cp", "-r", str(photos), str(paths[name])], check=True)
            continue
        paths[name] = folder / arguments[0]
        subprocess.run([command, "pack", str(photos), str(paths[name]), *arguments[1:], "--quiet"], check=True)
    return paths


@contextlib.contextmanager
def program(*arguments: object) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "PYTHONFAULTHANDLER": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def check(output: str, on_error: str) -> None:
    """Asserts that each sample was read or has an error that names it, and that both occur."""
    bad = 0
    for name, result in ((name, result) for name, results in json.loads(output).items() for result in results):
        bad += result["bad"] + len(result["single"])
        errors = [*result["single"], *([result["error"]] if result["error"] else [])]
        for error in errors:
            # A sample whose key cannot be read either is named by its number.
            assert re.search(r"\w+/0000\d\d|sample \d+.* cannot be read", error), f"{name}: {error}"
            assert "panic" not in error, f"{name}: {error}"
        if on_error == "skip" and not result["error"]:
            assert result["seen"] + result["bad"] == SAMPLES, f"{name}: {result}"
    assert bad > 0


@pytest.mark.long
@pytest.mark.parametrize("enabled", ["never", "before", "after"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_files_that_are_cut(stored: dict[str, Path], tmp_path: Path, enabled: str, on_error: str) -> None:
    moments = MOMENTS if enabled == "after" else 4
    paths = ":".join(map(str, stored.values()))
    with program("accidents", enabled, on_error, moments, tmp_path / "cut", paths) as process:
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, f"{process.returncode}\n{errors}"
    check(out, on_error)


@pytest.mark.parametrize("on_error", ["raise", pytest.param("skip", marks=pytest.mark.long)])
def test_reads_that_fail(stored: dict[str, Path], tmp_path: Path, on_error: str) -> None:
    disk = os.environ.get("DSCONV_FAILINGDISK")
    if not disk:
        pytest.skip("DSCONV_FAILINGDISK, a program of the repository, is not there")
    mountpoint = tmp_path / "mounted"
    mountpoint.mkdir()
    source = next(iter(stored.values())).parents[1]
    paths = ":".join(str(mountpoint / path.relative_to(source)) for path in stored.values())
    with subprocess.Popen(
        [disk, str(source), str(mountpoint)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        if server.stdout.readline() != "mounted\n":
            pytest.skip("no file system can be mounted here")
        with program("failing", "after", on_error, MOMENTS, paths) as process:
            for line in process.stdout:
                if line.startswith("{"):
                    break
                server.stdin.write(line)
                server.stdin.flush()
                assert server.stdout.readline() == "set\n"
                process.stdin.write("\n")
                process.stdin.flush()
            else:
                raise AssertionError(f"{process.wait()}\n{process.stderr.read()}")
            assert process.wait(timeout=300) == 0
        server.stdin.close()
    check(line, on_error)


@pytest.mark.long
@pytest.mark.parametrize("enabled", ["before", "after"])
def test_faulthandler_gets_other_memory_errors(stored: dict[str, Path], tmp_path: Path, enabled: str) -> None:
    with program("elsewhere", enabled, stored["raw lmdb"], tmp_path / "file") as process:
        _, errors = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGBUS
    assert errors.count("Fatal Python error: Bus error") == 1, errors
    assert "in elsewhere" in errors or "<lambda>" in errors, errors
