"""dsconv.timed around loops of all kinds."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from typing import Any

import dsconv
import numpy as np
import pytest
from dsconv._measure.passes import count


class Clock:
    """A clock that advances only by sleep()."""

    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock


class Batches:
    """A loader of slow batches of 4 images."""

    path = "out.lmdb"
    num_workers = 3

    def __init__(self, n: int = 5, wait: float = 0.0) -> None:
        self.n, self.wait, self.epoch, self.closed = n, wait, 0, 0

    def __len__(self) -> int:
        return self.n

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        try:
            for _ in range(self.n):
                time.sleep(self.wait)
                yield np.zeros((4, 3, 8, 8), np.uint8), np.zeros(4, np.int64)
        finally:
            self.closed += 1


class Clocked(Batches):
    """A loader with a clock of its workers."""

    spent = 0.0

    def clock(self) -> dict[str, float]:
        self.spent += 1
        stages = {"read": self.spent, "decode": 2 * self.spent, "augment": 0, "collate": 0}
        return {**stages, "images": 40, "bytes": self.spent}


def test_wait_and_step(clock: Clock) -> None:
    loader = dsconv.timed(Batches(wait=0.02), name="slow")
    for epoch in range(2):
        loader.set_epoch(epoch)
        for x, y in loader:
            assert x.shape == (4, 3, 8, 8) and y.shape == (4,)
            time.sleep(0.01)
    (d,) = loader.report().datasets
    assert d.path == "slow" and d.format == "Batches" and d.samples == 20
    assert d.settings == {"num_workers": 3}
    for r in d.rounds:
        assert (r.images, r.epochs) == (20, 1)
        assert r.wait_seconds == pytest.approx(5 * 0.02) and r.stage_seconds.step == pytest.approx(5 * 0.01)
        assert r.seconds == pytest.approx(5 * 0.03)
    assert len(d.rounds) == 2 and d.starved == pytest.approx(2 / 3)
    assert d.images_per_second == pytest.approx(20 / (5 * 0.03))
    assert "waited for data for 67 % of the epoch" in d.diagnosis and d.verdict is None


def test_the_loaders_attributes_stay_available() -> None:
    inner = Batches()
    loader = dsconv.timed(inner)
    assert len(loader) == 5 and loader.num_workers == 3 and list(map(len, loader)) == [2] * 5
    loader.set_epoch(7)
    assert inner.epoch == 7
    with pytest.raises(AttributeError, match="sampler"):
        print(loader.sampler)
    assert pickle.loads(pickle.dumps(dsconv.timed([1, 2]))).report  # asks for attributes before it has any
    with pytest.raises(TypeError):
        len(dsconv.timed(iter([1])))


@pytest.mark.parametrize("leave", ["break", "raise"])
def test_leaving_closes_the_iterator(leave: str, clock: Clock) -> None:
    inner = Batches()
    loader = dsconv.timed(inner)
    try:
        for i, _ in enumerate(loader):
            time.sleep(0.01)
            if i == 2 and leave == "break":
                break
            if i == 2:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert inner.closed == 1
    report = loader.report()
    assert report.datasets[0].rounds[0].images == 12
    assert report.datasets[0].rounds[0].stage_seconds.step == pytest.approx(0.03)  # that of the last one, too
    assert report.notes == ["an epoch was left before its end"]


def test_an_error_of_the_loader_is_raised() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(dsconv.timed(broken()))


def test_warmup_is_not_counted() -> None:
    loader = dsconv.timed(Batches(), warmup=1)
    with pytest.raises(RuntimeError, match="0 epochs were timed, and the first 1 are not counted"):
        loader.report()
    list(loader)
    with pytest.raises(RuntimeError):
        loader.report()
    list(loader)
    list(loader)
    assert len(loader.report().datasets[0].rounds) == 2
    with pytest.raises(ValueError, match="warmup=-1"):
        dsconv.timed([], warmup=-1)


def test_repr(clock: Clock) -> None:
    loop = dsconv.timed(Batches(5, wait=0.3))
    assert repr(loop) == "Timed('out.lmdb'): 0 epochs"
    for _ in range(2):
        for _ in loop:
            clock.sleep(0.1)
    assert repr(loop) == "Timed('out.lmdb'): 2 epochs, the last one 10 images/s, starved 75 %"


def test_stages_of_a_loader_with_a_clock() -> None:
    loader = dsconv.timed(Clocked())
    list(loader)
    (d,) = loader.report().datasets
    (r,) = d.rounds
    assert d.path == "out.lmdb"
    assert (r.stage_seconds.read, r.stage_seconds.decode, r.bytes) == (1, 2, 1)
    assert r.cpu_seconds > 0


@pytest.mark.parametrize(
    ("batch", "images"),
    [
        (np.zeros((7, 3)), 7),
        ((np.zeros((7, 3)), np.zeros(2)), 7),
        ([[np.zeros(6)], 1], 6),
        ({"image": np.zeros((5, 1)), "label": 3}, 5),
        (np.float32(3), 0),
        (("a", 1), 0),
        ((), 0),
        (None, 0),
    ],
)
def test_count(batch: Any, images: int) -> None:
    assert count(batch) == images


def test_batches_of_another_dtype() -> None:
    loader = dsconv.timed([["a", "b"], ["c"]], images=len)
    list(loader)
    assert loader.report().datasets[0].samples == 3


def test_report_goes_through_the_command() -> None:
    loader = dsconv.timed(Batches(), name="mine")
    list(loader)
    report = dsconv.bench(merge=[loader.report()])
    assert report.datasets[0].rounds == loader.report().datasets[0].rounds
    assert "\nmine  " in report.table and "batches of 4" in report.table


def test_dataloader() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.zeros(10, 3, 4, 4), torch.arange(10))
    loader = dsconv.timed(torch.utils.data.DataLoader(data, batch_size=4, num_workers=1), sync=True)
    seen = [y.tolist() for _, y in loader]
    assert sorted(sum(seen, [])) == list(range(10))
    (d,) = loader.report().datasets
    assert d.samples == 10 and d.settings["num_workers"] == 1 and d.settings["batch_size"] == 4
    assert loader.report().machine.torch == torch.__version__
