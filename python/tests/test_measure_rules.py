"""Rules of thumb on a user's DataLoader. Times are computed from the DataLoader, not measured."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._measure import accumulation, in_memory, rules, small_types  # noqa: E402
from dsconv._measure.findings import Rule  # noqa: E402
from dsconv._measure.rebuild import CannotRebuild, settings  # noqa: E402
from dsconv._measure.trial import Trial  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset  # noqa: E402

MB = 1_000_000
pytestmark = pytest.mark.filterwarnings("ignore:.*worker processes in total")


class Images(Dataset):
    """Images that are made, with a count of how often."""

    made = 0

    def __len__(self) -> int:
        return 24

    def __getitem__(self, i: int) -> Any:
        Images.made += 1
        return torch.full((3, 4, 4), i / 255), i


class Stream(IterableDataset):
    def __iter__(self) -> Any:
        return iter([torch.zeros(3, 4, 4)] * 24)


Seconds = Callable[[Any, Any], float]


def measured(loader: Any, seconds: Seconds, step: Any = None) -> dict[str, Rule]:
    """The rules, by name; seconds says how long an epoch of a DataLoader with a step takes."""

    def measure_with(step: Any) -> Any:
        def measure(loader: Any) -> Trial:
            return Trial(settings(loader), 24, seconds(loader, step), peak_memory=_memory(loader))

        return measure

    told: list[Rule] = []
    found = rules.rules(loader, measure_with, step, "train.py:loader", told.append)
    assert found == told
    assert [r.name for r in found] == list(rules.RULES)
    return {r.name: r for r in found}


def _memory(loader: Any) -> int:
    return (100 + 10 * loader.num_workers * (loader.prefetch_factor or 0)) * MB


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "accelerator", lambda: None)


def test_settings_that_help_and_that_do_not() -> None:
    def seconds(loader: Any, step: Any) -> float:
        return 8 / loader.num_workers + (0 if loader.persistent_workers else 1) + loader.batch_size / 100

    found = measured(DataLoader(Images(), 4, num_workers=2), seconds)
    more = found["more workers"]
    assert (more.measured, more.helps, more.dataset) == (True, True, "train.py:loader")
    assert more.gain == pytest.approx(1 - 3.04 / 5.04)
    assert more.memory_bytes == 40 * MB
    assert more.text == (
        "helps: with num_workers=4 (num_workers=2) an epoch takes 3.04 s instead of 5.04 s (40 % less), "
        "+40 MB of memory"
    )
    ahead = found["prefetch"]
    assert (ahead.helps, ahead.gain, ahead.memory_bytes) == (False, 0.0, 40 * MB)
    assert ahead.text.startswith("no gain: with prefetch_factor=4 (prefetch_factor=2)")
    assert found["persistent workers"].helps
    larger = found["larger batches"]
    assert not larger.helps and larger.text.endswith("; it also changes the training")
    assert larger.gain == pytest.approx(1 - 5.08 / 5.04)


def test_rules_that_are_followed_already_are_tested_without() -> None:
    loader = DataLoader(Images(), 4, num_workers=1, persistent_workers=True)
    found = measured(loader, lambda loader, step: 1.0 if loader.persistent_workers else 2.0)["persistent workers"]
    assert found.helps and found.gain == 0.5
    assert "persistent_workers=True (as it is)" in found.text


def test_what_costs_time() -> None:
    found = measured(DataLoader(Images(), 4, num_workers=2), lambda loader, step: float(loader.num_workers))
    assert found["more workers"].text.startswith("costs time: with num_workers=4")
    assert "(100 % more)" in found["more workers"].text
    assert (found["more workers"].helps, found["more workers"].gain) == (False, -1.0)


def test_rounds_that_contradict_each_other_prove_nothing() -> None:
    times = iter([10.0] + [10.0, 5.0, 12.0, 6.0, 7.0, 9.0] + [1.0] * 100)  # the first one warms up
    found = measured(DataLoader(Images(), 4), lambda loader, step: next(times))["more workers"]
    assert not found.helps and found.text.startswith("unclear")


def test_not_measurable_without_workers_gpu_or_step() -> None:
    found = measured(DataLoader(Images(), 4), lambda loader, step: 1.0)
    for name, why in {
        "prefetch": "num_workers=0: nothing is prefetched",
        "persistent workers": "num_workers=0: none can stay",
        "pinned memory": "there is no GPU to copy to",
        "accumulation": "no step of the loop was given",
    }.items():
        assert not found[name].measured and not found[name].helps
        assert found[name].text.startswith("not measurable here: ") and why in found[name].text
    found = measured(DataLoader(Images(), batch_sampler=[[1, 2], [3, 4], [5]]), lambda loader, step: 1.0)
    assert "has no batch_size" in found["larger batches"].text
    found = measured(DataLoader(Stream(), 4), lambda loader, step: 1.0)
    assert "iterable dataset" in found["RAM dataset"].text
    assert "get_worker_info" in found["more workers"].text or found["more workers"].measured


def test_errors_of_what_the_user_did_not_choose_are_named() -> None:
    def seconds(loader: Any, step: Any) -> float:
        if loader.num_workers > 1:
            raise RuntimeError("Bus error")
        return 1.0

    found = measured(DataLoader(Images(), 4, num_workers=1), seconds)
    assert found["more workers"].text == "not measurable here: RuntimeError: Bus error"
    with pytest.raises(RuntimeError, match="Bus error"):
        measured(DataLoader(Images(), 4, num_workers=2), seconds)


def test_pinned_memory_is_copied_without_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "accelerator", lambda: torch.device("cpu"))
    copies = []

    def seconds(loader: Any, step: Any) -> float:
        if step is not None:
            copies.append(step([torch.zeros(1), "name"]))
        return 1.0 if loader.pin_memory else 2.0

    found = measured(DataLoader(Images(), 4), seconds)["pinned memory"]
    assert found.helps and "pin_memory=True" in found.text
    assert len(copies) == 6 and copies[0][1] == "name"


def test_samples_in_memory() -> None:
    loader = DataLoader(Images(), 4, shuffle=True, generator=torch.Generator().manual_seed(1))
    Images.made = 0
    kept = in_memory.keep(loader, seconds=0.0)
    assert Images.made == 8, "two batches are the least"
    first = [labels.tolist() for _, labels in kept.loader]
    assert Images.made == 8, "from memory"
    assert [labels.tolist() for _, labels in kept.without] == first
    assert len(first) == 6 and first[0] == first[2] != first[1], "the same two batches again and again"
    assert not kept.images
    assert kept.whole_bytes == 24 * 3 * 4 * 4 * 4


def test_decoded_images_in_memory(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    folder = image_folder(tmp_path, torchvision)
    loaded: list[str] = []
    folder.loader = lambda path, load=folder.loader: loaded.append(path) or load(path)
    loader = DataLoader(Subset(folder, [5, 4, 3, 0]), 2)
    kept = in_memory.keep(loader, seconds=60.0)
    assert kept.images and len(loaded) == 4
    expected = [[x.tolist(), y.tolist()] for x, y in loader]
    assert len(loaded) == 8
    assert [[x.tolist(), y.tolist()] for x, y in kept.loader] == expected
    assert len(loaded) == 8, "from memory"
    assert kept.whole_bytes == 4 * 8 * 6 * 4, "Pillow has four bytes for a pixel"
    assert not isinstance(folder.loader, in_memory.Images)


def image_folder(path: Path, torchvision: Any, *transforms: Any) -> Any:
    from PIL import Image

    for name in "ab":
        (path / name).mkdir()
        for i in range(3):
            Image.new("RGB", (8, 6), (10 * i, 20, 30)).save(path / name / f"{i}.png")
    T = torchvision.transforms
    return torchvision.datasets.ImageFolder(
        str(path), T.Compose([*transforms, T.ToTensor(), T.Normalize([0.5], [0.5])])
    )


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (TensorDataset(torch.zeros(5, 2)), True),
        (Subset(TensorDataset(torch.zeros(5, 2)), [1]), True),
        (Images(), False),
    ],
)
def test_datasets_that_are_in_memory_already(dataset: Any, expected: bool) -> None:
    assert in_memory.in_memory(dataset) is expected


def test_mapped_arrays_are_not_in_memory(tmp_path: Path) -> None:
    class Mapped(Images):
        def __init__(self) -> None:
            np.save(tmp_path / "x.npy", np.zeros((24, 2)))
            self.data = np.load(tmp_path / "x.npy", mmap_mode="r")[:]

    assert not in_memory.in_memory(Mapped())
    whole = Mapped()
    whole.data = np.array(whole.data)
    assert in_memory.in_memory(whole)
    with pytest.raises(CannotRebuild, match="in memory already"):
        in_memory.keep(DataLoader(whole), 1.0)


def test_a_dataset_that_does_not_fit_into_memory_is_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    def seconds(loader: Any, step: Any) -> float:
        return 1.0 if isinstance(loader.dataset, in_memory.Samples) else 2.0

    found = measured(DataLoader(Images(), 4), seconds)["RAM dataset"]
    assert found.helps and found.memory_bytes == 24 * 192
    assert "all 24 samples take 0 MB of memory" in found.text and "random transforms would not change" in found.text
    monkeypatch.setattr(rules, "available", lambda: 100)
    found = measured(DataLoader(Images(), 4), seconds)["RAM dataset"]
    assert found.measured and not found.helps and "are free" in found.text


def test_small_types_of_torchvisions_transforms(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
    folder = image_folder(tmp_path, torchvision, torchvision.transforms.CenterCrop(4))
    loader = DataLoader(folder, 2)
    smaller, how = small_types.with_small_types(loader)
    batch, labels = next(iter(smaller))
    assert batch.dtype == torch.uint8 and batch.shape == (2, 3, 4, 4) and batch[1, 0, 0, 0] == 10
    assert "Normalize" in how
    assert next(iter(loader))[0].dtype == torch.float32, "the user's transforms stay"
    assert small_types.has_floats(next(iter(loader))) and not small_types.has_floats([batch, labels])


def test_small_types_of_any_dataset() -> None:
    loader = DataLoader(Images(), 3)
    smaller, _ = small_types.with_small_types(loader)
    assert next(iter(smaller))[0].dtype == torch.uint8
    seen: list[Any] = []
    small_types.Floats(seen.append)(next(iter(smaller)))
    assert seen[0][0].dtype == torch.float32 and seen[0][1].dtype == torch.int64
    steps = []
    found = measured(
        loader, lambda loader, step: steps.append(type(step)) or (1.0 if isinstance(step, small_types.Floats) else 2.0),
        step=lambda batch: None,
    )  # fmt: skip
    assert found["small types"].helps and small_types.Floats in steps
    found = measured(DataLoader(TensorDataset(torch.zeros(8, 3)), 2), lambda loader, step: 1.0)
    assert "no images as floats" in found["small types"].text


@pytest.mark.usefixtures("one_thread")
def test_accumulation() -> None:
    model = torch.nn.Linear(48, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)  # it replaces the optimizer's step
    before = optimizer.step, "zero_grad" in vars(optimizer)
    calls = []
    optimizer.register_step_pre_hook(lambda *_: calls.append(1))

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch[0].flatten(1)), batch[1] % 2).backward()
        optimizer.step()

    loader = DataLoader(Images(), 4)

    def seconds(loader: Any, step: Any) -> float:
        if isinstance(step, small_types.Floats):
            return 1.0
        calls.clear()
        for batch in loader:
            step(batch)
        return 1.0 + len(calls)

    found = measured(loader, seconds, step)["accumulation"]
    assert found.helps and found.gain == pytest.approx(1 - 2 / 7), "one step instead of six"
    assert (optimizer.step, "zero_grad" in vars(optimizer)) == before, "everything is as it was"
    assert scheduler.optimizer is optimizer
    assert accumulation.optimizers_of(step, next(iter(loader))) == [optimizer]
    found = measured(loader, lambda loader, step: 1.0, step=lambda batch: None)["accumulation"]
    assert "calls no optimizer" in found.text


def test_a_loss_is_computed_in_a_closure_while_steps_are_left_out() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    with accumulation.accumulating([optimizer], every=2):
        assert optimizer.step(lambda: 7.0) == 7.0 and weight.item() == 1
    assert "step" not in vars(optimizer)


def test_sizes_of_samples() -> None:
    assert in_memory.size_of({"x": torch.zeros(3), "y": (np.zeros(2, np.uint8), io.BytesIO())}) == 14
