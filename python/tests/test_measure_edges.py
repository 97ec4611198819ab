"""dsconv.bench of DataLoaders that fail, never end, or make odd batches."""

from __future__ import annotations

import builtins
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._measure import turns as turns_module  # noqa: E402
from dsconv._measure.bench import bench  # noqa: E402
from dsconv._measure.passes import count, counter  # noqa: E402
from dsconv._measure.tune import Meter  # noqa: E402
from dsconv._measure.turns import Plan  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset  # noqa: E402


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "STEP_SECONDS", 0.02)


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[Path]]:
    """Lists the temporary folders that are left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return lambda: list(tmp_path.glob("dsconv-measure-*"))


class Samples(Dataset[Any]):
    """Ten samples, of which one may fail, in one of three styles."""

    def __init__(self, style: str = "tuple", error: type[BaseException] | None = None) -> None:
        self.style, self.error = style, error

    def __len__(self) -> int:
        return 10

    def load(self) -> torch.Tensor:
        return torch.zeros(3, 4, 4)

    def __getitem__(self, index: int) -> Any:
        if index == 7 and self.error is not None:
            raise self.error("sample 7 is broken")
        if self.style == "dict":
            return {"name": f"{index}.jpg", "image": self.load(), "label": index}
        return self.load(), index


class Fetched(Samples):
    """Fetches a whole batch at once, as datasets of Hugging Face do."""

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices]


class Forever(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        while True:
            yield torch.zeros(3, 4, 4), 1


def as_lists(samples: list[Any]) -> Any:
    """A collate_fn for images of different sizes."""
    return tuple(zip(*samples))


def state(loader: Any) -> tuple[Any, ...]:
    own = {key: value for key, value in vars(loader).items() if key != "_iterator"}
    classes = [dict(vars(c)) for c in type(loader.dataset).__mro__[:2]]
    return own, classes, dict(vars(loader.dataset)), builtins.open, torch.get_rng_state().tolist()


@pytest.mark.parametrize(
    ("workers", "error"), [(0, ValueError), (1, ValueError), (0, KeyboardInterrupt)]
)  # with KeyboardInterrupt torch's workers end silently
def test_an_error_leaves_the_loader_as_it_was(
    workers: int, error: type[BaseException], folders: Callable[[], list[Path]]
) -> None:
    loader = DataLoader(Samples(error=error), 4, num_workers=workers)
    before = state(loader)
    with pytest.raises(error, match="sample 7 is broken"):
        bench(loader, rounds=1)
    assert state(loader) == before and not folders()


@pytest.mark.parametrize("call", [0, 1, 2], ids=["warm-up", "looked into", "measured"])
def test_an_interrupt_in_the_loop(call: int, folders: Callable[[], list[Path]]) -> None:
    loader, calls = DataLoader(Samples(), 10, shuffle=True), []

    def step(batch: Any) -> None:
        calls.append(batch)
        if len(calls) > call:
            raise KeyboardInterrupt("in the step")

    before = state(loader)
    with pytest.raises(KeyboardInterrupt, match="in the step"):
        bench(loader, rounds=1, step=step)
    assert state(loader) == before and not folders()


def test_workers_that_stay_stay() -> None:
    loader = DataLoader(Samples(), 5, num_workers=1, persistent_workers=True)
    assert len(list(loader)) == 2
    before = state(loader)
    (row,) = bench(loader, rounds=1).datasets
    assert row.samples == 10 and state(loader) == before and len(list(loader)) == 2
    kept: Any = loader._iterator
    next(iter(loader))
    assert loader._iterator is kept and all(worker.is_alive() for worker in kept._workers)
    kept._shutdown_workers()


def test_a_stream_without_end() -> None:
    loader = DataLoader(Forever(), 4)
    (row,) = bench(loader, rounds=1, limit_batches=5).datasets
    assert row.samples == 20
    meter = Meter(Plan())
    first, again = (t.images_per_second * t.epoch_seconds for t in (meter(loader), meter(loader)))
    assert again == pytest.approx(first) and first > 0  # the second epoch is as long as what the first one measured


@pytest.mark.parametrize(
    "loader",
    [
        DataLoader(Samples("dict"), 4),
        DataLoader(Fetched(), 4),
        DataLoader(Fetched("dict"), 4),
        DataLoader(Samples(), 4, collate_fn=list),
        DataLoader(Samples(), 4, collate_fn=as_lists),
        DataLoader(Samples("dict"), 4, collate_fn=list),
        DataLoader(Samples(), batch_size=None),
        DataLoader(Samples("dict"), batch_size=None),
        DataLoader(Samples(), batch_sampler=torch.utils.data.BatchSampler(range(10), 4, False)),
        DataLoader(Samples(), batch_sampler=[[0, 1, 2, 3], [4, 5, 6, 7, 8, 9]]),
    ],
    ids=lambda loader: f"{loader.dataset.style}-{type(loader.dataset).__name__}-{loader.collate_fn.__name__}",
)
def test_images_are_counted(loader: Any) -> None:
    report = bench(loader, rounds=1, consume=1e6)
    assert report.datasets[0].samples == 10
    parts = report.datasets[0].costs["parts"]  # type: ignore[index]
    assert sum(p["calls"] for p in parts if p["name"].endswith(".load")) == 10


def test_a_dataset_without_timers() -> None:
    """The class of a list cannot get any."""
    (row,) = bench(DataLoader([(torch.zeros(3, 4, 4), k) for k in range(10)], 4), rounds=1).datasets
    parts = row.costs["parts"]  # type: ignore[index]
    assert row.samples == 10 and [(p["name"], p["calls"]) for p in parts] == [("collate (default_collate)", 3)]


def test_images_of_whole_batches() -> None:
    loader = DataLoader(Forever(), batch_size=None)
    images, labels = torch.zeros(8, 3, 4, 4), torch.zeros(8)
    assert counter(loader)((images, labels)) == counter(loader)({"x": images}) == 8
    assert counter(loader)((torch.zeros(8, 5), [0] * 8)) == 8 and counter(loader)((torch.zeros(3, 4, 4), 1)) == 1
    assert count(["a", "b"]) == 2 and count({"names": ["a", "b", "c"], "image": torch.zeros(3, 1)}) == 3
    assert count(5) == count(()) == count(torch.tensor(1)) == 0
