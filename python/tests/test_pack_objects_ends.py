"""dsconv.pack of datasets of Python is interrupted and killed: nothing is left, and a repeated call has equal bytes."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
import object_datasets as data
import pytest
from object_datasets import Pictures, beside, content, polled

PROGRAM = Path(__file__).with_name("pack_objects_program.py")
MEMORY = Path(__file__).with_name("pack_memory_program.py")
KILLS = int(os.environ.get("DSCONV_KILLS", "10"))
ITEMS = 400

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked for in Linux's /proc"
)


class Run:
    """The program that packs, in a process group of its own."""

    def __init__(self, folder: Path, seconds: float, n: int = ITEMS, **options: Any) -> None:
        self.name, self.log, self.dst = str(folder), folder / "log", folder / "out" / "x.lmdb"
        temporary = folder / "temporary"
        for made in (self.dst.parent, temporary):
            made.mkdir(exist_ok=True)
        self.log.write_bytes(b"")
        arguments = [str(self.dst), str(n), str(seconds), str(self.log), json.dumps(options)]
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments], env={**data.marked(self.name), "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def wait_for_items(self, n: int) -> None:
        """Returns when n items were read, or the program has ended."""
        polled(lambda: self.log.stat().st_size >= n or self.process.poll() is not None)

    def children(self, python: bool) -> list[int]:
        return sorted(c for c in data.children(self.process.pid) if data.is_python(c) == python)

    def end(self) -> tuple[int, str]:
        """The exit status and the messages, once all processes have ended."""
        _, errors = self.process.communicate(timeout=data.LONG)
        polled(lambda: not data.of_mark(self.name))
        return self.process.returncode, errors


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    """Starts runs in a folder; all of their processes end with the test."""
    yield lambda seconds, **options: Run(tmp_path, seconds, **options)
    for pid in data.of_mark(str(tmp_path)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    dst = tmp_path_factory.mktemp("undisturbed") / "x.lmdb"
    dsconv.pack(Pictures(ITEMS), dst, num_workers=0, progress=False)
    return content(dst)


@pytest.mark.parametrize("to", ["group", "parent"])
@pytest.mark.parametrize("how", [("fork", 2), ("spawn", 2), (None, 0)], ids=["fork", "spawn", "here"])
def test_ctrl_c(how: tuple[Any, int], to: str, start: Any, undisturbed: dict[str, bytes]) -> None:
    run = start(0.05, multiprocessing_context=how[0], num_workers=how[1])
    run.wait_for_items(50)
    (os.killpg if to == "group" else os.kill)(run.process.pid, signal.SIGINT)
    status, errors = run.end()
    assert status == -signal.SIGINT and "\nKeyboardInterrupt" in errors, errors
    assert run.log.stat().st_size < ITEMS and "dsconv-worker" not in errors
    assert (run.dst.parent / "x.lmdb.partial").is_dir() and not run.dst.exists()
    report = dsconv.pack(Pictures(ITEMS), run.dst, num_workers=1, multiprocessing_context="fork", progress=False)
    assert report.details["datasets"][0]["resumed"] > 0
    assert content(run.dst) == undisturbed and beside(run.dst) == ["x.lmdb"]


@pytest.mark.parametrize("split", ["none", "train=0.5,val=0.5"])  # of shares: all are collected before one is written
def test_an_iterable_that_is_interrupted_leaves_nothing(split: str, start: Any) -> None:
    run = start(0.05, iterable=True, split=split)
    run.wait_for_items(50)
    os.kill(run.process.pid, signal.SIGINT)
    assert run.end()[0] == -signal.SIGINT
    assert beside(run.dst) == [] and not list((run.dst.parents[1] / "temporary").iterdir())


@pytest.mark.parametrize("split", ["none", "train=0.5,val=0.5"])
def test_what_the_kill_of_an_iterable_leaves_is_no_obstacle(split: str, start: Any) -> None:
    for _ in range(2):
        run = start(0.05, iterable=True, split=split)
        run.wait_for_items(50)
        os.kill(run.process.pid, signal.SIGKILL)
        assert run.end()[0] == -signal.SIGKILL
    run = start(0, iterable=True, split=split)
    assert run.end() == (0, "") and beside(run.dst) == ["x.lmdb"]


LATER = [0, *(pytest.param(seconds, marks=pytest.mark.long) for seconds in (0.05, 0.2))]


@pytest.mark.parametrize("later", LATER)  # any end is right
def test_ctrl_c_once_all_samples_are_sent(later: float, start: Any) -> None:
    how = {"n": 20_000, "iterable": True, "split": "train=0.5,val=0.5"}
    run = start(0, **how)
    run.wait_for_items(20_000)
    time.sleep(later)
    with contextlib.suppress(ProcessLookupError):
        os.kill(run.process.pid, signal.SIGINT)
    run.end()
    assert beside(run.dst) in ([], ["x.lmdb.partial"], ["x.lmdb"])
    if not run.dst.exists():
        assert start(0, **how).end() == (0, "") and beside(run.dst) == ["x.lmdb"]


def killed(run: Run, whom: str) -> bool:
    """Kills one or several of the run's processes. False if they had ended."""
    victims = {
        "parent": lambda: [run.process.pid],
        "worker": lambda: run.children(True)[:1],
        "both": lambda: [*run.children(True)[-1:], run.process.pid],
        "program": lambda: run.children(False),
    }[whom]()
    for pid in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(victims)


@pytest.mark.long
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_kills_at_random_moments(method: str, start: Any, undisturbed: dict[str, bytes]) -> None:
    draw = random.Random(KILLS)
    shared = set(os.listdir("/dev/shm"))
    kills = resumes = whole = 0
    while kills < KILLS or not whole:
        last = kills >= KILLS
        run = start(0.002, multiprocessing_context=method, num_workers=2)
        run.wait_for_items(ITEMS if last else draw.randrange(150))
        kills += not last and killed(run, draw.choice(["parent", "worker", "both", "program"]))
        status, errors = run.end()
        resumes += status == 0 and run.log.stat().st_size < ITEMS
        assert not last or status == 0, errors
        if run.dst.exists():
            report = run.dst.with_name("x.lmdb.report.csv")
            if status != 0:  # killed once the dataset was there, before the report of an earlier run was removed
                report.unlink(missing_ok=True)
            assert content(run.dst) == undisturbed and beside(run.dst) == ["x.lmdb"], errors
            whole += 1
            for path in sorted(run.dst.rglob("*"), reverse=True):
                path.unlink()
            run.dst.rmdir()
    temporary = [p.name for p in (run.dst.parents[1] / "temporary").iterdir()]
    assert not temporary
    polled(lambda: not set(os.listdir("/dev/shm")) - shared)  # those of other programs come and go
    print(f"{kills} kills, {whole} datasets, {resumes} of them resumed")


@pytest.mark.long
def test_memory_stays_flat(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(MEMORY), str(tmp_path / "x.tar"), "200000"], env=data.marked(str(tmp_path)),
        stdout=subprocess.PIPE, text=True, timeout=data.LONG, check=True,
    )  # fmt: skip
    early, late = json.loads(done.stdout)
    assert all(b - a < 50 << 20 for a, b in zip(early, late)), f"{early} {late}"
