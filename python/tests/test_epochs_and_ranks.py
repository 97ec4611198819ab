"""The epoch of each iteration, and each rank's samples of it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import dsconv
import numpy as np
import pytest

SAMPLES, BATCH = 48, 8


def loader(packed: Path, **more: object) -> dsconv.Loader:
    options = {"transforms": "rrc:16", "fields": ("index", "label"), "shuffle": True, "seed": 0, **more}
    return dsconv.Loader(packed, BATCH, **options)


def indices(batches: object) -> list[int]:
    return [int(i) for index, _ in batches for i in index]


def test_each_iteration_is_the_next_epoch(packed: Path) -> None:
    train = loader(packed)
    first, second = indices(train), indices(train)
    assert sorted(first) == sorted(second) == list(range(SAMPLES))
    assert first != second
    train.set_epoch(0)
    assert indices(train) == first
    assert indices(train) == second


def test_epoch_set_after_iter(packed: Path) -> None:
    """Lightning creates the iterator first."""
    train = loader(packed)
    first, second, third = (indices(train) for _ in range(3))
    for resumed in (False, True):
        train.set_epoch(2)
        begun = iter(train)
        train.set_epoch(1 if resumed else 0)
        assert indices(begun) == (second if resumed else first)
        assert train.state_dict()["epoch"] == (2 if resumed else 1)
        assert indices(train) == (third if resumed else second)


def test_epoch_set_while_it_runs_is_the_next_ones(packed: Path) -> None:
    train = loader(packed)
    epochs = [indices(train) for _ in range(3)]
    train.set_epoch(0)
    running = iter(train)
    begin = indices([next(running)])
    train.set_epoch(2)
    assert begin + indices(running) == epochs[0]


def test_state_at_the_end_of_an_epoch_leaves_nothing_of_it(packed: Path) -> None:
    train = loader(packed)
    for step, _ in enumerate(train, start=1):
        if step == len(train):
            state = train.state_dict()
    second = indices(train)
    again = loader(packed)
    again.load_state_dict(state)
    assert indices(again) == []
    assert indices(again) == second


@pytest.mark.parametrize("python", [False, True], ids=["native", "python"])
@pytest.mark.parametrize("tail", ["repeat", "pad", "uneven", "drop"])
def test_tails(packed: Path, tail: str, python: bool) -> None:
    transforms = (lambda image: np.asarray(image.resize((16, 16)))) if python else "rrc:16"
    labels = np.asarray(dsconv.Dataset(packed).targets)
    world, seen, steps = 5, [], []
    for rank in range(world):
        options = {"rank": rank, "world_size": world, "tail": tail, "transforms": transforms}
        with pytest.warns(UserWarning) if python else contextlib.nullcontext():
            part = loader(packed, **options)
        batches = [(np.asarray(index), np.asarray(label)) for index, label in part]
        assert len(batches) == len(part)
        steps.append([len(index) for index, _ in batches])
        for index, label in batches:
            known = index >= 0
            assert (label[known] == labels[index[known]]).all()
            assert (label[~known] == -1).all() and (tail != "repeat" or known.all())
            seen += index[known].tolist()
    repeated = 2 if tail == "repeat" else 0
    assert len(set(seen)) == len(seen) - repeated
    assert len(seen) - repeated == (SAMPLES if tail != "drop" else SAMPLES // (world * BATCH) * world * BATCH)
    if tail != "uneven":
        assert all(s == steps[0] for s in steps), "equal steps"


def test_ranks_of_the_environment(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    early = loader(packed)
    assert len(early) == 6
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert (loader(packed).rank, loader(packed).world_size) == (0, 1), "Lightning has not said yet who is who"
    monkeypatch.setenv("RANK", "1")
    late, given = loader(packed), loader(packed, rank=0, world_size=3)
    assert (late.rank, late.world_size) == (1, 2)
    assert len(early) == len(late) == 3
    assert indices(early) == indices(late)
    assert len(given) == 2


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("tail", ["repeat", "pad"])
def test_repeated_samples_are_themselves_unless_they_are_padding(packed: Path, tail: str, own: bool) -> None:
    """A memory bank writes to bank[index]: an index of -1 would be its last row."""
    transforms = np.asarray if own else "crop:8x8"
    keys, seen = dsconv.Dataset(packed).keys, []
    for rank in range(5):
        fields = ("index", "key", "label")
        for index, key, label in dsconv.Loader(
            packed, 4, transforms, fields=fields, rank=rank, world_size=5, tail=tail
        ):
            for i, k, y in zip(index.tolist(), key, label.tolist()):
                assert (k, y >= 0) == ((keys[i], True) if i >= 0 else ("", False))
                seen.append(i)
    assert len(seen) == 50 and sorted({i for i in seen if i >= 0}) == list(range(SAMPLES))
    assert seen.count(-1) == (2 if tail == "pad" else 0)
