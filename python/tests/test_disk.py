"""Files that are cut and disks that fail while they are read: errors of samples, and a process that lives."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dsconv
import pytest

PROGRAM = Path(__file__).with_name("disk_program.py")
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
    """The photos in each format, each in a folder of its own."""
    paths = {}
    for name, arguments in NAMES.items():
        folder = tmp_path_factory.mktemp("disk") / "data"
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


def check(results: list[dict], on_error: str, name: str) -> None:
    """Every sample came or is an error that names it."""
    for result in results:
        errors = [*result["single"], *([result["error"]] if result["error"] else [])]
        for error in errors:
            assert any(f"class_{k}" in error or f"class{k}" in error for k in range(3)), f"{name}: {error}"
            assert "panic" not in error, f"{name}: {error}"
        if on_error == "skip" and not result["error"]:
            assert result["seen"] + result["bad"] == SAMPLES, f"{name}: {result}"


@pytest.mark.parametrize("enabled", ["never", "before", "after"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_files_that_are_cut(stored: dict[str, Path], enabled: str, on_error: str) -> None:
    bad = 0
    for name, path in stored.items():
        with program("accidents", enabled, path, on_error, MOMENTS if enabled == "after" else 4) as process:
            out, errors = process.communicate(timeout=300)
            assert process.returncode == 0, f"{name}: {process.returncode}\n{errors}"
        results = json.loads(out)
        check(results, on_error, name)
        bad += sum(r["bad"] + len(r["single"]) for r in results)
    assert bad > 0


def test_reads_that_fail(stored: dict[str, Path], tmp_path: Path) -> None:
    disk = os.environ.get("DSCONV_FAILINGDISK")
    if not disk:
        pytest.skip("DSCONV_FAILINGDISK, a program of the repository, is not there")
    bad = 0
    for number, (name, path) in enumerate(stored.items()):
        mountpoint = tmp_path / f"disk{number}"
        mountpoint.mkdir()
        server = subprocess.Popen(
            [disk, str(path.parent), str(mountpoint)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            if server.stdout.readline() != "mounted\n":
                pytest.skip("no file system can be mounted here")
            on_error = ["skip", "raise"][number % 2]
            with program("failing", "after", mountpoint / path.name, on_error, MOMENTS) as process:
                for line in process.stdout:
                    if line.startswith("["):
                        break
                    server.stdin.write(line)
                    server.stdin.flush()
                    assert server.stdout.readline() == "set\n"
                    process.stdin.write("\n")
                    process.stdin.flush()
                else:
                    raise AssertionError(f"{name}: {process.wait()}\n{process.stderr.read()}")
                assert process.wait(timeout=60) == 0, name
        finally:
            server.stdin.close()
            server.wait(timeout=60)
        results = json.loads(line)
        check(results, on_error, name)
        bad += sum(r["bad"] + len(r["single"]) for r in results)
    assert bad > 0


@pytest.mark.parametrize("enabled", ["before", "after"])
def test_other_memory_is_faulthandlers(stored: dict[str, Path], tmp_path: Path, enabled: str) -> None:
    with program("elsewhere", enabled, stored["raw lmdb"], tmp_path / "file") as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert errors.count("Fatal Python error: Bus error") == 1, errors
    assert "in elsewhere" in errors or "<lambda>" in errors, errors
    if enabled == "before":
        assert process.returncode == -signal.SIGBUS
