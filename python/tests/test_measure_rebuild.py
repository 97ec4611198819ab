"""A user's DataLoader rebuilt with other settings gives the same samples, or the setting is refused by name."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._measure.passes import kept_states  # noqa: E402
from dsconv._measure.rebuild import CannotRebuild, rebuilt, settings  # noqa: E402
from torch.utils.data import (  # noqa: E402
    BatchSampler,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    Subset,
    WeightedRandomSampler,
)


class Numbers(Dataset):
    def __init__(self, n: int = 20) -> None:
        self.targets = list(range(n))

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, i: int) -> tuple[Any, int]:
        return torch.full((2, 2), float(i)), i


class Whole(IterableDataset):
    """Each worker gives all."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(24))


class Alternating(Sampler):
    """A sampler with a state: each epoch begins elsewhere."""

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.epoch = dataset, 0

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        n = len(self.dataset)
        return iter([(i + self.epoch) % n for i in range(n)])

    def __len__(self) -> int:
        return len(self.dataset)


def reversed_batch(samples: list[Any]) -> list[int]:
    return [i for _, i in samples][::-1]


def mark(worker_id: int) -> None:
    torch.set_num_threads(1)


def numbers(loader: Any) -> list[list[int]]:
    """The batches as lists of their numbers."""
    found = []
    for batch in loader:
        labels = batch[1] if isinstance(batch, list) and len(batch) == 2 and torch.is_tensor(batch[0]) else batch
        found.append(torch.as_tensor(labels).tolist())
    return found


def loaders() -> dict[str, DataLoader]:
    """DataLoaders of all kinds; each call makes the same."""
    data = Numbers()
    seeded = torch.Generator().manual_seed(3)
    own = torch.Generator().manual_seed(4)
    ranked = DistributedSampler(data, num_replicas=2, rank=1, seed=7)
    ranked.set_epoch(5)
    weights = WeightedRandomSampler([1.0] * 10, 12, generator=own)
    return {
        "in order": DataLoader(data, 3, drop_last=True),
        "shuffled": DataLoader(data, 3, shuffle=True, generator=seeded),
        "global generator": DataLoader(data, 3, shuffle=True),
        "sampler's generator": DataLoader(data, 3, sampler=RandomSampler(data, generator=own)),
        "weighted": DataLoader(data, 4, sampler=weights),
        "ranked": DataLoader(data, 4, sampler=ranked),
        "list": DataLoader(data, 4, sampler=[5, 3, 1]),
        "stateful": DataLoader(data, 4, sampler=Alternating(data)),
        "batch sampler": DataLoader(data, batch_sampler=BatchSampler(Alternating(data), 3, True)),
        "list of batches": DataLoader(data, batch_sampler=[[1, 2], [7], [0, 3, 4]]),
        "no batches": DataLoader(data, batch_size=None),
        "collate": DataLoader(data, 3, collate_fn=reversed_batch),
        "subset": DataLoader(Subset(data, [8, 6, 4]), 2, shuffle=True),
    }


@pytest.mark.parametrize("kind", loaders())
def test_same_batches_in_the_same_order(kind: str) -> None:
    expected, again = loaders()[kind], loaders()[kind]
    torch.manual_seed(1)
    first = [numbers(expected), numbers(expected)]
    torch.manual_seed(1)
    clone = rebuilt(again, pin_memory=False)
    if kind in ("stateful", "batch sampler"):  # a sampler's own state is shared
        assert [numbers(clone), numbers(clone)] == first
        return
    with kept_states(clone):
        assert [numbers(clone), numbers(clone)] == first
    assert [numbers(again), numbers(again)] == first, "the user's generators are as they were"


@pytest.mark.parametrize("kind", ["shuffled", "stateful", "batch sampler", "collate"])
def test_same_batches_with_other_workers(kind: str) -> None:
    loader = loaders()[kind]
    expected = [numbers(loader), numbers(loader)]
    clone = rebuilt(loaders()[kind], num_workers=2, prefetch_factor=3)
    assert [numbers(clone), numbers(clone)] == expected
    assert settings(clone)["prefetch_factor"] == 3


def test_same_samples_with_workers_that_stay() -> None:
    """The second epoch of a seeded generator is in another order, as torch draws the workers' seed only once."""
    expected = numbers(loaders()["shuffled"])
    clone = rebuilt(loaders()["shuffled"], num_workers=2, persistent_workers=True)
    assert numbers(clone) == expected
    assert sorted(sum(numbers(clone), [])) == list(range(20))
    assert vars(clone)["_iterator"] is not None
    clone._iterator = None


def test_everything_else_is_kept() -> None:
    context = torch.multiprocessing.get_context("spawn")
    loader = DataLoader(
        Numbers(), 2, num_workers=1, timeout=50, worker_init_fn=mark, multiprocessing_context=context, drop_last=True
    )
    loader.note = "of a subclass"  # type: ignore[attr-defined]
    clone = rebuilt(loader, num_workers=3)
    assert clone.multiprocessing_context is context
    assert (clone.timeout, clone.worker_init_fn, clone.drop_last, clone.note) == (50, mark, True, "of a subclass")
    assert clone.dataset is loader.dataset and clone.collate_fn is loader.collate_fn
    assert (clone.num_workers, loader.num_workers, clone.prefetch_factor) == (3, 1, 2)


def test_persistent_workers_are_not_shared() -> None:
    loader = DataLoader(Numbers(), 5, num_workers=1, persistent_workers=True)
    expected = numbers(loader)
    used = loader._iterator
    clone = rebuilt(loader)
    assert numbers(clone) == expected
    assert clone._iterator is not used and loader._iterator is used
    clone._iterator = None
    assert numbers(loader) == expected, "the user's workers still work"
    loader._iterator = None


def test_settings_without_workers() -> None:
    loader = DataLoader(Numbers(), 5, num_workers=2, persistent_workers=True, prefetch_factor=4)
    clone = rebuilt(loader, num_workers=0)
    assert settings(clone) == {
        "num_workers": 0, "prefetch_factor": None, "pin_memory": False, "persistent_workers": False,
    }  # fmt: skip
    assert len(numbers(clone)) == 4


class Repeating(DataLoader):
    """Keeps its iterator, as timm's MultiEpochsDataLoader does."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.iterator = iter([])


class Wrapping(DataLoader):
    """Wraps another one, as accelerate's DataLoaderShard does."""

    def __init__(self, inner: DataLoader) -> None:
        self.base_dataloader = inner


@pytest.mark.parametrize(
    ("loader", "changes", "named"),
    [
        (lambda d: DataLoader(d, 2, num_workers=1, timeout=9), {"num_workers": 0}, "timeout=9"),
        (
            lambda d: DataLoader(d, 2, num_workers=1, multiprocessing_context="fork"),
            {"num_workers": 0},
            "multiprocessing_context",
        ),
        (lambda d: DataLoader(d, 2, num_workers=1, worker_init_fn=mark), {"num_workers": 0}, "worker_init_fn=mark"),
        (lambda d: DataLoader(d, sampler=iter([1, 2])), {}, "only once"),
        (lambda d: Repeating(d), {"num_workers": 2}, r"Repeating keeps an iterator \(iterator\)"),
        (lambda d: Wrapping(DataLoader(d)), {}, "pass its base_dataloader"),
        (lambda d: DataLoader(Whole(), 4), {"num_workers": 2}, "Whole is iterable"),
    ],
)
def test_refused_by_name(loader: Any, changes: dict[str, Any], named: str) -> None:
    with pytest.raises(CannotRebuild, match=named):
        rebuilt(loader(Numbers()), **changes)


def test_one_worker_or_none_are_the_same_for_an_iterable_dataset() -> None:
    assert sum(numbers(rebuilt(DataLoader(Whole(), 4), num_workers=1)), []) == list(range(24))


class Opened(Numbers):
    def __init__(self, handle: Any) -> None:
        super().__init__()
        self.inner = {"handle": handle}


def test_open_files_are_not_shared_between_workers(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"data")
    with path.open("rb") as file:
        with pytest.raises(CannotRebuild, match=r"open file \(inner\.handle\)"):
            rebuilt(DataLoader(Opened(file)), num_workers=2)
        rebuilt(DataLoader(Opened(file), num_workers=1), num_workers=2)  # the user's workers share it already
    rebuilt(DataLoader(Opened(file)), num_workers=2)  # it is closed
    rebuilt(DataLoader(Opened(io.BytesIO())), num_workers=2)
    file = type("File", (), {"__module__": "h5py._hl.files"})()  # h5py's own is not installed everywhere
    with pytest.raises(CannotRebuild, match=r"open h5py.File \(inner\.handle\)"):
        rebuilt(DataLoader(Opened(file)), num_workers=2)
