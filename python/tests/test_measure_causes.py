"""The verdict on a user's DataLoader names the part that was really made slow."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, Callable

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import slow_parts  # noqa: E402
from dsconv._measure import turns  # noqa: E402
from dsconv._report import DatasetReport  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

SLOW = 0.02  # seconds a sample
SAMPLES = 10  # of an epoch
ATTEMPTS = 6


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "STEP_SECONDS", 0.05)


class Decoded(slow_parts.Files):
    """Decodes a large photo for each sample."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, SAMPLES)
        from PIL import Image

        noise = np.random.default_rng(1).integers(0, 255, (1200, 1200, 3), np.uint8)
        Image.fromarray(noise).save(self.paths[0], "jpeg")
        for path in self.paths[1:]:
            path.write_bytes(self.paths[0].read_bytes())

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        with open(self.paths[index], "rb") as f:
            return self.transform(torch.tensor([float(Image.open(f).convert("RGB").width)])), index


def wait(_: Any) -> None:
    slow_parts.sleep(0.3)


def files(**slow: float) -> Callable[[Path], DataLoader[Any]]:
    return lambda folder: DataLoader(
        slow_parts.Files(folder, SAMPLES, **slow), 2, num_workers=2, persistent_workers=True
    )


def collating(folder: Path) -> DataLoader[Any]:
    dataset = slow_parts.Files(folder, SAMPLES)
    return DataLoader(dataset, 2, num_workers=2, persistent_workers=True, collate_fn=slow_parts.slow_collate)


def starting(folder: Path) -> DataLoader[Any]:
    return DataLoader(slow_parts.Files(folder, SAMPLES), 2, num_workers=2, worker_init_fn=wait)


def decoding(folder: Path) -> DataLoader[Any]:
    return DataLoader(Decoded(folder), 2, num_workers=2, persistent_workers=True)


class Fetched(slow_parts.Files):
    """A function that the dataset holds opens the files, and waits for them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 16)
        self.fetch = slow_parts.fetch

    def __getitem__(self, index: int) -> Any:
        return self.transform(self.decode(self.fetch(self.paths[index]))), index


def fetching(folder: Path) -> DataLoader[Any]:
    return DataLoader(Fetched(folder), 2, num_workers=2, persistent_workers=True)


def until_named(measure: Callable[[], DatasetReport], cause: str, part: str = "") -> DatasetReport:
    """Measures until the verdict names the cause, at most ATTEMPTS times: the epochs are so short that another program
    which takes the cores at the wrong moment costs more than what was made slow."""
    for _ in range(ATTEMPTS):
        row = measure()
        if row.verdict is not None and row.verdict["cause"] == cause and part in row.verdict.get("part", ""):
            return row
    pytest.fail(f"the cause is {cause} {part}, not {row.verdict}, {row.costs}")


CASES: dict[str, tuple[Callable[[Path], DataLoader[Any]], str, str]] = {
    "read": (files(read=SLOW), "storage", "waiting"),
    "fetch": (fetching, "storage", "waiting"),
    "decode": (decoding, "decode", "PIL.ImageFile.load"),
    "own code": (files(decode=SLOW), "python", "slow_parts.spin"),
    "transform": (files(augment=SLOW), "python", "slow_parts.Slow"),
    "collate": (collating, "collate", ""),
    "start": (starting, "start", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str, tmp_path: Path) -> None:
    make, cause, part = CASES[case]
    loader = make(tmp_path)
    row = until_named(lambda: dsconv.bench(loader, rounds=1, progress=False).datasets[0], cause, part)
    assert row.diagnosis


@pytest.mark.parametrize("slow", ["step", "transfer"])
def test_cause_in_the_loop(slow: str, tmp_path: Path) -> None:
    def work(batch: Any) -> Any:
        slow_parts.sleep(0.04)
        return batch

    def measure() -> DatasetReport:
        return dsconv.bench(files()(tmp_path), rounds=1, progress=False, **{slow: work}).datasets[0]

    until_named(measure, "compute" if slow == "step" else "transfer")


def test_timed_names_the_cause_too(tmp_path: Path) -> None:
    def measure() -> DatasetReport:
        loader = dsconv.timed(files(augment=SLOW)(tmp_path), warmup=1)
        for _ in range(2):
            for _ in loader:
                pass
        return loader.report().datasets[0]

    row = until_named(measure, "python", "slow_parts.Slow")
    assert row.verdict is not None and row.verdict["part"] == "slow_parts.Slow"
    assert row.costs is not None and row.costs["loop"] and row.timeline is not None and row.timeline["loads"]


def photos(folder: Path) -> Path:
    """A folder of images in two classes."""
    from PIL import Image

    for k in range(8):
        path = folder / f"class{k % 2}" / f"{k}.png"
        path.parent.mkdir(exist_ok=True)
        Image.new("RGB", (32, 32)).save(path)
    return folder


def test_transforms_of_dsconv_in_python(tmp_path: Path) -> None:
    loader = dsconv.Loader(photos(tmp_path), 2, transform=[slow_parts.array, slow_parts.Slow(SLOW)], num_workers=2)
    with contextlib.closing(loader):
        row = until_named(lambda: dsconv.bench(loader, rounds=1, progress=False).datasets[0], "python")
    assert row.verdict is not None and row.verdict["part"] == "slow_parts.array + slow_parts.Slow"


class Halfway(slow_parts.Files):
    """Its transform leaves work to the dataset."""

    def __init__(self, folder: Path) -> None:
        self.paths = sorted(photos(folder).rglob("*.png"))
        self.transform = slow_parts.same

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        return slow_parts.array(self.transform(Image.open(self.paths[index]))), index


def test_what_bench_adds_may_fail(tmp_path: Path) -> None:
    report = dsconv.bench(DataLoader(Halfway(tmp_path), 2), rounds=1, progress=False)
    assert len(report.datasets) == 1 and report.datasets[0].verdict is not None
    assert any("was not measured" in note for note in report.notes), str(report.notes)
