"""What tune adds to the report of dsconv.bench of a DataLoader: a row with the best settings, and what was found."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv import measure  # noqa: E402
from dsconv._errors import ArgumentError  # noqa: E402
from dsconv._measure import tune  # noqa: E402
from dsconv._measure.bench import _of_tuning, advise, bench  # noqa: E402
from dsconv._measure.rebuild import settings  # noqa: E402
from dsconv._measure.rows import Row  # noqa: E402
from dsconv._measure.tune import Trial, Tuned  # noqa: E402
from dsconv._report import DatasetReport, Report, Round  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402


class Images(Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        return torch.zeros(3, 2, 2), i


class FakeMeter:
    """One worker is twice as fast as none, and as two."""

    def __init__(self, plan: Any) -> None:
        self.plan = plan

    def __call__(self, loader: Any) -> Trial:
        return Trial(settings(loader), 1.0 if loader.num_workers == 1 else 2.0)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "Meter", FakeMeter)
    monkeypatch.setattr(tune, "share_of_cores", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("computed")
def test_the_report_has_the_best_settings() -> None:
    turns: list[Any] = []
    loader = DataLoader(Images(), 4)
    report = bench(loader, name="train.py:loader", rounds=1, tune=True, on_turn=turns.append)
    assert [d.path for d in report.datasets] == ["train.py:loader", "train.py:loader, tuned"]
    own, best = report.datasets
    assert (own.settings["num_workers"], best.settings["num_workers"]) == (0, 1)
    assert best.samples == own.samples == 8
    assert best.costs is not None and best.costs["workers"] == 1
    assert any(note.startswith("train.py:loader: num_workers=1: an epoch takes ") for note in report.notes)
    assert "tune: pin_memory was not tried: there is no GPU to copy to" in report.notes
    assert report.advice is not None and report.advice["text"] == ""
    (candidate,) = report.advice["candidates"]
    assert (candidate["command"], candidate["setting"], candidate["lossless"]) == (
        "DataLoader(num_workers=1)", True, True,
    )  # fmt: skip
    assert candidate["before_seconds"] == pytest.approx(own.rounds[0].seconds)
    ratio = best.rounds[0].images_per_second / own.rounds[0].images_per_second
    assert candidate["after_seconds"] == pytest.approx(own.rounds[0].seconds / ratio)
    trials = [t for t in turns if not t["total"]]
    assert trials and all(t["dataset"].startswith("train.py:loader, ") for t in trials)


@pytest.mark.usefixtures("computed")
def test_settings_that_are_the_best_get_no_row() -> None:
    report = bench(DataLoader(Images(), 4, num_workers=1), name="own", rounds=1, tune=True)
    assert [d.path for d in report.datasets] == ["own"]
    assert report.advice is None
    assert any("are the best of" in note for note in report.notes)


def test_what_is_wrong_is_said_before_anything_is_measured() -> None:
    with pytest.raises(ArgumentError, match="needs a DataLoader of torch's; this is a list"):
        bench([torch.zeros(4, 3, 2, 2)], name="batches", tune=True)


def test_options_of_the_module() -> None:
    assert measure.parser().parse_args(["--script=t.py:x", "--tune"]).tune


def test_how_ours_compares_with_the_best_settings() -> None:
    """Datasets that were given beside it may have other pixels, and are no candidates."""
    tuned = Tuned({"num_workers": 2, "persistent_workers": True}, 5, {})
    rows = [Row("own", []), Row("own, tuned", [], command=f"DataLoader({tuned.command})")]
    measured = [
        ("own", "DataLoader", 4.0),
        ("own, tuned", "DataLoader", 2.0),
        ("dsconv.Loader(images)", "Loader", 1.0),
        ("dsconv.Loader(small.lmdb)", "Loader", 0.5),
    ]
    rows += [Row("dsconv.Loader(images)", [], command='dsconv.Loader("images")'), Row("dsconv.Loader(small.lmdb)", [])]
    report = Report(
        datasets=[
            DatasetReport(path=path, format=kind, rounds=[Round(images=8, seconds=seconds)])
            for path, kind, seconds in measured
        ]
    )
    report.summarise()
    advise(report, rows)
    assert report.advice is not None
    assert [(c["command"], c["before_seconds"], c["after_seconds"]) for c in report.advice["candidates"]] == [
        ("DataLoader(num_workers=2, persistent_workers=True)", 4.0, 2.0),
        ('dsconv.Loader("images")', 4.0, 1.0),
    ]
    first, staying, *others = _of_tuning(tuned, report)
    assert first == ("own: num_workers=2, persistent_workers=True: an epoch takes 2.00 s instead of 4.00 s (50 % less)")
    assert staying.startswith("persistent_workers=True: workers keep their copy")
    assert others == [
        "dsconv.Loader(images) is 2.00 times as fast as the DataLoader with its best settings",
        "dsconv.Loader(small.lmdb) is 4.00 times as fast as the DataLoader with its best settings",
    ]
