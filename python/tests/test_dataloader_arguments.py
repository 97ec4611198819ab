"""DataLoader's and ImageFolder's arguments: target_transform, no workers, the arguments for worker processes; and the
repr."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:Python runs these transforms")

NATIVE = "rrc:32,flip,normalize"


def own(image: Any) -> Any:
    """A transform of the user's own."""
    return torch.from_numpy(np.array(image)[:16, :16]) + torch.rand(())


PIPELINES: dict[str, Any] = {
    "native": NATIVE,
    "own": [dsconv.transforms.RandomResizedCrop(32), own],
    "mixed": [dsconv.transforms.RandomResizedCrop(32), own, dsconv.transforms.MixUp()],
}
pipelines = pytest.mark.parametrize("transform", PIPELINES.values(), ids=PIPELINES)


def torchvisions() -> Any:
    v2 = pytest.importorskip("torchvision.transforms.v2", reason="torchvision is not installed")
    return v2.Compose([v2.RandomResizedCrop(32), v2.AutoAugment(), v2.ToImage(), v2.GaussianNoise()])


def same(got: list[Any], want: list[Any]) -> bool:
    return len(got) == len(want) and all(
        x.dtype == y.dtype and torch.equal(x, y) for a, b in zip(got, want) for x, y in zip(a, b)
    )


# No workers.


@pytest.mark.parametrize("transform", [*PIPELINES.values(), torchvisions], ids=[*PIPELINES, "torchvision"])
def test_without_workers_batches_are_the_same(packed: Path, transform: Any) -> None:
    transform = transform() if transform is torchvisions else transform

    def loader(workers: int, **more: Any) -> dsconv.Loader[Any]:
        options: dict[str, Any] = {"shuffle": True, "seed": 6, "fields": ("image", "label", "index"), **more}
        return dsconv.Loader(packed, 9, transform, num_workers=workers, **options)

    for more in (
        {},
        {"shuffle": False, "sampler": [5, 7, 5] * 5},
        {"drop_last": True, "rank": 1, "world_size": 2},
        {"cache": "encoded"},
    ):
        want = [*loader(2, **more), *loader(2, **more)]
        alone = loader(0, **more)
        assert alone.num_workers == 0
        assert same([*alone, *loader(0, **more)], want)
    want = list(loader(2))
    resumed = loader(0)
    next(iter(resumed))
    state = resumed.state_dict()
    resumed = loader(0)
    resumed.load_state_dict(state)
    assert same(list(resumed), want[1:])


@pipelines
def test_without_workers_there_are_no_threads(packed: Path, transform: Any) -> None:
    threads: set[int] = set()

    def seen(image: Any) -> Any:
        threads.add(threading.get_ident())
        return image

    transforms = transform if isinstance(transform, str) else [transform[0], seen, *transform[1:]]
    loader = dsconv.Loader(packed, 9, transforms, num_workers=0)
    assert loader._source.configured["synchronous"] and loader._source.describe()["slots"] == 1
    before = threading.active_count()
    for _ in loader:
        assert threading.active_count() == before
    assert threads <= {threading.get_ident()}


def test_without_workers_bad_samples_are_handled(packed: Path) -> None:
    keys = dsconv.Dataset(packed).keys

    def fails(image: Any) -> Any:
        raise ValueError("of this image")

    loader = dsconv.Loader(packed, 9, fails, num_workers=0)
    with pytest.raises(dsconv.Error, match=f"transform {keys[0]}: ValueError: of this image"):
        list(loader)
    small = dsconv.Loader(packed, 9, "centercrop:32", num_workers=0, max_pixels=5)
    with pytest.raises(dsconv.Error, match=keys[0]):
        list(small)


# Targets.


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("transform", [PIPELINES["native"], PIPELINES["own"]], ids=["native", "own"])
def test_target_transform_is_called_with_each_label(packed: Path, transform: Any, workers: int) -> None:
    from torch.utils.data import default_collate

    types = set()

    def targets(change: Any) -> Any:
        def called(label: Any) -> Any:
            types.add(type(label))
            return change(label)

        return called

    options: dict[str, Any] = {"num_workers": workers, "seed": 1, "shuffle": True}
    labels = [y.tolist() for _, y in dsconv.Loader(packed, 9, transform, **options)]
    changes: list[Any] = [
        lambda y: y + 10,
        lambda y: y / 3,
        lambda y: f"class {y}",
        lambda y: {"class": y, "even": y % 2 == 0},
        lambda y: torch.nn.functional.one_hot(torch.tensor(y), 5),
        lambda y: np.full(2, y, np.float32),
    ]
    for change in changes:
        loader = dsconv.Loader(packed, 9, transform, target_transform=targets(change), **options)
        for (_, got), batch in zip(loader, labels):
            want = default_collate([change(y) for y in batch])
            assert type(got) is type(want) and str(got) == str(want)
            assert not isinstance(want, torch.Tensor) or got.dtype == want.dtype

        def collate(samples: list[Any]) -> list[Any]:
            return [target for _, target in samples]

        collated = dsconv.Loader(packed, 9, transform, target_transform=targets(change), collate_fn=collate, **options)
        assert [str(b) for b in collated] == [str([change(y) for y in batch]) for batch in labels]
    assert types == {int}


def test_draws_of_target_transform_follow_the_seed(packed: Path) -> None:
    def noisy(label: int) -> Any:
        return label + torch.rand(()).item()

    def loader(workers: int) -> dsconv.Loader[Any]:
        return dsconv.Loader(packed, 9, NATIVE, True, seed=1, num_workers=workers, target_transform=noisy)

    torch.manual_seed(3)
    want = list(loader(1))
    drawn = torch.rand(3)
    torch.manual_seed(3)
    assert torch.equal(torch.rand(3), drawn)
    assert same(list(loader(0)), want)
    resumed = loader(2)
    resumed.load_state_dict({**resumed.state_dict(), "position": 18})
    assert same(list(resumed), want[2:])


# Arguments for worker processes.


def test_arguments_for_worker_processes_change_nothing(packed: Path) -> None:
    want = list(dsconv.Loader(packed, 9, NATIVE, seed=1))
    for more in (
        {"persistent_workers": True},
        {"persistent_workers": True, "num_workers": 0},
        {"multiprocessing_context": "fork"},
        {"multiprocessing_context": "spawn"},
        {"multiprocessing_context": multiprocessing.get_context("forkserver")},
        {"multiprocessing_context": torch.multiprocessing.get_context("spawn")},
        {"timeout": 0.0},
        {"in_order": False},
        {"in_order": True},
        {"pin_memory_device": "cuda:0"},
        {"prefetch_factor": 3, "num_workers": 2},
        {"transform": NATIVE, "transforms": None},
    ):
        assert same(list(dsconv.Loader(packed, 9, **{"transforms": NATIVE, "seed": 1, **more})), want)


def test_prefetch_factor_is_of_each_worker(packed: Path) -> None:
    for more, want in (({}, 2), ({"prefetch_factor": 1}, 3), ({"prefetch_factor": 4}, 12)):
        loader = dsconv.Loader(packed, 9, NATIVE, num_workers=3, **more)
        assert loader._source.configured["prefetch"] == want
        assert loader.prefetch_factor == more.get("prefetch_factor")


# The repr.


def test_repr(packed: Path) -> None:
    def text(*args: Any, **more: Any) -> str:
        return repr(dsconv.Loader(packed, *args, **{"seed": 3, "num_workers": 2, **more}))

    assert text(9, NATIVE, shuffle=True) == (
        f"Loader('{packed}'): 48 samples, 3 classes\n"
        "  6 batches of 9, shuffled, seed 3\n"
        "  transforms: native rrc:32,flip,normalize\n"
        "  2 threads"
    )
    assert text(9, PIPELINES["own"], num_workers=0, rank=1, world_size=2, device="cpu") == (
        f"Loader('{packed}'): 48 samples, 3 classes\n"
        "  3 batches of 9, in key order, seed 3\n"
        "  transforms: native rrc:32; in Python own\n"
        "  in the loop's thread, rank 1 of 2, on cpu"
    )
    assert "\n  2 batches, order of the batch_sampler (list), seed 3\n  transforms: none" in text(
        batch_sampler=[[1], [2]]
    )
    assert "\n  batches of 9, order of the sampler (generator), seed 3" in text(9, sampler=(i for i in range(3)))
    many = text(9, ",".join(["flip:0.5"] * 60), indices=[1, 2], split=None)
    assert "2 samples" in many and max(map(len, many.splitlines())) < 200
