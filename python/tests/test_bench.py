"""dsconv.bench, and the report: the same JSON in Go and Python."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path

import dsconv
import pytest
from dsconv import _command
from dsconv._report import DatasetReport, Report, Round, Stages
from test_pack import flags_of


@pytest.fixture(scope="module")
def measured(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command's JSON of a bench of a folder and a tar."""
    dir = tmp_path_factory.mktemp("bench")
    dsconv.pack(photos, dir / "out.tar", progress=False)
    args = ["--rounds=3", "--size=16", "--batch=8", "--quiet", "--consume=2000/s", "--order=block:4:2"]
    _command.run(["bench", str(photos), str(dir / "out.tar"), f"--json={dir / 'report.json'}", *args])
    return dir / "report.json"


def loop() -> Report:
    """A report like that of a training loop in Python."""

    def rounds(seconds: float, *accuracies: float) -> list[Round]:
        return [
            Round(
                images=1000, loaded=1000, bytes=5000, seconds=seconds, wait_seconds=seconds - 0.4,
                stage_seconds=Stages(step=0.4), transfer_seconds=0.1, accuracy=a, loss=1 - a,
            )
            for a in accuracies
        ]  # fmt: skip

    before = DatasetReport(path="images", format="folder", samples=1000, rounds=rounds(2.0, 0.25, 0.5))
    before.settings = {"num_workers": 8, "pin_memory": True}
    after = DatasetReport(path="out.lmdb", format="lmdb", samples=1000, rounds=rounds(0.5, 0.25, 0.0))
    return Report(options={"batch": 16}, consumer="resnet18", datasets=[before, after]).summarise()


def test_bench(photos: Path, packed: Path) -> None:
    report = dsconv.bench(photos, packed, rounds=1, size=16, batch=8, augment=None, progress=False)
    assert [d.path for d in report.datasets] == [str(photos), str(packed)]
    first, second = report.datasets
    assert first.ratio == 1 and second.ratio == pytest.approx(second.images_per_second / first.images_per_second)
    assert report.options["batch"] == 8 and report.consumer == "loader alone"
    assert report.table.startswith("loader alone; ") and str(report) == report.table
    assert report._repr_html_().startswith("<pre>")


def test_errors_say_what_is_wrong(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="3000/s"):
        dsconv.bench(photos, consume="fast")
    with pytest.raises(ValueError, match="SRC is missing"):
        dsconv.bench()
    with pytest.raises(dsconv.Error, match="nowhere"):
        dsconv.bench(tmp_path / "nowhere.tar", progress=False)
    with pytest.raises(dsconv.Error, match="merge .*nothing.json"):
        dsconv.bench(merge=[tmp_path / "nothing.json"])


def test_every_flag_is_a_parameter() -> None:
    parameters = set(inspect.signature(dsconv.bench).parameters) - {"datasets"}
    forms = {"json", "html"}  # save and save_html of the report
    assert flags_of("bench") - forms - {"quiet", "help"} == parameters


def test_python_writes_what_go_wrote(measured: Path, tmp_path: Path) -> None:
    Report.load(measured).save(tmp_path / "again.json")
    text = json.loads(measured.read_text())
    assert text["datasets"][0]["rounds"][0]["stage_seconds"]["step"] > 0
    again = json.loads((tmp_path / "again.json").read_text())
    assert again == text
    assert list(again["datasets"][0]) == list(text["datasets"][0])  # in the same order, too


def test_python_computes_what_go_computed(measured: Path) -> None:
    report, go = Report.load(measured), Report.load(measured)
    for d in report.datasets:
        d.epoch_seconds = d.ratio = d.starved = -1
        d.stage_us_per_image = Stages()
        for r in d.rounds:
            r.ratio = -1
    assert flat(report.summarise().to_dict()) == pytest.approx(flat(go.to_dict()), rel=1e-9)


def flat(value: object, name: str = "") -> dict[str, object]:
    """The numbers in a JSON value, by their paths."""
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)  # type: ignore[assignment]
    else:
        return {name: value} if isinstance(value, (int, float)) else {}
    return {k: v for key, inner in pairs for k, v in flat(inner, f"{name}/{key}").items()}


def test_go_reads_what_python_wrote(tmp_path: Path) -> None:
    report = loop().judge()
    report.save(tmp_path / "loop.json")
    _command.run(["bench", f"--merge={tmp_path / 'loop.json'}", f"--json={tmp_path / 'go.json'}"])
    go = Report.load(tmp_path / "go.json")
    assert go.source == str(tmp_path / "loop.json")
    assert go.datasets[1].accuracy == 0.0  # which is not the same as unknown
    for a, b in zip(report.datasets, go.datasets):
        a.memory_estimate = b.memory_estimate  # Go fills in its zeros
        assert dataclasses.asdict(a) == dataclasses.asdict(b)


def test_a_page(tmp_path: Path) -> None:
    report = loop()
    report.datasets[0].path = "<img src=x>"
    page = tmp_path / "report.html"
    page.write_text("mine")
    with pytest.raises(ValueError, match="no report of dsconv bench"):
        report.save_html(page)
    assert page.read_text() == "mine"
    page.unlink()
    report.save_html(page)
    text = page.read_text()
    assert (
        text.startswith("<!DOCTYPE html>")
        and "&lt;img src=x&gt;" in text
        and "<img" not in text.split("<main")[1].split("<script")[0]
    )


def test_medians_and_ratios() -> None:
    before, after = loop().datasets
    assert (before.epoch_seconds, before.images_per_second, before.starved) == (2.0, 500.0, 0.8)
    assert (after.ratio, after.transfer_seconds, after.accuracy, after.loss) == (4.0, 0.1, 0.0, 1.0)
    assert before.diagnosis == ""  # summarise computes, and judges nothing


def test_the_command_judges() -> None:
    report = loop()
    part = {"name": "Cutout", "kind": "augment", "wall_us": 5000, "cpu_us": 5000, "python": True, "native": "erase"}
    report.datasets[1].costs = {"samples": 1000, "workers": 2, "cores": 2, "epoch_seconds": 2.5, "parts": [part]}
    report.advice = {
        "text": "",
        "candidates": [{"command": "x", "lossless": True, "before_seconds": 2, "after_seconds": 1}],
    }
    report.merged = [loop()]
    before, after = report.judge().datasets
    assert before.verdict is None and "waited for data for 80 % of the epoch" in before.diagnosis
    assert after.verdict is not None and (after.verdict["cause"], after.verdict["part"]) == ("python", "Cutout")
    assert after.diagnosis == after.verdict["text"] and after.diagnosis in report.table
    assert "waited for data" in report.merged[0].datasets[0].diagnosis
    assert report.advice is None or report.advice["text"] == ""  # the first row has no verdict
    assert Report.from_dict(report.to_dict()) == report


def test_repr_is_short() -> None:
    report = loop()
    assert repr(report).splitlines() == [
        "Report('resnet18'): 2 datasets",
        "    DatasetReport('images'): 500 images/s, ratio 1.00, starved 80 %, 2 rounds",
        "    DatasetReport('out.lmdb'): 2000 images/s, ratio 4.00, starved 20 %, 2 rounds",
    ]
    report.datasets *= 10
    report.merged = [loop()]
    lines = repr(report).splitlines()
    assert len(lines) == 5 and lines[0] == "Report('resnet18'): 20 datasets, 1 merged report"
    assert lines[4] == "    and 17 more: print(report) shows all"


def test_merged_reports_keep_their_ratios(photos: Path, tmp_path: Path) -> None:
    loop().save(tmp_path / "loop.json")
    report = dsconv.bench(photos, merge=[tmp_path / "loop.json", loop()], rounds=1, size=16, progress=False)
    assert [m.source for m in report.merged] == [str(tmp_path / "loop.json"), "merged 2"]
    assert [d.ratio for d in report.merged[0].datasets] == [1.0, 4.0]
    for text in ("\nmerged 2: resnet18; ", "accuracy\n", "images: with num_workers=8, pin_memory=true"):
        assert text in report.table

    alone = dsconv.bench(merge=[loop(), tmp_path / "loop.json"])
    assert [d.path for d in alone.datasets] == ["images", "out.lmdb"] and len(alone.merged) == 1


def test_a_loss_of_nan_is_left_out() -> None:
    report = loop()
    report.datasets[0].loss = report.datasets[0].rounds[0].loss = float("nan")
    data = dsconv.bench(merge=[report]).datasets[0]
    assert data.loss is None and data.rounds[0].loss is None and data.rounds[1].loss == 0.5


def test_html_is_escaped() -> None:
    report = loop()
    report.datasets[0].path = "<b>"
    assert "&lt;b&gt;" in report._repr_html_() and "<b>" not in report._repr_html_()
