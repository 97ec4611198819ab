"""dsconv.Writer: what it writes, and how it ends when a program or a process does."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import object_datasets as data
import pytest
from object_datasets import beside, content, png, polled
from PIL import Image

PROGRAM = Path(__file__).with_name("writer_program.py")
N = 150
BAD = 3  # of them are no images
FORMATS = [("x.lmdb", "k"), ("x.lmdb", None), ("x.h5", None), ("x.h5", "k"), ("x.tar", None), ("x.tfrecord", None)]
IDS = [f"{name}{' keys' if keys else ''}" for name, keys in FORMATS]

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked for in Linux's /proc"
)


def start(dst: Path, name: str = "", **plan: Any) -> subprocess.Popen[str]:
    dst.parent.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(dst), json.dumps(plan)], env=data.marked(name or str(dst)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def end(process: subprocess.Popen[str], name: str, but: int = 0) -> tuple[int, list[int], str]:
    """Exit status, printed numbers and errors of the program, once all but some of its processes have ended."""
    try:
        out, errors = process.communicate(timeout=data.LONG) if not but else ("", process.wait(data.LONG) and "")
        polled(lambda: len(data.of_mark(name)) <= but)
        return process.returncode, [int(line) for line in out.split()], errors
    finally:
        for pid in data.of_mark(name):
            os.kill(pid, signal.SIGKILL)


def run(dst: Path, **plan: Any) -> tuple[int, list[int], str]:
    return end(start(dst, **plan), str(dst))


def with_keys(keys: str | None) -> dict[str, str]:
    return {} if keys is None else {"keys": keys}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The bytes of a dataset that one program has written."""
    found: dict[Any, dict[str, bytes]] = {}

    def get(name: str, keys: str | None) -> dict[str, bytes]:
        if (name, keys) not in found:
            dst = tmp_path_factory.mktemp("undisturbed") / name
            assert run(dst, n=N, **with_keys(keys)) == (0, [0, N - BAD], "")
            found[name, keys] = content(dst)
        return found[name, keys]

    return get


@pytest.mark.parametrize(("name", "keys"), FORMATS, ids=IDS)
def test_a_killed_program_goes_on(name: str, keys: str | None, undisturbed: Any, tmp_path: Path) -> None:
    dst, how = tmp_path / name, {"n": N, "every": 50, **with_keys(keys)}
    assert run(dst, kill_at=70, **how)[:2] == (-signal.SIGKILL, [0])
    status, (resumed,), _ = run(dst, kill_at=120, **how)
    assert status == -signal.SIGKILL and 50 <= resumed <= 71
    status, (resumed, written), errors = run(dst, **how)
    assert (status, written, errors) == (0, N - BAD, "") and 100 <= resumed <= 121
    assert content(dst) == undisturbed(name, keys)
    assert [p for p in beside(dst) if "partial" in p or "items" in p] == []
    read = dsconv.Dataset(dst, fields=("text", "label"))
    assert sorted(read[i] for i in range(N - BAD)) == sorted((f"picture {i}", i % 3) for i in range(N) if i % 50 != 7)


@pytest.mark.parametrize("end_of_it", ["forget", "exit", "raise"])
@pytest.mark.parametrize(("name", "keys"), FORMATS, ids=IDS)
def test_a_program_that_does_not_close(
    name: str, keys: str | None, end_of_it: str, undisturbed: Any, tmp_path: Path
) -> None:
    dst, left = tmp_path / name, int(end_of_it == "raise")  # a process that was forked
    process = start(dst, n=60, every=30, end=end_of_it, **with_keys(keys))
    status, *_ = end(process, str(dst), but=left)
    assert status == {"forget": 0, "exit": 3, "raise": 1}[end_of_it]
    assert not dst.exists() and [p for p in beside(dst) if "partial" in p or "items" in p]
    status, (resumed, written), errors = run(dst, n=N, **with_keys(keys))
    assert (status, written, errors) == (0, N - BAD, "") and 30 <= resumed <= 60
    assert content(dst) == undisturbed(name, keys)


def test_a_process_that_was_forked_ends_nothing(tmp_path: Path) -> None:
    assert run(tmp_path / "x.tar", n=20, end="fork")[:2] == (0, [0, 20])


def test_two_processes_write_parts_that_are_merged(command: str, tmp_path: Path) -> None:
    parts = [tmp_path / "parts" / f"{k}.lmdb" for k in range(2)]
    running = [start(part, n=40, keys=f"{k}-") for k, part in enumerate(parts)]
    for process, part in zip(running, parts):
        assert end(process, str(part)) == (0, [0, 39], "")
    subprocess.run([command, "merge", str(tmp_path / "all.lmdb"), *map(str, parts), "--quiet"], check=True)
    read = dsconv.Dataset(tmp_path / "all.lmdb", fields=("key", "text"))
    want = {f"{k}-{i * 7919 % 10_000:05}": f"picture {i}" for k in range(2) for i in range(40) if i != 7}
    assert dict(read[i] for i in range(len(read))) == want


@pytest.fixture
def no_process() -> Iterator[None]:
    """The test leaves no process."""
    before = data.children()
    yield
    assert data.children() <= before


@pytest.mark.usefixtures("no_process")
def test_fields_are_those_of_the_first_sample(tmp_path: Path) -> None:
    with dsconv.Writer(tmp_path / "x.lmdb", classes=["cat", "dog"]) as w:
        w.write(image=png(0), label="dog", score=0.5, caption="first", meta={"a": [1, None]}, key="b")
        for wrong, why in [
            ({"image": png(1), "label": "cow"}, "field label: 'cow' is none of the 2 classes"),
            ({"image": np.zeros((4, 4, 3), np.uint8), "label": "cat", "score": 1}, "field image: it is pixels"),
            ({"label": "cat", "score": 1}, "field image: it has no image"),
            ({"image": png(1), "label": "cat", "score": 1, "more": 1}, "it has 'more', which the first"),
            ({"image": png(1), "label": "cat", "score": 1, "meta": {1, 2}}, "field meta: .* cannot be JSON"),
            ({"image": png(1), "label": "cat", "score": 1, "caption": 5}, "field caption: 5 is no text"),
            ({"image": str(tmp_path / "nowhere.png"), "label": "cat", "score": 1}, "field image: .*No such file"),
            ({"image": png(1), "label": 0, "score": 1, "key": 7}, "key=7: it must be a text"),
            ({"image": png(1), "label": 0, "score": 1, "key": ""}, "key='': it must be a text"),
        ]:
            with pytest.raises(ValueError, match=why):
                w.write(**wrong)
        w.write(image=png(1), label=0, score=1.5, key="a")
    assert w.report is not None and (w.report.written, w.report.skipped) == (2, 0) and w.close() is w.report
    read = dsconv.Dataset(tmp_path / "x.lmdb", fields=("key", "label", "score", "caption", "meta"))
    assert [(*read[i][:2], float(read[i][2]), *read[i][3:]) for i in range(2)] == [
        ("a", 0, 1.5, "", None), ("b", 1, 0.5, "first", {"a": [1, None]}),
    ]  # fmt: skip
    with pytest.raises(dsconv.Error, match="the writer of .*x.lmdb is closed"):
        w.write(image=png(0), label=0, score=1)
    assert beside(tmp_path / "x") == ["x.lmdb"]


@pytest.mark.usefixtures("no_process")
def test_an_exception_leaves_what_was_written(tmp_path: Path) -> None:
    with pytest.raises(LookupError), dsconv.Writer(tmp_path / "x.lmdb") as w:
        w.write(image=png(0))
        w.checkpoint()
        raise LookupError
    left = beside(tmp_path / "x")
    assert "x.lmdb.items" in left and "x.lmdb" not in left  # they are sorted at the end
    for call in (w.close, lambda: w.write(image=png(0))):
        with pytest.raises(dsconv.Error, match=r"x\.lmdb"):
            call()
    with (
        pytest.raises(dsconv.Error, match="has 1 samples of an interrupted writer"),
        dsconv.Writer(tmp_path / "x.lmdb") as w,
    ):
        w.write(image=png(0))
    with dsconv.Writer(tmp_path / "x.lmdb", discard=True) as w:
        w.write(image=png(5))
    assert w.report is not None and w.report.written == 1 and beside(tmp_path / "x") == ["x.lmdb"]


@pytest.mark.usefixtures("no_process")
def test_nothing_was_written(tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match="nothing was written"), dsconv.Writer(tmp_path / "x.lmdb"):
        pass
    with pytest.raises(dsconv.Error, match="no samples"), dsconv.Writer(tmp_path / "x.lmdb", example={"image": png(0)}):
        pass
    assert not (tmp_path / "x.lmdb").exists()


@pytest.mark.usefixtures("no_process")
def test_a_destination_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with dsconv.Writer(tmp_path / "x.lmdb") as w:
        w.write(image=png(0))
    read_only = tmp_path / "read only"
    read_only.mkdir(mode=0o500)
    places = [("x.lmdb", "already exists"), ("file/x.lmdb", "not a directory"), ("x.webm", "webm")]
    if os.geteuid() != 0:
        places.append(("read only/x.lmdb", "permission denied"))
    for place, why in places:
        with pytest.raises((dsconv.Error, ValueError), match=why):
            dsconv.Writer(tmp_path / place, example={"image": png(0)})
        w = dsconv.Writer(tmp_path / place)
        with pytest.raises((dsconv.Error, ValueError), match=why):
            w.write(image=png(0))
        with pytest.raises(dsconv.Error, match="closed"):
            w.write(image=png(0))
    for wrong, why in [({"image": np.zeros((4, 4, 3), np.uint8)}, "encode='png'"), ({"text": "a"}, "is an image")]:
        with pytest.raises(ValueError, match=why):
            dsconv.Writer(tmp_path / "y.lmdb").write(**wrong)
    assert beside(tmp_path / "x") == ["file", "read only", "x.lmdb"]


@pytest.mark.usefixtures("no_process")
def test_a_program_that_dies(tmp_path: Path) -> None:
    w = dsconv.Writer(tmp_path / "x.lmdb")
    before = data.children()
    w.write(image=png(0))
    w.checkpoint()
    (program,) = (c for c in data.children() - before if not data.is_python(c))
    os.kill(program, signal.SIGKILL)
    with pytest.raises(dsconv.Error, match="exit code -9"):
        for i in range(100_000):
            w.write(image=png(i))
    w = dsconv.Writer(tmp_path / "x.lmdb", example={"image": png(0)})
    assert w.resumed == 1
    w.write(image=png(1))
    assert w.close().written == 2


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_keeps_the_channels(channels: int, tmp_path: Path) -> None:
    pixels = np.random.default_rng(channels).integers(0, 256, (5, 7, channels), np.uint8)
    with dsconv.Writer(tmp_path / "X.TAR", encode="png") as w:
        w.write(key="b", image=pixels)
        w.write(key="a", image=pixels)
    with tarfile.open(tmp_path / "X.TAR") as tar:
        names = [name for name in tar.getnames() if name.endswith(".png")]
        stored = Image.open(io.BytesIO(tar.extractfile(names[0]).read()))  # type: ignore[union-attr]
    assert [name.partition(".")[0] for name in names] == ["b", "a"]  # the order of the calls
    np.testing.assert_array_equal(np.asarray(stored).reshape(pixels.shape), pixels)
