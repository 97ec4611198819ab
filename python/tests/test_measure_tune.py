"""The search for a DataLoader's best settings. Times are computed from the settings, not measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._errors import ArgumentError  # noqa: E402
from dsconv._measure import tune as tuning  # noqa: E402
from dsconv._measure.rebuild import settings  # noqa: E402
from dsconv._measure.tune import Meter, Trial, tune  # noqa: E402
from dsconv._measure.turns import Plan  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset  # noqa: E402

MB = 1_000_000


class Images(Dataset):
    def __len__(self) -> int:
        return 40

    def __getitem__(self, i: int) -> Any:
        return torch.zeros(3, 2, 2), i


class Machine:
    """Computes the seconds of an epoch from the settings: one worker takes `work` seconds for it, the loop `step`; each
    worker needs `start` seconds unless it stays."""

    def __init__(self, cores: int = 4, work: float = 10.0, step: float = 0.0, start: float = 0.1) -> None:
        self.cores, self.work, self.step, self.start = cores, work, step, start
        self.fails: Callable[[dict[str, Any]], bool] = lambda s: False
        self.calls: list[dict[str, Any]] = []

    def __call__(self, loader: Any) -> Trial:
        s = settings(loader)
        self.calls.append(s)
        if self.fails(s):
            raise RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed.")
        workers = s["num_workers"]
        if not workers:
            return Trial(s, self.work + self.step, batch_bytes=MB)
        seconds = max(self.work / min(workers, self.cores), self.step) + 0.01 * workers
        seconds += 0 if s["persistent_workers"] else self.start * workers
        return Trial(s, seconds, memory=50 * workers * MB, batch_bytes=MB)


pytestmark = pytest.mark.filterwarnings("ignore:.*worker processes in total")


@pytest.fixture(autouse=True)
def plenty_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "available", lambda: 100_000 * MB)
    monkeypatch.setattr(tuning, "shared_available", lambda: 100_000 * MB)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_finds_the_number_of_workers() -> None:
    machine = Machine(cores=4)
    loader = DataLoader(Images(), 4, num_workers=1)
    found = tune(loader, machine, cores=4)
    assert found.changes == {"num_workers": 4, "persistent_workers": True}
    assert found.command == "num_workers=4, persistent_workers=True"
    assert loader.num_workers == 1, "the user's DataLoader stays as it is"
    assert found.refused == {"pin_memory": "there is no GPU to copy to"}
    assert max(s["num_workers"] for s in machine.calls) == 6, "six are no better than four, so eight are not tried"


def test_more_workers_than_cores_for_a_slow_disk() -> None:
    found = tune(DataLoader(Images(), 4), Machine(cores=30, work=100.0), cores=2)
    assert found.changes["num_workers"] == 16  # 8 for each core are the most


def test_no_workers_if_they_only_cost() -> None:
    found = tune(DataLoader(Images(), 4, num_workers=2), Machine(work=0.01, start=0.5), cores=4)
    assert found.command == "num_workers=0"
    loader = DataLoader(Images(), 4, num_workers=2, prefetch_factor=5, persistent_workers=True)
    found = tune(loader, Machine(work=0.01, start=0.5), cores=4)
    assert found.command == "num_workers=0, prefetch_factor=None, persistent_workers=False"


def test_a_loop_that_takes_the_time_needs_few_workers() -> None:
    found = tune(DataLoader(Images(), 4, num_workers=8), Machine(cores=8, work=10.0, step=9.0, start=0.2), cores=8)
    assert found.changes["num_workers"] == 2


def test_good_settings_stay() -> None:
    loader = DataLoader(Images(), 4, num_workers=4, persistent_workers=True)
    found = tune(loader, Machine(cores=4), cores=4)
    assert (found.changes, found.command) == ({}, "")


def test_workers_that_start_fast_need_not_stay() -> None:
    """A setting that gains nothing is not changed."""
    found = tune(DataLoader(Images(), 4, num_workers=1), Machine(cores=4, start=0.001), cores=4)
    assert found.changes == {"num_workers": 4}


def test_settings_that_fail_or_do_not_fit_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(cores=8)
    machine.fails = lambda s: s["num_workers"] > 4
    found = tune(DataLoader(Images(), 4, num_workers=1), machine, cores=4)
    assert found.changes["num_workers"] == 4
    assert "killed by signal" in found.refused["num_workers=6, persistent_workers=True"]
    monkeypatch.setattr(tuning, "available", lambda: 200 * MB)
    found = tune(DataLoader(Images(), 4, num_workers=1), Machine(cores=8), cores=4)
    assert found.changes["num_workers"] == 2
    assert "MB are free" in found.refused["num_workers=4, persistent_workers=True"]
    monkeypatch.setattr(tuning, "shared_available", lambda: 6 * MB)
    found = tune(DataLoader(Images(), 4, num_workers=1), Machine(cores=8), cores=4)
    assert found.changes == {}
    assert "/dev/shm" in found.refused["num_workers=2, persistent_workers=True"]


def test_errors_of_the_users_settings_are_raised() -> None:
    machine = Machine()
    machine.fails = lambda s: s["num_workers"] == 1
    with pytest.raises(RuntimeError, match="killed"):
        tune(DataLoader(Images(), 4, num_workers=1), machine, cores=4)


def test_what_cannot_be_set_is_named() -> None:
    class Whole(IterableDataset):
        def __iter__(self) -> Any:
            return iter([torch.zeros(3, 2, 2)] * 8)

    found = tune(DataLoader(Whole(), 4), Machine(), cores=2)
    assert found.changes in ({}, {"num_workers": 1}, {"num_workers": 1, "persistent_workers": True})
    assert "is iterable" in found.refused["num_workers=2"]


def test_pinning_is_tried_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    machine = Machine(cores=1)

    def pinned(loader: Any) -> Trial:
        trial = machine(loader)
        seconds = trial.epoch_seconds * (0.5 if loader.pin_memory else 1)
        return Trial(trial.settings, seconds)

    assert tune(DataLoader(Images(), 4), pinned, cores=1).changes["pin_memory"] is True


@pytest.mark.parametrize(
    ("loader", "samples"),
    [
        (lambda: DataLoader(Images(), 8, num_workers=2), 40),
        (lambda: DataLoader(Images(), 7, drop_last=True), 35),
        (lambda: DataLoader(Images(), batch_sampler=[[1, 2]] * 30), 60),
        (lambda: DataLoader(Images(), 8, num_workers=1, persistent_workers=True, shuffle=True), 40),
    ],
)
def test_meter_measures_a_whole_epoch_from_a_part(loader: Any, samples: int) -> None:
    torch.manual_seed(2)
    before = torch.get_rng_state()
    steps: list[int] = []
    trial = Meter(Plan(step=lambda batch: steps.append(1)))(loader())
    assert trial.epoch_seconds > 0 and steps
    assert trial.images_per_second * trial.epoch_seconds == pytest.approx(samples)
    assert trial.batch_bytes > 0
    assert torch.equal(torch.get_rng_state(), before)


def test_meter_names_an_empty_loader() -> None:
    with pytest.raises(ArgumentError, match="no batch"):
        Meter(Plan())(DataLoader(Images(), sampler=[]))


class Stream(IterableDataset):
    def __iter__(self) -> Any:
        return iter([torch.zeros(3, 2, 2)] * 23)


def test_meter_of_a_stream_of_unknown_length() -> None:
    """All trials are of as many samples as the first one measured."""
    meter = Meter(Plan())
    trials = [meter(DataLoader(Stream(), size)) for size in (2, 4)]
    assert [t.images_per_second * t.epoch_seconds for t in trials] == pytest.approx([23, 23])


def test_memory_that_is_free() -> None:
    assert 0 <= tuning.available() < 1 << 50 and 0 <= tuning.shared_available() < 1 << 50
