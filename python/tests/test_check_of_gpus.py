"""make gpu-check (lab/gpu) without a GPU, and the fate of a part that crashes, hangs or lacks something."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
GPU = ROOT / "lab" / "gpu"
SMALL = ["--images", "40", "--size", "64x48", "--turn", "0.1"]


@pytest.fixture(scope="module")
def run() -> Any:
    """The module run.py."""
    sys.path.insert(0, str(GPU))
    import run

    yield run
    sys.path.remove(str(GPU))


def check(folder: Path, *words: str, **environment: str) -> tuple[int, str, dict[str, Any]]:
    """The exit code, what was printed, and the files by part."""
    folders = ["--out", str(folder / "out"), "--work", str(folder / "work"), "--wheels", str(folder / "wheels")]
    done = subprocess.run(
        [sys.executable, str(GPU / "run.py"), *folders, *SMALL, *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    files = {p.stem[4:]: json.loads(p.read_text(encoding="utf-8")) for p in (folder / "out").glob("gpu-*.json")}
    return done.returncode, done.stdout + done.stderr, files


def without_gpu(folder: Path) -> str:
    """A folder for LD_LIBRARY_PATH whose libcuda.so.1 is no library: also a machine with a GPU has none then."""
    folder.mkdir()
    (folder / "libcuda.so.1").write_bytes(b"not a library")
    return str(folder)


def test_without_a_gpu_the_cpu_is_measured_and_the_rest_is_skipped(tmp_path: Path) -> None:
    code, said, files = check(tmp_path, LD_LIBRARY_PATH=without_gpu(tmp_path / "lib"))
    assert code == 3, said
    assert set(files) == {"cpu", "decode", "pack", "loader", "train", "xla", "tests", "probe"}
    measured = files.pop("cpu")
    assert measured["status"] == "done", measured
    for rates in measured["result"]["images_per_second"].values():
        assert list(rates) == ["1", "2", "4", "8", "16"] and all(rate > 0 for rate in rates.values())
    for part, found in files.items():
        assert found["part"] == part and found["status"] == "skipped"
        assert "no GPU: there is no libcuda.so.1" in found["reason"]
    machine = measured["machine"]
    assert machine["gpu"] is None and machine["cores"] > 0 and "numpy" in machine["versions"]
    assert "Traceback" not in said


def test_parts_are_chosen_and_their_work_is_kept(tmp_path: Path) -> None:
    assert check(tmp_path, "--parts", "pack xla", LD_LIBRARY_PATH=without_gpu(tmp_path / "lib"))[0] == 3
    photos = tmp_path / "work" / "photos-40-64x48"
    before = photos.stat().st_mtime_ns
    code, said, files = check(tmp_path, "--parts", "xla,tests", LD_LIBRARY_PATH=str(tmp_path / "lib"))
    assert code == 3 and set(files) == {"pack", "xla", "tests"}, said
    assert photos.stat().st_mtime_ns == before and "drawing" not in said


def test_a_fake_gpu_decodes_each_kind_of_jpeg_as_the_cpu_does(tmp_path: Path) -> None:
    fake = os.environ.get("DSCONV_FAKEGPU_LIBRARIES")
    if not fake:
        pytest.skip("DSCONV_FAKEGPU_LIBRARIES is not set: make python-test builds the fake libraries")
    words = ["--parts", "decode pack xla", "--nvjpeg", f"{fake}/libnvjpeg.so.13", "--images", "5"]
    code, said, files = check(tmp_path, *words, LD_LIBRARY_PATH=fake)
    assert code == 3 and files["decode"]["status"] == "done", said
    assert files["decode"]["machine"]["gpu"]["name"] == "Fake GPU"
    rows = files["decode"]["result"]["parity"]
    assert len(rows) == 20 and all(row["equal_share"] == 1 and row["images"] == 5 for row in rows), rows
    kinds = {path: {row["kind"] for row in rows if row["decoded"][path] == 5} for path in ("engine", "cuda", "cpu")}
    assert kinds["cuda"] == {"420 progressive"} and kinds["cpu"] == {"420 one pixel"} and len(kinds["engine"]) == 8
    assert "skipped" in files["decode"]["result"]["images_per_second"], "torch has no GPU"
    rounds = files["pack"]["result"]["rounds"]
    assert [row["decoded"]["engine"] for row in rounds["gpu"]] == [2, 5] * 3 and rounds["cpu"][0]["decoded"] is None
    assert files["pack"]["result"]["fitted"]["gpu"]["images_per_second"] > 0
    assert "PJRT plugin" in files["xla"]["reason"]


@pytest.mark.parametrize(
    ("words", "message"), [(["--parts", "cpu,gpu"], "unknown part gpu"), (["--images", "x"], "--images")]
)
def test_wrong_usage(words: list[str], message: str, tmp_path: Path) -> None:
    code, said, files = check(tmp_path, *words)
    assert code == 2 and message in said and not files


PARTS = {
    "done": ("", "done", None),
    "skips": ("raise Skip('there is no moon')", "skipped", "there is no moon"),
    "fails": ("raise ValueError('wrong pixels')", "failed", "ValueError: wrong pixels"),
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "failed", "its process ended with code -11"),
    "hangs": (
        "import subprocess; subprocess.run(['sleep', '1000'])",
        "failed",
        "was not done after 600 s and was ended",
    ),
}


class Hanging(subprocess.Popen):
    """A process whose time is over as soon as it has saved something, and has said where it was."""

    waits = 0

    def wait(self, timeout: float | None = None) -> int:
        self.waits += 1
        if self.waits > 2:
            return super().wait(timeout)
        until = time.monotonic() + (timeout or 0)
        while not self._saved() if self.waits == 1 else not self._said():
            assert self.poll() is None or self.waits == 2
            if time.monotonic() > until:
                break
            time.sleep(0.01)
        raise subprocess.TimeoutExpired(self.args, timeout)

    def _saved(self) -> bool:
        return Path(self.args[-1]).exists()

    def _said(self) -> bool:
        return b"tested.py" in os.pread(2, 1 << 16, 0)  # capfd's file


@pytest.mark.parametrize("name", PARTS)
def test_each_fate_of_a_part_is_recorded(
    name: str,
    tmp_path: Path,
    run: Any,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: str,
) -> None:
    code, status, reason = PARTS[name]
    parts = tmp_path / "parts"
    parts.mkdir()
    measures = "save(measured=7, of=setting.work + '/x')"
    body = f"from setting import Skip\ndef run(setting, save):\n    {measures}\n    {code or 'pass'}\n"
    (parts / "tested.py").write_text(body)
    (tmp_path / "part.py").write_text((GPU / "part.py").read_text())
    (tmp_path / "setting.py").write_text((GPU / "setting.py").read_text())
    monkeypatch.setattr(run, "__file__", str(tmp_path / "run.py"))
    monkeypatch.setattr(run, "LAST_WORDS", 60.0)
    if name == "hangs":
        monkeypatch.setattr(run.subprocess, "Popen", Hanging)
    setting = run.Setting(str(ROOT), str(tmp_path), "", command, "", 1, "")
    found = run.run("tested", setting, {"cores": 2}, tmp_path, 600.0)
    written = json.loads((tmp_path / "gpu-tested.json").read_text())
    assert found[0] == written["status"] == status
    assert written["result"] == {"measured": 7, "of": "x"}, "what was measured before is kept, without the folder"
    assert reason is None or reason in written["reason"]
    if name in ("hangs", "crashes"):
        assert "tested.py" in capfd.readouterr().err, "where it was is said"


def test_a_part_that_cannot_be_ended_is_left_behind(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """As a process that waits inside a driver."""

    class Stuck:
        pid = 2**22 + 1  # which no process has

        def wait(self, timeout: float | None = None) -> int:
            assert timeout is not None
            raise subprocess.TimeoutExpired("part", timeout)

    run.kill(Stuck())
    assert "does not end" in capfd.readouterr().err


def test_a_part_may_use_the_time_that_others_left(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PARTS", {"a": 30, "b": 50, "c": 20})
    assert run.limit(["a", "b", "c"], 100) == 30
    assert run.limit(["b", "c"], 95) == 75
    assert run.limit(["b", "c"], 60) == 50
    assert run.limit(["c"], 10) == 10
    assert run.limit(["a"], 500) == 500


def test_a_run_that_was_ended_leaves_nothing_that_stops_the_next(tmp_path: Path) -> None:
    left = tmp_path / "work" / "photos-40-64x48.partial"
    left.mkdir(parents=True)
    (left / "half.jpg").write_bytes(b"")
    code, said, files = check(tmp_path, "--parts", "pack", LD_LIBRARY_PATH=without_gpu(tmp_path / "lib"))
    assert code == 3 and files["pack"]["status"] == "skipped", said
    assert not left.exists()


def test_photos_that_cannot_be_drawn(tmp_path: Path) -> None:
    code, said, files = check(tmp_path, "--size", "large")
    assert code == 1 and "gpu-check: " in said and "Traceback" not in said and not files


@pytest.fixture
def on_the_cpu(run: Any, photos: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The setting of parts that take the CPU for the GPU."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    from parts import loader

    monkeypatch.setattr(run.machine, "gpu", dict)
    monkeypatch.setattr(loader, "with_cuda", lambda: torch)
    monkeypatch.setattr(loader, "DEVICE", "cpu")
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    return run.Setting(str(ROOT), str(tmp_path), "", command, str(photos), 48, "", turn=0.05)


def test_the_part_loader(on_the_cpu: Any) -> None:
    from parts import loader

    found: dict[str, Any] = {}
    loader.run(on_the_cpu, found.update)
    assert len(found["compared"]) == 12
    assert {(row["dtype"], row["channels_last"], row["normalize"]) for row in found["compared"]} == {
        (dtype, last, place) for dtype in loader.DTYPES for last in (False, True) for place in ("host", "device")
    }
    for row in found["compared"]:
        assert row["roundings"] <= 0.5 and row["equal_share"] == 1 and row["values"] == 48 * 3 * 224 * 224, row
    assert all(found["raw_images_per_second"][place] > 0 for place in ("host", "device"))


def test_the_part_loader_fails_for_other_values(on_the_cpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from parts import loader

    plain = loader.loader

    def wrong(path: str, device: str | None, ops: str = loader.OPS, **options: Any) -> Any:
        return plain(path, device, ops.replace("flip,", "") if device else ops, **options)

    monkeypatch.setattr(loader, "loader", wrong)
    with pytest.raises(RuntimeError, match="differs from the CPU's by"):
        loader.run(on_the_cpu, lambda **figures: None)


@pytest.mark.usefixtures("one_thread")
def test_the_part_train(on_the_cpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsconv.train import sweep
    from parts import train

    monkeypatch.setattr(sweep, "SECONDS", 0.01)
    for name, value in {"EPOCHS": 2, "BATCH": 12, "SIZE": 32}.items():
        monkeypatch.setattr(train, name, value)
    setting = replace(on_the_cpu, models=("mobilenet_v3_small",))
    found: dict[str, Any] = {}
    with pytest.raises(RuntimeError, match="decoder gpu"):  # which is not taken from the CPU
        train.run(setting, found.update)
    rows = found["mobilenet_v3_small"]["datasets"]
    assert len(rows) == 7 and len(found["missing"]) == 2
    assert rows[0]["format"] == "ImageFolder" and rows[0]["swept_images_per_second"]
    assert [row["settings"].get("normalize") for row in rows[1:]] == [None, "device", None, None, None, "device"]
    for row in rows:
        assert len(row["rounds"]) == 2 and row["step_us_per_image_without_loading"] > 0 and 0 <= row["starved"] <= 1


@pytest.mark.usefixtures("one_thread")
def test_what_the_part_train_measured_is_kept(on_the_cpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose training fails does not take the other one along, nor the epochs before."""
    from dsconv.train import compare, from_dataloader
    from parts import train

    def full(*_: Any) -> None:
        raise RuntimeError("out of shared memory")

    def third_epoch(learner: Any, *_: Any) -> float:
        if learner.settings.model == "mlp":
            raise RuntimeError("the GPU is lost")
        return 1.0

    monkeypatch.setattr(from_dataloader, "folder", full)
    monkeypatch.setattr(compare, "alone", third_epoch)
    way = ([], [("cpu", "host")])
    for name, value in {
        "EPOCHS": 2, "BATCH": 12, "SIZE": 32, "DATASETS": {"jpeg": way},
    }.items():  # fmt: skip
        monkeypatch.setattr(train, name, value)
    found: dict[str, Any] = {}
    with pytest.raises(RuntimeError, match=r"out of shared memory; mlp: RuntimeError: the GPU is lost"):
        train.run(replace(on_the_cpu, models=("mlp", "mobilenet_v3_small")), found.update)
    assert [(row["model"], row["epoch"]) for row in found["epochs"]] == [
        ("mlp", 1), ("mlp", 2), ("mobilenet_v3_small", 1), ("mobilenet_v3_small", 2),
    ]  # fmt: skip
    assert all(0 <= row["starved"] <= 1 and row["images"] == 48 for row in json.loads(json.dumps(found["epochs"])))
    assert "mlp" not in found and len(found["mobilenet_v3_small"]["datasets"]) == 1


def test_dsconvs_rates_are_kept_where_torchvision_fails(on_the_cpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from parts import decode

    def fails(*_: Any) -> dict[str, float]:
        asked.append(1)
        raise RuntimeError("operator torchvision::nms does not exist")

    asked: list[int] = []
    monkeypatch.setattr(decode, "loaded", lambda *_, **__: 5.0)
    monkeypatch.setattr(decode, "torchvision_rates", fails)
    found: dict[str, Any] = {}
    rates = decode.rates(on_the_cpu, found.update)
    assert rates["rounds"] == [{"dsconv cpu": 5.0, "dsconv gpu": 5.0}] * 3 and len(asked) == 1
    assert "nms does not exist" in rates["torchvision"] and found["images_per_second"] == rates


@pytest.mark.parametrize(
    ("code", "raises", "counts"),
    [
        ("def test_a(): pass\n", None, {"passed": 1}),
        ("def test_a(): pass\ndef test_b(): assert 0\n", "RuntimeError: .*code 1", {"passed": 1, "failed": 1}),
        ("import pytest\npytest.skip('no moon', allow_module_level=True)\n", "Skip: every test", {"skipped": 1}),
    ],
)
def test_the_part_tests(
    code: str, raises: str | None, counts: dict[str, int], run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    from parts import tests

    monkeypatch.setattr(run.machine, "gpu", dict)
    (tmp_path / "python" / "tests").mkdir(parents=True)
    (tmp_path / "python" / "tests" / "test_gpu_moon.py").write_text(code)
    setting = run.Setting(str(tmp_path), str(tmp_path), "", "", "", 1, "")
    found: dict[str, Any] = {}
    said: list[str] = []

    def save(**figures: Any) -> None:
        found.update(figures)
        said.append(found["output"])

    try:
        tests.run(setting, save)
        raised = None
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
    assert (raised is None) == (raises is None) and (raises is None or re.match(raises, raised or "")), raised
    assert found["counts"] == counts and len(said) > 2, "what is there so far is kept"


def test_torchvision_decodes_the_same_photos(on_the_cpu: Any) -> None:
    import torch
    from parts import decode

    rates = decode.torchvision_rates(torch, on_the_cpu.photos)
    assert set(rates) == {"torchvision gpu", "torchvision gpu, no resize"} and all(rate > 0 for rate in rates.values())


def test_a_part_for_which_no_time_is_left_is_skipped(tmp_path: Path, run: Any, command: str) -> None:
    setting = run.Setting(str(ROOT), str(tmp_path), "", command, "", 1, "")
    status, reason = run.run("train", setting, {}, tmp_path, limit=0.0)
    assert status == "skipped" and "PARTS=train" in reason
