"""The seed where none is given: PyTorch's, as in a DataLoader, and the same on all ranks."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

RANDOM: dict[str, Any] = {"transforms": "rrc:32,flip", "shuffle": True, "num_workers": 2}


@pytest.fixture(autouse=True)
def restored() -> Any:
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)


def epoch_of(loader: Any) -> bytes:
    return b"".join(np.asarray(part).tobytes() for batch in loader for part in batch)


def test_torch_decides_the_seed_when_the_first_epoch_starts(packed: Path) -> None:
    torch.manual_seed(1)
    loader = dsconv.Loader(packed, 10, **RANDOM)
    torch.manual_seed(2)
    assert loader.seed == 2
    before = torch.get_rng_state()
    first = epoch_of(loader)
    assert torch.equal(torch.get_rng_state(), before)  # it draws nothing
    torch.manual_seed(3)
    assert loader.seed == 2
    second = epoch_of(loader)
    assert second != first
    given = dsconv.Loader(packed, 10, seed=2, **RANDOM)
    assert [epoch_of(given), epoch_of(given)] == [first, second]
    assert epoch_of(dsconv.Loader(packed, 10, seed=3, **RANDOM)) != first


@pytest.mark.filterwarnings("ignore:Python runs these transforms")
@pytest.mark.parametrize("workers", [0, 2])
def test_transforms_in_python_and_mixers_have_that_seed_too(packed: Path, workers: int) -> None:
    def noise(image: Any) -> Any:
        return torch.as_tensor(np.asarray(image)[:16, :16].copy()).float() + torch.rand(())

    def mixed(samples: list[Any]) -> Any:
        return [torch.stack([s[0] for s in samples]) + torch.rand(())]

    options: dict[str, Any] = {**RANDOM, "num_workers": workers}
    for more in (
        {"transforms": noise},
        {"transforms": [noise, dsconv.transforms.MixUp()]},
        {"transforms": noise, "collate_fn": mixed},
        {"transforms": "rrc:16", "target_transform": lambda y: torch.rand(())},
        {"shuffle": False, "sampler": range(20)},
    ):
        torch.manual_seed(1)
        loader = dsconv.Loader(packed, 10, **{**options, **more})
        torch.manual_seed(4)
        got = epoch_of(loader)
        assert got == epoch_of(dsconv.Loader(packed, 10, seed=4, **{**options, **more}))
        assert got != epoch_of(dsconv.Loader(packed, 10, seed=1, **{**options, **more}))


def test_a_generator_is_the_seed(packed: Path) -> None:
    generator = torch.Generator()
    loader = dsconv.Loader(packed, 10, generator=generator, **RANDOM)
    generator.manual_seed(9)
    state = generator.get_state()
    assert loader.seed == 9
    assert epoch_of(loader) == epoch_of(dsconv.Loader(packed, 10, seed=9, **RANDOM))
    assert torch.equal(generator.get_state(), state)
    pickled = pickle.loads(pickle.dumps(dsconv.Loader(packed, 10, generator=generator, **RANDOM)))
    assert pickled.seed == 9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dsconv.Loader(packed, 10, generator=generator, rank=0, world_size=2, **RANDOM).seed == 9


PROGRAM = """
import hashlib, sys, torch, dsconv
if sys.argv[2] != "none":
    torch.manual_seed(int(sys.argv[2]))
loader = dsconv.Loader(sys.argv[1], 10, "rrc:32,flip", True, fields=("image", "index"))
data = b"".join(part.numpy().tobytes() for batch in loader for part in batch)
print(hashlib.sha256(data).hexdigest())
"""


def run(packed: Path, seed: str, **environment: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(packed), seed],
        capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.long
def test_two_runs_see_the_data_of_their_seeds(packed: Path) -> None:
    one, again, other = (run(packed, seed)[0] for seed in ("1", "1", "2"))
    assert one == again != other
    assert len({one, other, run(packed, "none")[0], run(packed, "none")[0]}) == 4  # PyTorch draws one for each process


@pytest.mark.long
def test_ranks_agree_without_a_seed(packed: Path) -> None:
    ranks = [run(packed, str(rank), RANK=str(rank), WORLD_SIZE="2") for rank in range(2)]
    for _, errors in ranks:
        assert errors.count("several ranks must agree on the random draws, and no seed is given: it is 0") == 1
    parts = [
        [i for _, _, index in dsconv.Loader(
            packed, 10, fields=("image", "label", "index"), rank=rank, world_size=2, seed=0, **RANDOM
        ) for i in index.tolist()]
        for rank in range(2)
    ]  # fmt: skip
    assert sorted(parts[0] + parts[1]) == list(range(48))


def test_ranks_show_the_seed_that_they_will_have(packed: Path) -> None:
    torch.manual_seed(7)
    loader = dsconv.Loader(packed, 10, rank=1, world_size=2, **RANDOM)
    assert loader.seed == 0 and ", seed 0\n" in repr(loader)
    given = dsconv.Loader(packed, 10, rank=1, world_size=2, generator=torch.Generator().manual_seed(3), **RANDOM)
    assert given.seed == 3


def test_the_warning_comes_once_and_only_if_draws_depend_on_it(packed: Path) -> None:
    torch.manual_seed(7)
    ranked: dict[str, Any] = {"rank": 1, "world_size": 2, "num_workers": 2}
    for options in (
        {"transforms": "rrc:32", **ranked},
        {"transforms": "centercrop:32", "shuffle": True, **ranked},
        {"transforms": "centercrop:32,normalize,mixup:0.2", **ranked},
    ):
        loader = dsconv.Loader(packed, 10, **options)
        with pytest.warns(UserWarning, match="give seed=, another one in each run") as caught:
            want = epoch_of(loader)
            next(iter(loader))
        assert len(caught) == 1 and caught[0].filename == __file__
        assert loader.seed == 0 and want == epoch_of(dsconv.Loader(packed, 10, seed=0, **options))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(dsconv.Loader(packed, 10, "resize:36,centercrop:32,normalize", **ranked))
        list(dsconv.Loader(packed, 10, "rrc:32,flip", True, seed=0, **ranked))


def test_ranks_that_appear_later_agree(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lightning starts the processes after a first epoch, of its sanity check."""
    torch.manual_seed(7)
    loader = dsconv.Loader(packed, 10, **RANDOM)
    list(loader)
    assert loader.seed == 7
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.warns(UserWarning, match="several ranks"):
        list(loader)
    assert loader.seed == 0


def test_a_state_brings_its_seed(packed: Path) -> None:
    torch.manual_seed(11)
    first = dsconv.Loader(packed, 10, **RANDOM)
    batches = list(first)
    first.set_epoch(0)
    next(iter(first))
    state = first.state_dict()
    assert state["seed"] == 11
    torch.manual_seed(12)
    resumed = dsconv.Loader(packed, 10, **RANDOM)
    resumed.load_state_dict(state)
    assert resumed.seed == 11
    assert epoch_of(resumed) == epoch_of(batches[1:])
    resumed.load_state_dict({**state, "seed": 13})
    assert resumed.seed == 13
    for seed in ({"seed": 12}, {"generator": torch.Generator().manual_seed(12)}):
        with pytest.raises(ValueError, match="its seed is 11"):
            dsconv.Loader(packed, 10, **seed, **RANDOM).load_state_dict(state)
    with pytest.raises(ValueError, match="resume"):
        dsconv.Loader(packed, 10, "rrc:32", "block:8:2").load_state_dict(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranked = dsconv.Loader(packed, 10, rank=1, world_size=2, **RANDOM)
        ranked.load_state_dict(state)
        list(ranked)
    assert ranked.seed == 11
    sampled = dsconv.Loader(packed, 10, "rrc:32", sampler=range(30))
    sampled.load_state_dict({**state, "order": "sampler"})
    assert sampled.seed == 11


def test_a_state_before_the_first_epoch_settles_the_seed(packed: Path) -> None:
    torch.manual_seed(5)
    loader = dsconv.Loader(packed, 10, **RANDOM)
    state = loader.state_dict()
    torch.manual_seed(6)
    assert loader.seed == state["seed"] == 5
    assert epoch_of(loader) == epoch_of(dsconv.Loader(packed, 10, seed=5, **RANDOM))


def of_child(loader: Any, results: Any) -> None:
    torch.manual_seed(99)
    results.put((loader.seed, epoch_of(loader)))


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.long)])
def test_other_processes_have_the_parents_seed(packed: Path, method: str) -> None:
    torch.manual_seed(8)
    loader = dsconv.Loader(packed, 10, **RANDOM)
    context = multiprocessing.get_context(method)
    results = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # os.fork warns of threads
        child = context.Process(target=of_child, args=(loader, results))
        child.start()
    seed, data = results.get()
    child.join()
    assert seed == 8 and data == epoch_of(dsconv.Loader(packed, 10, seed=8, **RANDOM))
    torch.manual_seed(14)
    assert loader.seed == 14  # the fork settled nothing here


def test_copies_have_the_seed_of_the_original(packed: Path) -> None:
    torch.manual_seed(8)
    loader = dsconv.Loader(packed, 10, **RANDOM)
    pickled, copied = pickle.dumps(loader), copy.deepcopy(loader)
    torch.manual_seed(9)
    assert pickle.loads(pickled).seed == copied.seed == 8
    assert loader.seed == 9
    want = epoch_of(dsconv.Loader(packed, 10, seed=8, **RANDOM))
    assert epoch_of(pickle.loads(pickled)) == epoch_of(copied) == want


def test_without_torch_the_seed_is_0(packed: Path) -> None:
    program = """
import sys
sys.modules["torch"] = None
import dsconv
loader = dsconv.Loader(sys.argv[1], 10, "rrc:32,flip", True)
list(loader)
print(loader.seed)
"""
    done = subprocess.run([sys.executable, "-c", program, str(packed)], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
