"""What dsconv.bench of a DataLoader adds to its report: the best settings, sweeps and rules."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv import measure  # noqa: E402
from dsconv._errors import ArgumentError  # noqa: E402
from dsconv._measure import other_settings, trial, tune  # noqa: E402
from dsconv._measure.bench import bench  # noqa: E402
from dsconv._measure.candidates import advise  # noqa: E402
from dsconv._measure.other_settings import OtherSettings  # noqa: E402
from dsconv._measure.rebuild import settings  # noqa: E402
from dsconv._measure.rows import Row  # noqa: E402
from dsconv._measure.trial import Trial  # noqa: E402
from dsconv._measure.turns import Plan  # noqa: E402
from dsconv._report import DatasetReport, Report, Round  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402


class Images(Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        return torch.zeros(3, 2, 2), i


class FakeMeter:
    """One worker is twice as fast as none, and as two."""

    def __init__(self, step: Any, seconds: float) -> None:
        self.step = step

    def __call__(self, loader: Any) -> Trial:
        return Trial(settings(loader), 8, 1.0 if loader.num_workers == 1 else 2.0)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "Meter", FakeMeter)
    monkeypatch.setattr(tune, "share_of_cores", lambda: 1)
    monkeypatch.setattr(tune, "accelerator", lambda: None)


@pytest.mark.usefixtures("computed")
def test_the_report_has_the_best_settings_sweeps_and_rules() -> None:
    turns: list[Any] = []
    loader = DataLoader(Images(), 4)
    report = bench(
        loader, name="train.py:loader", rounds=1, tune=True, rules=True, sweep=["workers=0,1", "batch=2"],
        on_turn=turns.append,
    )  # fmt: skip
    assert [d.path for d in report.datasets] == ["train.py:loader", "train.py:loader, tuned"]
    own, best = report.datasets
    assert (own.settings["num_workers"], best.settings["num_workers"]) == (0, 1)
    assert best.samples == own.samples == 8
    assert best.costs is not None and best.costs["workers"] == 1
    assert any(note.startswith("train.py:loader: num_workers=1: an epoch takes 1.00 s") for note in report.notes)
    assert "tune: pin_memory was not tried: there is no GPU to copy to" in report.notes
    assert report.advice is not None and report.advice["text"] == ""
    (candidate,) = report.advice["candidates"]
    assert (candidate["command"], candidate["setting"], candidate["lossless"]) == (
        "DataLoader(num_workers=1)", True, True,
    )  # fmt: skip
    assert candidate["before_seconds"] == pytest.approx(own.rounds[0].seconds)
    ratio = best.rounds[0].images_per_second / own.rounds[0].images_per_second
    assert candidate["after_seconds"] == pytest.approx(own.rounds[0].seconds / ratio)
    assert [(s["setting"], s["dataset"], s["knee"]) for s in report.sweeps] == [
        ("workers", "train.py:loader", 1), ("batch", "train.py:loader", 2),
    ]  # fmt: skip
    assert [p["epoch_seconds"] for p in report.sweeps[0]["points"]] == [2.0, 1.0]
    assert [r["name"] for r in report.rules][:2] == ["more workers", "prefetch"]
    assert report.rules[0]["dataset"] == "train.py:loader"
    trials = [t for t in turns if not t.total]
    assert trials and all(t.name.startswith("train.py:loader, ") for t in trials)
    assert Report.from_dict(report.to_dict()).sweeps == report.sweeps


@pytest.mark.usefixtures("computed")
def test_settings_that_are_the_best_get_no_row() -> None:
    report = bench(DataLoader(Images(), 4, num_workers=1), name="own", rounds=1, tune=True)
    assert [d.path for d in report.datasets] == ["own"]
    assert report.advice is None
    assert any("are the best of" in note for note in report.notes)


def test_what_is_wrong_is_said_before_anything_is_measured() -> None:
    with pytest.raises(ArgumentError, match="speed=1"):
        bench(DataLoader(Images(), 4), sweep="speed=1")
    with pytest.raises(ArgumentError, match="need a DataLoader of torch's; .* is a list"):
        bench([torch.zeros(4, 3, 2, 2)], name="batches", tune=True)


def test_the_loop_is_transfer_and_step() -> None:
    calls: list[str] = []
    transfer, step = (lambda b: calls.append(f"to {b}") or b + 1), (lambda b: calls.append(f"step {b}"))
    both = other_settings.loop(Plan(transfer=transfer, step=step))
    assert both is not None
    both(1)
    assert calls == ["to 1", "step 2"]
    assert other_settings.loop(Plan()) is None
    assert other_settings.loop(Plan(step=step)) is step
    assert other_settings.loop(Plan(transfer=transfer)) is transfer


def test_options_of_the_module() -> None:
    options = measure.parser().parse_args(
        ["--script=t.py:x", "--tune", "--rules", "--sweep=workers=0,1", "--sweep=batch=8"]
    )
    assert (options.tune, options.rules, options.sweep) == (True, True, ["workers=0,1", "batch=8"])


def test_how_ours_compares_with_the_best_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Datasets that were given beside it may have other pixels, and are no candidates."""
    loader = DataLoader(Images(), 4)
    tuned = tune.Tuned({"num_workers": 2}, Trial({}, 8, 4.0), Trial({}, 8, 2.0), 0.5, [])
    trials = OtherSettings(tune=True).of(loader, "own", Plan())
    assert trials is not None
    monkeypatch.setattr(tune, "tune", lambda *_: tuned)
    rows = [Row("own", loader)]
    trials.add_best(rows)
    assert [row.name for row in rows] == ["own", "own, tuned"]
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
    trials.add_findings(report)
    advise(report, rows)
    assert report.advice is not None
    assert [(c["command"], c["before_seconds"], c["after_seconds"]) for c in report.advice["candidates"]] == [
        ("DataLoader(num_workers=2)", 4.0, 2.0),
        ('dsconv.Loader("images")', 4.0, 1.0),
    ]
    assert report.notes[1:] == [
        "dsconv.Loader(images) is 2.00 times as fast as the DataLoader with its best settings",
        "dsconv.Loader(small.lmdb) is 4.00 times as fast as the DataLoader with its best settings",
    ]
