"""The search for a DataLoader's best settings, and its sweeps. Times are computed from the settings, not measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._errors import ArgumentError  # noqa: E402
from dsconv._measure import process_memory  # noqa: E402
from dsconv._measure import tune as tuning  # noqa: E402
from dsconv._measure.rebuild import CannotRebuild, settings  # noqa: E402
from dsconv._measure.sweep import parse, sweep  # noqa: E402
from dsconv._measure.trial import Lap, Meter, Trial, compare  # noqa: E402
from dsconv._measure.tune import estimate, tune  # noqa: E402
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
            return Trial(s, 40, self.work + self.step, peak_memory=300 * MB, batch_bytes=MB)
        seconds = max(self.work / min(workers, self.cores), self.step) + 0.01 * workers
        seconds += 0 if s["persistent_workers"] else self.start * workers
        queued = workers * (s["prefetch_factor"] + 1) + 1
        return Trial(s, 40, seconds, self.start, (300 + 50 * workers + queued) * MB, (50 * workers + queued) * MB, MB)


pytestmark = pytest.mark.filterwarnings("ignore:.*worker processes in total")


@pytest.fixture(autouse=True)
def plenty_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "available", lambda: 100_000 * MB)
    monkeypatch.setattr(tuning, "shared_available", lambda: 100_000 * MB)
    monkeypatch.setattr(tuning, "accelerator", lambda: None)


def test_finds_the_number_of_workers() -> None:
    machine = Machine(cores=4)
    loader = DataLoader(Images(), 4, num_workers=1)
    found = tune(loader, machine, cores=4)
    assert found.changes == {"num_workers": 4, "persistent_workers": True}
    assert found.gain == pytest.approx(1 - (2.5 + 0.04) / (10 + 0.11))
    assert found.command == "num_workers=4, persistent_workers=True"
    assert found.text.startswith(
        "num_workers=4, persistent_workers=True: an epoch takes 2.54 s instead of 10.11 s (75 %"
    )
    assert found.text.endswith("+159 MB of memory")
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
    assert (found.changes, found.gain, found.command) == ({}, 0.0, "")
    assert "best of" in found.text


def test_workers_that_start_fast_need_not_stay() -> None:
    """A setting that gains nothing is not changed."""
    found = tune(DataLoader(Images(), 4, num_workers=1), Machine(cores=4, start=0.001), cores=4)
    assert found.changes == {"num_workers": 4}


def test_luck_is_not_a_gain() -> None:
    """What was fast once, and is not when both take turns, is no recommendation."""
    machine, seen = Machine(cores=4, start=0.0), []

    def lucky(loader: Any) -> Trial:
        trial = machine(loader)
        first = loader.num_workers == 6 and 6 not in seen
        seen.append(loader.num_workers)
        return Trial(trial.settings, 40, 1.0) if first else trial

    loader = DataLoader(Images(), 4, num_workers=4)
    assert tune(loader, lucky, cores=4).changes == {}


def test_settings_that_fail_or_do_not_fit_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(cores=8)
    machine.fails = lambda s: s["num_workers"] > 4
    found = tune(DataLoader(Images(), 4, num_workers=1), machine, cores=4)
    assert found.changes["num_workers"] == 4
    assert "killed by signal" in found.refused["num_workers=6, persistent_workers=True"]
    monkeypatch.setattr(tuning, "available", lambda: 100 * MB)
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
    assert "get_worker_info" in found.refused["num_workers=2"]


def test_pinning_is_tried_with_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "accelerator", lambda: "cuda")
    machine = Machine(cores=1)

    def pinned(loader: Any) -> Trial:
        trial = machine(loader)
        seconds = trial.epoch_seconds * (0.5 if loader.pin_memory else 1)
        return Trial(trial.settings, 40, seconds)

    assert tune(DataLoader(Images(), 4), pinned, cores=1).changes["pin_memory"] is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workers=4,0,2", ("num_workers", [0, 2, 4])),
        ("batch=16, 64", ("batch_size", [16, 64])),
        ("prefetch_factor=1,2,2", ("prefetch_factor", [1, 2])),
        ("persistent=0,1", ("persistent_workers", [0, 1])),
    ],
)
def test_parse(text: str, expected: tuple[str, list[int]]) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["workers", "workers=", "workers=a", "speed=1", "pin=2", "workers=1..4", ""])
def test_parse_refuses(text: str) -> None:
    with pytest.raises(ArgumentError, match="sweep="):
        parse(text)


def test_sweep() -> None:
    loader = DataLoader(Images(), 4, num_workers=2, persistent_workers=True)
    found, notes = sweep(loader, *parse("workers=0,1,2,4,8"), Machine(cores=4), "train.py:loader")
    assert (found.setting, found.dataset, found.knee, notes) == ("workers", "train.py:loader", 4, [])
    assert [p.value for p in found.points] == [0, 1, 2, 4, 8]
    assert [p.epoch_seconds for p in found.points] == pytest.approx([10, 10.01, 5.02, 2.54, 2.58])
    assert [p.images_per_second for p in found.points] == pytest.approx([40 / p.epoch_seconds for p in found.points])
    assert [p.peak_memory_bytes // MB for p in found.points] == [300, 354, 407, 513, 725]
    assert [p.memory_estimate_bytes // MB for p in found.points] == [301, 354, 0, 513, 725], "0: it was the reference"


def test_sweep_says_what_was_not_measured() -> None:
    machine = Machine(cores=4)
    machine.fails = lambda s: s["num_workers"] == 8
    loader = DataLoader(Images(), 4, num_workers=2, timeout=3)
    found, notes = sweep(loader, *parse("workers=0,1,8"), machine)
    assert [p.value for p in found.points] == [1]
    assert "timeout=3" in notes[0] and "killed by signal" in notes[1]
    with pytest.raises(CannotRebuild, match="batch_sampler"):
        sweep(DataLoader(Images(), batch_sampler=[[1]]), *parse("batch=1,2"), machine)


def test_estimate_scales_the_batches_with_their_size() -> None:
    known = Trial({"num_workers": 2, "prefetch_factor": 2, "batch_size": 4}, 40, 1.0, 0.1, 500 * MB, 100 * MB, MB)
    new = {"num_workers": 4, "prefetch_factor": 1, "batch_size": 8}
    assert estimate(new, known) == (400 + 4 * ((100 - 7) / 2) + 2 * 9) * MB
    assert estimate({**new, "num_workers": 0, "prefetch_factor": None}, known) == 402 * MB


def test_rounds_are_compared_in_pairs() -> None:
    """The machine becomes slower from round to round; the gain is that of neighbours."""
    before = iter([Trial({}, 1, s) for s in (10.0, 20.0, 40.0)])
    after = iter([Trial({}, 1, s) for s in (5.0, 10.0, 20.0)])
    found = compare(lambda: next(before), lambda: next(after), 3)
    assert (found.gain, found.agree) == (0.5, True)
    assert (found.before.epoch_seconds, found.after.epoch_seconds) == (20.0, 10.0)


def test_a_batch_takes_as_long_as_between_rounds_of_workers() -> None:
    """Two workers, whose batches arrive together, after a start of 5 seconds."""
    lap = Lap([5.0, 5.0, 6.0, 6.0, 7.0, 7.0], 7.5, 4, 100)
    assert lap.per_batch(2) == 0.5


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
    trial = Meter(lambda batch: steps.append(1), seconds=0.0)(loader())
    assert trial.samples == samples
    assert trial.epoch_seconds > 0 and trial.start_seconds > 0 and steps
    assert trial.images_per_second == trial.samples / trial.epoch_seconds
    assert trial.batch_bytes > 0
    assert torch.equal(torch.get_rng_state(), before)
    if process_memory.tree(1):
        assert trial.peak_memory > 0


def test_meter_names_an_empty_loader() -> None:
    with pytest.raises(ArgumentError, match="no batch"):
        Meter()(DataLoader(Images(), sampler=[]))


class Stream(IterableDataset):
    def __iter__(self) -> Any:
        return iter([torch.zeros(3, 2, 2)] * 23)


def test_meter_of_a_stream_of_unknown_length() -> None:
    """All trials are of as many samples as the first one measured."""
    meter = Meter(seconds=0.0)
    first = meter(DataLoader(Stream(), 2))
    assert meter(DataLoader(Stream(), 4)).samples >= first.samples > 0
    assert Meter(seconds=60.0)(DataLoader(Stream(), 4)).samples == 24


def test_memory_of_this_process_and_its_children() -> None:
    import os
    import subprocess
    import sys

    if not process_memory.tree(os.getpid()) or not os.path.exists("/proc/self/smaps_rollup"):
        pytest.skip("the kernel does not tell")
    program = "b = bytearray(50_000_000); b[::4096] = b'x' * len(b[::4096]); print(flush=True); input()"
    before = process_memory.Peak()
    before.sample()
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline()
        assert child.pid in process_memory.tree(os.getpid())
        during = process_memory.Peak()
        assert during.sample() > 0
    finally:
        child.communicate(b"\n")
    assert during.bytes - before.bytes > 40 * MB
    assert during.in_workers > 50 * MB


def test_memory_that_is_free() -> None:
    if process_memory.available():
        assert 0 < process_memory.available() < 1 << 50
    assert process_memory.batch_bytes([torch.zeros(2, 3), {"label": torch.zeros(2)}, b"abc", "name"]) == 35
