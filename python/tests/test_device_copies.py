"""Batches on a CUDA device: streams, events and the life of memory, on the device of fake_cuda."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import dsconv
import numpy as np
import pytest
from dsconv import _batch_memory, _device, _side_stream, _tensors
from dsconv import transforms as T

torch = pytest.importorskip("torch", reason="torch is not installed")

import fake_cuda  # noqa: E402

CROP = "centercrop:32"


@pytest.fixture(params=["side", "default"])
def cuda(request: pytest.FixtureRequest) -> Iterator[fake_cuda.FakeCuda]:
    with fake_cuda.FakeCuda(request.param) as fake:
        yield fake
    _side_stream.side_stream.cache_clear()


def negative(image: Any) -> Any:
    return 1 - torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255


def rows(samples: list[Any]) -> dict[str, Any]:
    return {"images": [image for image, _ in samples], "labels": (torch.tensor([label for _, label in samples]),)}


KINDS: dict[str, dict[str, Any]] = {
    "native": {"transforms": CROP},
    "floats": {"transforms": "centercrop:32,normalize"},
    "channels_last": {"transforms": CROP, "memory_format": torch.channels_last, "dtype": "float16"},
    "views": {"views": ["centercrop:32", "centercrop:16"]},
    "Python": {"transforms": [T.CenterCrop(32), negative]},
    "collate_fn": {"transforms": CROP, "collate_fn": rows},
    "pageable": {"transforms": CROP, "pin_memory": False},
    "texts": {"transforms": CROP, "fields": ("key", "image", "index")},
    "synchronous": {"transforms": CROP, "num_workers": 0},
}


def flat(batch: Any) -> list[Any]:
    return torch.utils._pytree.tree_flatten(batch)[0]


def train(cuda: fake_cuda.FakeCuda, loader: Any) -> list[list[Any]]:
    """What the steps of a training saw, each of which drops its batch at once."""
    seen = []
    for batch in loader:
        seen.append([cuda.read(v) if isinstance(v, torch.Tensor) else v for v in flat(batch)])
        del batch
    cuda.synchronize()
    return seen


def equal(got: list[list[Any]], want: list[list[Any]]) -> bool:
    if [len(batch) for batch in got] != [len(batch) for batch in want]:
        return False
    pairs = [(a, b) for x, y in zip(got, want) for a, b in zip(x, y)]
    return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in pairs)


def on_cpu(packed: Path, **options: Any) -> list[list[Any]]:
    loader = dsconv.Loader(packed, 7, seed=3, shuffle=True, **{**options, "pin_memory": False})
    return [flat(batch) for batch in loader]


def loader(packed: Path, **options: Any) -> Any:
    return dsconv.Loader(packed, 7, seed=3, shuffle=True, device="cuda", **{"num_workers": 2, **options})


@pytest.mark.parametrize(("ahead", "asked"), [(True, [2, 3, 3]), (False, [1, 2, 3])])
@pytest.mark.usefixtures("cuda")
def test_a_batch_is_kept_back_only_while_the_next_one_is_copied(ahead: bool, asked: list[int]) -> None:
    made: list[int] = []

    def batches() -> Iterator[tuple[Any, int]]:
        for n in range(3):
            made.append(n)
            yield torch.full((2,), n), n

    seen = [(n, len(made)) for _, n in _device.to_device(batches(), "cuda", ahead)]
    assert seen == list(enumerate(asked))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_batches_arrive_whole(packed: Path, cuda: fake_cuda.FakeCuda, kind: str) -> None:
    asked = loader(packed, **KINDS[kind])
    first = train(cuda, asked)
    with cuda.own():
        assert equal(first, on_cpu(packed, **KINDS[kind]))
    second = [flat(batch) for batch in asked]  # kept to the end
    assert all(v.is_cuda for batch in second for v in batch if isinstance(v, torch.Tensor))
    assert len(train(cuda, asked)) == 7
    assert len(cuda.streams) == 2, "a stream of its own for each epoch keeps its memory from the others"


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"pageable"}))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_host_does_not_wait(packed: Path, cuda: fake_cuda.FakeCuda, kind: str) -> None:
    for _ in loader(packed, **KINDS[kind]):
        pass
    assert cuda.waits == 0


def test_pageable_memory_makes_the_host_wait(packed: Path, cuda: fake_cuda.FakeCuda) -> None:
    for _ in loader(packed, transforms=CROP, pin_memory=False):
        pass
    assert cuda.waits > 0


def test_the_next_batch_is_copied_meanwhile(packed: Path) -> None:
    with fake_cuda.FakeCuda("side") as cuda:
        batches = iter(loader(packed, transforms=CROP))
        next(batches)
        side = cuda.streams[1]
        assert (side.queued, side.done) == (4, 2)  # images and labels of two batches, the first of which is waited for
        del batches
    _side_stream.side_stream.cache_clear()


def test_a_loop_that_ends_early_leaves_nothing(packed: Path, cuda: fake_cuda.FakeCuda) -> None:
    for images, _ in loader(packed, transforms=CROP):
        first = cuda.read(images)
        break
    del images, _
    cuda.synchronize()
    cuda.collect()
    cuda.synchronize()
    with cuda.own():
        assert equal([[first]], [on_cpu(packed, transforms=CROP)[0][:1]])
    assert not cuda.released and all((m.bytes == fake_cuda.CANARY).all() for m in cuda.memory.values())


@pytest.mark.parametrize("broken", [("_is_in_bad_fork", True), ("is_available", False)])
def test_a_process_without_cuda_pins_nothing(packed: Path, broken: tuple[str, bool]) -> None:
    """One that was forked from a process that used CUDA, or on a machine whose driver is too old."""
    name, value = broken
    with fake_cuda.FakeCuda("side") as cuda:
        asked = dsconv.Loader(packed, 7, CROP, seed=3, shuffle=True)
        with mock.patch.object(torch.cuda, name, lambda: value):  # undone before the fake's own patches are
            got = [flat(batch) for batch in asked]
        assert not cuda.memory
    assert asked.pin_memory and equal(got, on_cpu(packed, transforms=CROP))


def test_making_a_loader_does_not_start_cuda(packed: Path, monkeypatch: Any, cuda: fake_cuda.FakeCuda) -> None:
    """A forked process could not use it then."""
    with monkeypatch.context() as patches:
        for name in ("is_available", "current_device", "init"):
            patches.delattr(torch.cuda, name)
        asked = [loader(packed, transforms=CROP), dsconv.Loader(packed, 7, CROP)]
    assert all(one.pin_memory for one in asked)


def test_memory_is_the_hosts_whatever_the_default_device(packed: Path, monkeypatch: Any) -> None:
    devices = []
    monkeypatch.setattr(torch, "empty", lambda *_, device=None, **__: devices.append(device) or torch.zeros(1))
    _batch_memory.Pinned(1).new()
    assert devices == ["cpu"]
    monkeypatch.undo()
    options = {"transforms": "centercrop:32,normalize", "normalize": "device", "device": "cpu"}
    with torch.device("meta"):
        got = [flat(batch) for batch in dsconv.Loader(packed, 7, seed=3, shuffle=True, **options)]
    assert equal(got, on_cpu(packed, **options))


class _Ring(_batch_memory.Pinned):
    """Pinned memory that is used again as soon as Python has dropped it, although a copy from it may run."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.free: deque[_batch_memory.Block] = deque()

    def new(self) -> _batch_memory.Block:
        return self.free.popleft() if self.free else super().new()

    def lend(self, block: _batch_memory.Block) -> Any:
        self.free.append(block)
        return block.owner


BROKEN = {
    "no wait for the copy": ("side", fake_cuda.Stream, "wait_event", lambda self, event: None),
    "an event before the copy": ("side", fake_cuda.Event, "record", lambda self, stream=None: None),
    "no record_stream": ("default", torch.Tensor, "record_stream", lambda self, stream: None),
    "memory that is used too early": ("side", _tensors, "Pinned", _Ring),
}


@pytest.mark.parametrize("mistake", BROKEN)
def test_each_mistake_shows(packed: Path, mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    late, owner, name, wrong = BROKEN[mistake]
    want = on_cpu(packed, transforms=CROP)
    with fake_cuda.FakeCuda(late) as cuda:
        monkeypatch.setattr(owner, name, wrong)
        got = train(cuda, loader(packed, transforms=CROP))
        monkeypatch.undo()
    _side_stream.side_stream.cache_clear()
    assert not equal(got, want)
