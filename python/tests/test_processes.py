"""Forks, signals, threads and abandoned loops, each in a separate process, where a hang is a failure."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import dsconv
import pytest

PROGRAM = Path(__file__).with_name("scenarios")
PACKAGES = Path(dsconv.__file__).parents[1]
WITHOUT_ITS_LIKE = not sys.platform.startswith("linux")


def run(scenario: str, *arguments: object, status: int = 0, options: tuple[str, ...] = (), imports: str = "") -> str:
    """The output of a scenario. It must end with this status, and write to stderr only if it must fail."""
    process = subprocess.Popen(
        [sys.executable, *options, str(PROGRAM), scenario, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "SCENARIO_IMPORTS": imports, "PYTHONFAULTHANDLER": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=600)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it forked, too
    assert process.returncode == status, f"{scenario}: exit status {process.returncode}\n{errors}"
    if status == 0:
        quiet = [line for line in errors.splitlines() if "use of fork() may lead to deadlocks" not in line]
        assert not [line for line in quiet if "Warning" in line or "Error" in line or "Exception" in line], errors
    return out


pytestmark = pytest.mark.skipif(WITHOUT_ITS_LIKE, reason="threads and files are counted in Linux's /proc")


@pytest.mark.parametrize("scenario", ["fork_after_use", "fork_during_epoch", "fork_in_thread", "start_methods"])
def test_forked_processes_load_the_same_batches(scenario: str, packed: Path) -> None:
    run(scenario, packed)


@pytest.mark.parametrize("scenario", ["interrupt_slow_transform", "interrupt_body", "interrupt_anywhere"])
def test_ctrl_c_ends_a_loop_and_another_one_works(scenario: str, packed: Path) -> None:
    run(scenario, packed)


def test_ctrl_c_does_not_wait_for_a_batch(command: str, tmp_path: Path) -> None:
    subprocess.run(
        [command, "synth", str(tmp_path / "large"), "--n=2", "--classes=1", "--size=2000x1500", "--quiet"], check=True
    )
    subprocess.run([command, "pack", str(tmp_path / "large"), str(tmp_path / "large.lmdb"), "--quiet"], check=True)
    run("interrupt_slow_batch", tmp_path / "large.lmdb")


def test_ctrl_c_that_nobody_catches_ends_the_process(packed: Path) -> None:
    run("interrupt_main", packed, status=-signal.SIGINT)


def test_other_signals_do_what_they_did(packed: Path) -> None:
    run("other_signals", packed)
    run("many_signals", packed)
    run("terminate", packed, status=-signal.SIGTERM)
    run("crash", packed, status=-signal.SIGSEGV)


@pytest.mark.parametrize("scenario", ["exception_in_loop", "abandoned", "kept_batches", "concurrent"])
def test_loops_may_be_left_and_shared(scenario: str, packed: Path) -> None:
    run(scenario, packed)


def test_the_interpreter_ends_while_loaders_run(packed: Path) -> None:
    assert run("left_at_exit", packed) == "batches at exit: 5\n"
    for _ in range(3):  # each ends at another moment
        run("daemons_at_exit", packed)


@pytest.mark.parametrize("cache", ["", "encoded:16MB", "decoded:16MB"])
def test_epochs_do_not_leak(cache: str, packed: Path) -> None:
    *_, line = run("epochs", packed, cache).splitlines()
    caches = line.split()[1:]
    assert bool(cache) == bool(caches)
    assert not [path for path in caches if Path(path).exists()]


def test_many_loaders_may_be_opened(packed: Path) -> None:
    run("loaders", packed)


def test_python_dev_mode_has_no_warnings(packed: Path) -> None:
    run("tidy", packed, options=("-X", "dev", "-W", "error", "-b"))


@pytest.mark.parametrize("order", [pytest.param("first", marks=pytest.mark.long), "last"])
def test_torch_is_imported_before_or_after(order: str, packed: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run("with_torch", packed, order, imports="torch")
