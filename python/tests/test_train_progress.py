"""The progress of python -m dsconv.train: what is on the screen, and when nothing is."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from digit_images import write_pngs  # noqa: E402
from dsconv.train import drawn_digits, progress  # noqa: E402
from dsconv.train.__main__ import main  # noqa: E402
from dsconv.train.progress import Progress  # noqa: E402

SUMS = torch.tensor([32.0, 64.0, 8.0], dtype=torch.float64)  # samples, losses, correct


class Clock:
    now = 100.0


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that only the test advances, and the variables of a usual terminal."""
    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    monkeypatch.setenv("TERM", "xterm")
    for variable in ("CI", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    return clock


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, int]]:
    """A pseudo-terminal of 80 columns: its stream for a program, and what reads the screen."""
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w") as stream:
        resize(stream, 80)
        yield stream, reader
    os.close(reader)


def resize(stream: TextIO, columns: int) -> None:
    fcntl.ioctl(stream.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def written(terminal: tuple[TextIO, int]) -> str:
    """What was written, of which a read may return a part."""
    print("\0", end="", file=terminal[0], flush=True)
    found = b""
    while not found.endswith(b"\0"):
        found += os.read(terminal[1], 10_000)
    return found[:-1].decode()


def train(shown: Progress, clock: Clock, steps: int = 4, seconds: float = 1.0) -> None:
    with shown.shows(2, steps):
        for _ in range(steps):
            clock.now += seconds
            shown.step(32, SUMS)


LINE = "images/out.lmdb: epoch 2 of 3, batch {} of 4, 32 images/s, loss 2.000, 0:0{} left"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_line_is_rewritten_and_never_wraps(terminal: tuple[TextIO, int], clock: Clock, columns: int) -> None:
    resize(terminal[0], columns)
    train(Progress("images/out.lmdb", 3, stream=terminal[0]), clock)
    lines = [LINE.format(done, 4 - done)[: columns - 1] for done in (1, 2, 3, 4)]
    assert written(terminal) == "".join(f"\r{line}\x1b[K" for line in lines) + "\r\x1b[K"


def test_a_terminal_of_unknown_width_has_80_columns(terminal: tuple[TextIO, int], clock: Clock) -> None:
    resize(terminal[0], 0)
    train(Progress("d" * 100, 3, stream=terminal[0]), clock, steps=1)
    assert written(terminal) == f"\r{'d' * 79}\x1b[K\r\x1b[K"


def test_steps_between_two_states_show_nothing(terminal: tuple[TextIO, int], clock: Clock) -> None:
    train(Progress("side", 3, stream=terminal[0]), clock, steps=1000, seconds=0.001)
    assert written(terminal).count("batch") == 5  # in a second


def test_an_error_leaves_no_line(terminal: tuple[TextIO, int], clock: Clock) -> None:
    shown = Progress("side", 3, stream=terminal[0])
    with pytest.raises(ZeroDivisionError), shown.shows(1, 5):
        clock.now += 1
        shown.step(32, SUMS)
        raise ZeroDivisionError
    assert written(terminal).endswith("\r\x1b[K")


@pytest.mark.parametrize(("variable", "value"), [("TERM", "dumb"), ("TERM", ""), ("CI", "true"), ("NO_COLOR", "1")])
def test_plain_lines_now_and_then(
    variable: str, value: str, terminal: tuple[TextIO, int], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    train(Progress("side", 3, stream=terminal[0]), clock, steps=40)
    line = "side: epoch 2 of 3, batch 30 of 40, 32 images/s, loss 2.000, 0:10 left\r\n"
    assert written(terminal) == line


def test_a_file_gets_plain_lines(clock: Clock) -> None:
    stream = io.StringIO()
    train(Progress("side", 3, stream=stream, processes=4), clock, steps=3, seconds=1800)
    assert stream.getvalue().splitlines() == [
        "side: epoch 2 of 3, batch 1 of 3, 0 images/s, loss 2.000, 1:00:00 left",
        "side: epoch 2 of 3, batch 2 of 3, 0 images/s, loss 2.000, 30:00 left",
        "side: epoch 2 of 3, batch 3 of 3, 0 images/s, loss 2.000, 0:00 left",
    ]


def test_the_rate_is_of_all_processes_and_a_loss_needs_labels(clock: Clock) -> None:
    stream = io.StringIO()
    shown = Progress("side", 3, stream=stream, processes=4)
    with shown.shows(1, 2, ", evaluation"):
        clock.now += 40
        shown.step(1000, torch.zeros(3))
    assert stream.getvalue() == "side: epoch 1 of 3, evaluation, batch 1 of 2, 100 images/s, 0:40 left\n"


def test_nothing_is_shown_without_being_asked_for(terminal: tuple[TextIO, int], clock: Clock) -> None:
    train(Progress("side", 3, shown=False, stream=terminal[0]), clock)
    print("end", end="", file=terminal[0])
    assert written(terminal) == "end"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("digits")
    write_pngs(root / "images", *drawn_digits.draw(60, seed=0))
    return root / "images"


OPTIONS = "--model mlp --no-augment --epochs 2 --batch-size 10 --num-workers 0 --device cpu".split()


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_the_trainer_shows_it_on_standard_error(
    quiet: list[str], folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def now() -> float:
        clock.now += 40
        return clock.now

    monkeypatch.setattr(progress.time, "monotonic", now)
    assert main(["--after", str(folder), *OPTIONS, *quiet]) == 0
    out, err = capsys.readouterr()
    assert out.count("images: epoch ") == 2 and "batch" not in out.split("\n\n")[0]
    lines = [] if quiet else [f"images: epoch {n} of 2, batch {k} of 6" for n in (1, 2) for k in range(1, 7)]
    assert re.findall(r"images: epoch \d of \d, batch \d of \d", err) == lines


@pytest.mark.long
def test_only_the_first_process_shows_it(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys, itertools, dsconv.train.progress as p; seconds = itertools.count(0, 40)\n"
        "p.time.monotonic = lambda: next(seconds)\n"
        "from dsconv.train.__main__ import main; sys.exit(main(sys.argv[1:]))\n"
    )
    (tmp_path / "run.py").write_text(program)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(tmp_path / "run.py"), "--after", str(folder), *OPTIONS],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = re.findall(r"epoch \d of 2, batch \d of \d", done.stderr)
    assert told == [f"epoch {n} of 2, batch {k} of 3" for n in (1, 2) for k in (1, 2, 3)]
