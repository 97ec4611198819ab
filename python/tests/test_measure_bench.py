"""dsconv.bench of a loader, and of a script."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import slow_parts  # noqa: E402
from dsconv._bench import judged  # noqa: E402
from dsconv._errors import ArgumentError  # noqa: E402
from dsconv._measure import turns as turns_module  # noqa: E402
from dsconv._measure.bench import bench  # noqa: E402
from dsconv._measure.ours import image_files  # noqa: E402
from dsconv._measure.passes import Pass  # noqa: E402
from dsconv._measure.rows import Loop, Row  # noqa: E402
from dsconv._measure.turns import Plan, measure, steps_of  # noqa: E402
from dsconv.measure import main  # noqa: E402
from torch.utils.data import DataLoader, Dataset, Subset  # noqa: E402
from torchvision import transforms  # noqa: E402


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "STEP_SECONDS", 0.05)


class Photos(Dataset[Any]):
    """Image files as a user's dataset lists them."""

    def __init__(self, folder: Path, transform: Any = None) -> None:
        self.paths = sorted(folder.rglob("*.jpg"))
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        return self.transform(Image.open(self.paths[index]).convert("RGB"))


def small(image: Any) -> Any:
    return torch.tensor(np.asarray(image.resize((16, 16))))


def test_a_loader_and_ours_beside_it(photos: Path) -> None:
    order = torch.Generator().manual_seed(3)
    loader = DataLoader(Photos(photos, small), 8, shuffle=True, generator=order, num_workers=1)
    state, own = order.get_state(), torch.get_rng_state()
    report = dsconv.bench(loader, rounds=2, limit_batches=4, progress=False)
    assert torch.equal(order.get_state(), state) and torch.equal(torch.get_rng_state(), own)
    first, second = report.datasets
    assert (first.path, first.format, first.samples) == ("DataLoader(Photos)", "DataLoader", 32)
    assert second.format == "Loader" and second.samples == 32 and str(photos) in second.path
    assert len(first.rounds) == len(second.rounds) == 2 and first.ratio == 1 and second.ratio > 0
    costs = first.costs
    assert costs is not None and (costs["samples"], costs["batch"], costs["workers"]) == (32, 8, 1)
    assert costs["processes"] and "loop" not in costs
    kinds = {part["name"]: part["kind"] for part in costs["parts"]}
    assert kinds["PIL.ImageFile.load"] == "decode" and kinds["test_measure_bench.small"] == "augment"
    assert second.costs is not None and [p["name"] for p in second.costs["parts"]][:2] == ["read", "decode"]
    assert first.timeline is not None and len(first.timeline["batches"]) == 4 and first.timeline["loads"]
    assert any("epochs end early" in note for note in report.notes)
    assert first.stage_us_per_image.decode > 0 and first.stage_us_per_image.collate > 0


def test_the_loop_is_measured(tmp_path: Path) -> None:
    seen: list[int] = []

    def transfer(batch: Any) -> Any:
        slow_parts.sleep(0.01)
        return batch[0]

    def step(images: torch.Tensor) -> None:
        slow_parts.spin(0.02)
        seen.append(len(images))

    loader = DataLoader(slow_parts.Files(tmp_path), 4)
    report = bench(loader, rounds=1, step=step, transfer=transfer)
    (row,) = report.datasets
    assert row.costs is not None and row.costs["loop"] and set(seen) == {4}
    assert row.costs["step_us"] >= 5000 and row.costs["step_cpu_us"] >= 5000 and row.costs["transfer_us"] >= 2500
    assert row.rounds[0].transfer_seconds >= 0.03 and row.rounds[0].stage_seconds.step >= 0.06
    assert "Files has no list of image files" in " ".join(report.notes)


def test_any_iterable() -> None:
    batches = [torch.zeros(5, 2)] * 4
    report = bench(batches, rounds=1, consume="1000/s")
    (row,) = report.datasets
    assert (row.path, row.samples, report.consumer) == ("list", 20, "a consumer of 1000 images/s")
    assert row.costs is not None and row.costs["step_us"] >= 1000
    with pytest.raises(ValueError, match="consume='fast'"):
        bench(batches, consume="fast")
    with pytest.raises(ValueError, match="takes no batch, size"):
        dsconv.bench(batches, size=3, batch=2)
    with pytest.raises(ValueError, match="step and transfer are functions only beside a loader"):
        dsconv.bench("images", step=print)
    with pytest.raises(ValueError, match="bench of 5: it must be a path, a DataLoader or another iterable"):
        dsconv.bench(5)  # type: ignore[arg-type]


def test_a_step_that_was_slow_alone() -> None:
    """Other programs may be busy while the step is measured alone: it takes no longer than in any pass."""
    rows = [Row("batches", [torch.zeros(4, 1)] * 4)]
    measure(rows, Plan(rounds=1, step=lambda batch: slow_parts.sleep(0.02)))
    assert rows[0].loop is not None and rows[0].loop.step > 4000
    rows[0].passes[0].step = 4e-5
    steps_of(rows)
    assert rows[0].loop.step == pytest.approx(40 / 16)


def test_a_loader_that_was_slow_alone() -> None:
    """It is not slower than the epochs that it gave to the loop."""

    def made(seconds: float) -> Pass:
        return Pass(images=40, batch=10, count=4, seconds=seconds, first=0.01, last=0.01 + 0.75 * seconds)

    slow, quick = made(8.0), made(0.8)
    for alone, passes, loop, want in (
        (slow, [quick, made(2.0)], Loop(step=1.0), 0.02),
        (quick, [slow, slow], Loop(step=1.0), 0.02),
        (quick, [slow, slow], None, 0.02),
        (slow, [Pass(images=40, batch=40, count=1, seconds=0.1)], Loop(step=1.0), 0.2),
    ):
        assert Row("", None, passes, alone=alone, loop=loop).per_image(1) == pytest.approx(want)


def test_ways_to_pack_are_tried(photos: Path) -> None:
    """Of a DataLoader whose transforms dsconv has natively."""
    loader = DataLoader(
        Photos(photos, transforms.Compose([transforms.RandomResizedCrop(32), transforms.ToTensor()])), 8, shuffle=True
    )
    turns: list[dict[str, Any]] = []
    measured = bench(loader, rounds=1, limit_batches=2, on_turn=turns.append)
    assert [t["dataset"].partition(", ")[2] for t in turns] == ["", "looked into", "", "", ""]
    assert "dsconv pack" not in judged(measured).advice["text"] + str(judged(measured).advice["candidates"])
    tried = judged(measured, advise=None).advice
    assert tried is not None and any(c["command"].startswith("dsconv pack") for c in tried["candidates"])
    refused = dsconv.bench([torch.zeros(2, 1)], rounds=1, advise=True, progress=False)
    assert "no ways to pack were tried" in refused.notes[-1]


def test_infinite_streams_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "PASS_SECONDS", 0.05)

    class Forever:
        def __iter__(self) -> Any:
            while True:
                yield torch.zeros(2)

    report = bench(Forever(), rounds=1)
    assert report.datasets[0].samples > 0 and "epochs end early: after 20 s" in report.notes[0]


def test_image_files(photos: Path, tmp_path: Path) -> None:
    dataset = Photos(photos, small)
    found = image_files(Subset(dataset, range(10)))
    assert (Path(found.root), found.samples, found.transform, found.labelled) == (photos, 10, small, True)
    dataset.transform = None
    with pytest.raises(ArgumentError, match="no attribute transform"):
        image_files(dataset)
    dataset.paths = [tmp_path / "nothing.jpg"]
    with pytest.raises(ArgumentError, match="there is no such file"):
        image_files(dataset)


SCRIPT = """
import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

print("imported as", __name__)


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(index)


def train_loader():
    return DataLoader(Numbers(), 4, num_workers=1, multiprocessing_context=CONTEXT)


def step(batch):
    batch.sum()


loader, number, CONTEXT = DataLoader(Numbers(), 2), 5, "fork"
"""


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Removes what a script leaves in this process."""
    paths, modules, stop = list(sys.path), set(sys.modules), signal.getsignal(signal.SIGTERM)
    yield
    sys.path[:] = paths
    signal.signal(signal.SIGTERM, stop)
    for name in {"my-train", "its_name"} & (set(sys.modules) - modules):
        del sys.modules[name]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "my-train.py"
    path.write_text(SCRIPT)
    return path


def test_a_script_through_the_command(script: Path) -> None:
    report = dsconv.bench(script=f"{script}:train_loader", step="step", rounds=1, progress=False)
    (row,) = report.datasets
    assert (row.path, row.samples) == (f"{script}:train_loader", 8)
    names = [part["name"] for part in row.costs["parts"]]  # type: ignore[index]
    assert any(name.startswith("my-train.Numbers.__getitem__") for name in names), names
    assert report.consumer == "the loop's step"


def test_the_module(script: Path, tmp_path: Path, forgotten: None, capsys: pytest.CaptureFixture[str]) -> None:
    main([f"--script={script}:loader", "--rounds=1", "--progress=json", f"--json={tmp_path / 'out.json'}"])
    out, err = capsys.readouterr()
    assert out == "" and "imported as my-train" in err
    turns = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert [t["done"] for t in turns] == [1, 2, 3] and turns[0]["total"] == 3 and turns[-1]["round"] == 1
    assert json.loads((tmp_path / "out.json").read_text())["datasets"][0]["samples"] == 8
    with pytest.raises(SystemExit, match="2"):
        main([f"--script={script}:nothing"])
    assert capsys.readouterr().err.startswith("dsconv.measure: ")


def test_a_script_names_what_is_wrong(script: Path, tmp_path: Path, forgotten: None) -> None:
    from dsconv._measure.script import Script, split

    with pytest.raises(ValueError, match="write the script and the name"):
        split("train.py")
    with pytest.raises(ValueError, match="there is no such script"):
        Script(str(tmp_path / "none.py"))
    with pytest.raises(ValueError, match="other dot"):
        Script(str(script.rename(tmp_path / "a.b.py")))
    shadow = tmp_path / "json.py"
    shadow.write_text("")
    with pytest.raises(ValueError, match="rename the script"):
        Script(str(shadow))
    (tmp_path / "its_name.py").write_text(SCRIPT)
    found = Script(str(tmp_path / "its_name.py"))
    assert found.loader("loader") is found.loader("loader")
    with pytest.raises(ValueError, match="choose one of .*train_loader"):
        found.loader("nothing")
    with pytest.raises(ValueError, match="of the type int: it must be a DataLoader"):
        found.loader("number")
    with pytest.raises(ValueError, match="must be a function of a batch"):
        found.function("number")


def test_a_script_with_arguments_and_iterators(
    tmp_path: Path, forgotten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dsconv._measure.script import Script, split

    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert split("a b/x.py:make.it --data 'my images'") == ("a b/x.py", "make.it", ["--data", "my images"])
    path = tmp_path / "its_name.py"
    path.write_text(
        "import sys\nn = int(sys.argv[1]) if sys.argv[1:] else sys.exit(2)\n"
        "def batches():\n    yield from range(n)\ndef needs(x): ...\nif __name__ == '__main__':\n    main()\n"
    )
    with pytest.raises(ValueError, match="ended itself .*write them after the name"):
        Script(str(path))
    found = Script(str(path), ["3"])
    each = found.loader("batches")
    assert list(each) == list(each) == [0, 1, 2] and type(each).__name__ == "batches"
    with pytest.raises(ValueError, match="without arguments"):
        found.loader("needs")
    with pytest.raises(ValueError, match="is not run here: move it into a function"):
        found.loader("nothing")


def test_a_loader_without_batches() -> None:
    with pytest.raises(ValueError, match="gave no batch: its dataset is empty"):
        dsconv.bench([], rounds=1, progress=False)
    with pytest.raises(ValueError, match="after its first epoch: an iterator gives only one"):
        dsconv.bench(iter([np.zeros((2, 3))] * 3), rounds=1, progress=False)
