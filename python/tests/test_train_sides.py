"""What the reference trainer compares: networks, ways of loading, the DataLoader at its best, steps without loading."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")

from dsconv._report import Report  # noqa: E402
from dsconv.train import augment, clock, from_dsconv, loop, sweep  # noqa: E402
from dsconv.train.__main__ import main  # noqa: E402
from dsconv.train.arguments import parse  # noqa: E402
from dsconv.train.costs import Subject, costs  # noqa: E402
from dsconv.train.data import Data  # noqa: E402
from dsconv.train.distributed import World  # noqa: E402
from dsconv.train.epoch import Epoch  # noqa: E402
from dsconv.train.learner import Learner  # noqa: E402
from dsconv.train.models import MODELS, build  # noqa: E402
from dsconv.train.progress import Progress  # noqa: E402
from dsconv.train.settings import Settings  # noqa: E402
from dsconv.train.trace import Trace  # noqa: E402
from dsconv.train.ways import Way  # noqa: E402
from dsconv.transforms import translate  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

WORLD = World(torch.device("cpu"))


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("mlp")])
def test_networks_are_those_of_torchvision(name: str) -> None:
    torch.manual_seed(3)
    ours = build(name, 10, 3, 64)
    torch.manual_seed(3)
    theirs = torchvision.models.get_model(name, weights=None, num_classes=10)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for key, values in theirs.state_dict().items():
        assert torch.equal(values, ours.state_dict()[key]), key
    images = torch.rand(2, 3, 64, 64)
    assert torch.equal(ours.eval()(images), theirs.eval()(images))
    assert build(name, 10, 1, 64)(images[:, :1]).shape == (2, 10)


def test_both_kinds_of_loader_have_the_same_transforms() -> None:
    train, evaluation = augment.words(224)
    assert translate(augment.training(224)) == translate(train)
    assert translate(augment.evaluation(224)) == translate(evaluation)


COMBINED = [
    ("resnet18", "bf16", True, "aot_eager"),
    ("mobilenet_v3_small", "fp16", False, None),
    ("resnet50", "bf16", True, None),
    ("mobilenet_v3_small", "bf16", True, "aot_eager"),
    ("mobilenet_v3_large", "fp32", False, None),
]


@pytest.mark.long
@pytest.mark.parametrize(("model", "precision", "channels_last", "compiler"), COMBINED)
def test_a_few_steps_of_each_combination(model: str, precision: str, channels_last: bool, compiler: str | None) -> None:
    settings = Settings(
        model=model, size=32, lr=0.01, batch_size=4, precision=precision, channels_last=channels_last, compile=compiler
    )
    learner = Learner(settings, 3, 3, WORLD)
    before = [w.detach().clone() for w in learner.network.parameters()]
    steps = 16 if precision == "fp16" else 3  # GradScaler leaves out the first steps, until its scale fits
    given = [(torch.rand(4, 3, 32, 32), torch.tensor([0, 1, 2, 1])) for _ in range(steps)]
    (epoch,) = train(learner, given)
    assert epoch.steps == steps and epoch.images == 4 * steps
    assert all(w.isfinite().all() and w.dtype == torch.float32 for w in learner.network.parameters())
    assert any(not torch.equal(w, b) for w, b in zip(learner.network.parameters(), before))


def train(learner: Learner, batches: list) -> list:
    data = Data(batches, None, ("a", "b", "c"), 12, lambda number: None)
    progress = Progress("side", 1, shown=False)
    return list(loop.train(learner, data, WORLD, 1, None, Trace(None, 0, WORLD.device), progress))


class Ticks:
    """A clock that only the test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object) -> None:
        self.now = 0.0
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)


@pytest.mark.parametrize(("accumulate", "step", "steps"), [(1, 0.1, 10), (1, 0.001, 50), (1, 60.0, 1), (4, 0.1, 8)])
def test_steps_without_loading(accumulate: int, step: float, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = Ticks(monkeypatch, clock)
    learner = Learner(Settings(model="mlp", accumulate=accumulate), 3, 3, WORLD)
    learner.kept = torch.rand(2, 3, 224, 224), torch.tensor([0, 1])
    done = []

    def learn(images: torch.Tensor, labels: torch.Tensor, group: int, last: bool) -> None:
        assert images is learner.kept[0] and group == accumulate
        ticks.now += 1000 if len(done) < accumulate else step  # the first group does not count
        done.append(last)

    monkeypatch.setattr(learner, "learn", learn)
    assert loop.alone(learner, WORLD, step) == pytest.approx(step)
    assert len(done) == steps + accumulate and sum(done) * accumulate == len(done)


def test_the_kept_batch_is_a_whole_one() -> None:
    learner = Learner(Settings(model="mlp", size=8), 3, 3, WORLD)
    train(learner, [(torch.rand(n, 3, 8, 8), torch.zeros(n, dtype=torch.long)) for n in (4, 4, 1)])
    assert len(learner.kept[0]) == 4


class Rounds:
    """A loader whose workers finish a batch of 10 images each at the same time, a second after the last ones. Starting
    takes five seconds more."""

    def __init__(self, ticks: Ticks, workers: int, count: int = 100) -> None:
        self.ticks, self.workers, self.count = ticks, workers, count
        self.ticks.now += 5

    def __iter__(self):
        for n in range(self.count):
            self.ticks.now += n % self.workers == 0
            yield torch.zeros(10, 1), torch.zeros(10)


@pytest.mark.parametrize("count", [100, 12, 4, 2])
def test_the_sweep_measures_whole_rounds(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = Ticks(monkeypatch, sweep)
    whole = min(count, 4)  # workers of four that have a batch in each round
    assert sweep.rate(Rounds(ticks, 4, count), 4) == pytest.approx(10 * whole)


@pytest.mark.parametrize(("share", "tried"), [(1, [1]), (2, [1, 2, 3]), (16, [8, 16, 24])])
def test_the_sweep_shares_the_cores(share: int, tried: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "threads", lambda asked: share)
    ticks = Ticks(monkeypatch, sweep)
    rates = sweep.sweep(lambda workers: Rounds(ticks, workers), WORLD)
    assert list(rates) == tried
    assert sweep.best(rates) == tried[-1]
    assert sweep.best({2: 100.0, 4: 300.0, 8: 200.0}) == 4


def test_the_dataloader_is_at_its_best_by_default(
    photos: Path, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "SECONDS", 0.05)
    sides = ["--before", str(photos), "--after", str(packed), "--device", "cpu"]
    words = "--model mlp --size 28 --epochs 1 --batch-size 8 --quiet".split()
    assert main([*sides, *words, "--json", str(tmp_path / "report.json")]) == 0
    report = Report.load(tmp_path / "report.json")
    before, after = report.datasets
    swept = before.swept_images_per_second
    assert all(rate > 0 for rate in swept.values())
    chosen = before.settings["num_workers"]
    assert str(chosen) == max(swept, key=swept.get) and report.options["workers"] == chosen
    assert before.settings["persistent_workers"] is True
    assert before.settings["pin_memory"] is False, "there is no GPU"
    assert after.swept_images_per_second == {}
    notes = "\n".join(report.notes)
    assert "numbers of workers tried" in notes
    for dataset in report.datasets:
        assert f"{dataset.path}: a step takes" in notes
        assert dataset.step_us_per_image_without_loading > 0


def test_each_way_of_each_dataset_is_a_side(photos: Path) -> None:
    words = "--after a.lmdb --after b.tar --decoder cpu --decoder gpu --normalize host --nvjpeg libnvjpeg.so"
    asked, _ = parse(words.split())
    assert asked.ways == [Way(), Way("gpu", "host", "libnvjpeg.so")]
    side = from_dsconv.images(photos, Settings(), WORLD, asked.ways[1])
    assert side.name == f"{photos} (decoder gpu)" and side.settings["decoder"] == "gpu"
    assert from_dsconv.images(photos, Settings(), WORLD, asked.ways[0]).name == str(photos)


def test_the_options_of_each_way() -> None:
    assert Way().options("bf16") == {}, "as ever"
    assert Way(normalize="device").options("bf16") == {"normalize": "device", "dtype": "bfloat16"}
    assert Way(normalize="device").options("fp32") == {"normalize": "device", "dtype": None}
    gpu = {"decoder": "gpu", "nvjpeg": None, "dtype": "float16"}
    assert Way("gpu").options("fp16") == gpu
    assert Way("gpu", "device").options("fp16") == {**gpu, "normalize": "device"}


@pytest.mark.parametrize("gpu", [False, True])
def test_what_a_gpu_decodes_is_in_no_part(gpu: bool) -> None:
    stages = {"read": 0.1, "decode": 0.5, "augment": 0.0, "collate": 0.1}
    epoch = Epoch(1000, 10, 0.5, 0.15, 0.0, 0.35, 1.0, 0.5, loader=stages)
    found = costs([epoch], Subject(100, 16, True, 1, 1, 0.034, gpu))
    assert (found.get("gpu", False), "parts" in found) == (gpu, not gpu) and found["workers"] == 16
    assert found["starved"] == pytest.approx(0.3) and found["step_us"] == pytest.approx(340)


def test_what_decoded_the_images_is_reported() -> None:
    class Loader:
        def stats(self) -> dict:
            return {"decoded": {"engine": 5, "cuda": 0, "cpu": 1, "reasons": {"irregular": 1}}}

    assert from_dsconv.decoded(Loader()) == {"engine": 5, "cuda": 0, "cpu": 1}


@pytest.mark.parametrize("there", [False, True])
def test_a_gpu_is_not_used_for_decoding_alone(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert from_dsconv.device(WORLD, Way()) is None
    # None where there is no GPU: the Loader's error then says what is missing.
    assert from_dsconv.device(WORLD, Way("gpu")) == (WORLD.device if there else None)
    gpu = World(torch.device("cuda", 1))
    assert from_dsconv.device(gpu, Way()) == from_dsconv.device(gpu, Way("gpu")) == gpu.device


def test_pixels_are_normalised_on_the_device(packed: Path, tmp_path: Path) -> None:
    words = f"--after {packed} --normalize host --normalize device --model mlp --size 28 --epochs 1 --batch-size 8"
    assert main([*words.split(), "--device", "cpu", "--quiet", "--json", str(tmp_path / "report.json")]) == 0
    host, device = Report.load(tmp_path / "report.json").datasets
    assert device.path == f"{packed} (normalize device)" and device.settings["normalize"] == "device"
    assert "normalize" not in host.settings
    assert device.loss == pytest.approx(host.loss, rel=1e-4), "the same pixels in the same order"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--before {photos} --decoder gpu", "are of dsconv: give --after"),
        ("--before {photos} --normalize device", "are of dsconv: give --after"),
        ("--after {photos} --nvjpeg x.so", "--nvjpeg PATH is for --decoder gpu"),
        ("--after {photos} --decoder tpu", "--decoder: invalid choice"),
        ("--preset tutorial --num-workers auto", "give --num-workers a number"),
        ("--after {photos} --num-workers some", "--num-workers: invalid"),
    ],
)
def test_wrong_usage(words: str, message: str, photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.format(photos=photos).split())
    assert ended.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.long
def test_datasets_are_trained_on_without_torchvision(packed: Path) -> None:
    program = (
        "import sys; sys.modules['torchvision'] = None\n"
        "from dsconv.train.__main__ import main; sys.exit(main(sys.argv[1:]))\n"
    )
    words = "--model mobilenet_v3_small --size 32 --epochs 1 --batch-size 8 --limit-batches 2 --device cpu --quiet"
    command = [sys.executable, "-c", program, "--after", str(packed), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ": epoch 1: " in done.stdout


def test_the_settings_have_the_sweep_as_none() -> None:
    _, settings = parse(["--after", "x.lmdb", "--num-workers", "auto"])
    assert settings.num_workers is None
    assert parse(["--after", "x.lmdb", "--num-workers", "3"])[1] == replace(settings, num_workers=3)
    assert parse(["--preset", "tutorial"])[1].num_workers == 8
