"""MixUp and CutMix after transforms that run in Python, and torchvision's transforms of tensors that are native."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import dsconv
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from torchvision.transforms import v2  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Python runs")

FLOATS = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
CHOICE = v2.RandomChoice([v2.MixUp(num_classes=3, alpha=0.8), v2.CutMix(num_classes=3)])


def own(image: Any) -> Any:
    """A callable that dsconv does not know."""
    return image


def batches(path: Path, transforms: Any, workers: int = 2, **more: Any) -> list[Any]:
    return list(dsconv.Loader(path, 10, transforms, num_workers=workers, shuffle=True, seed=4, **more))


def same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(torch.equal(v, w) for x, y in zip(a, b) for v, w in zip(x, y))


def test_random_choice_of_mixers_after_python_transforms(packed: Path) -> None:
    """The form that the docs recommend, after a transform that runs in Python."""
    plain = batches(packed, [v2.CenterCrop(32), *FLOATS, own])
    ways = set()
    for (images, labels), (x, y) in zip(batches(packed, [v2.CenterCrop(32), *FLOATS, own, CHOICE]), plain):
        before, own_label = x.roll(1, 0), torch.nn.functional.one_hot(y, 3).float()
        assert labels.shape == (len(x), 3) and labels.dtype == images.dtype == torch.float32
        torch.testing.assert_close(labels.sum(1), torch.ones(len(x)))
        different = (own_label != own_label.roll(1, 0)).any(1)
        shares = labels[different][own_label[different] == 1]
        share = shares[0].item()
        torch.testing.assert_close(shares, torch.full_like(shares, share))
        cut = ((images == x) | (images == before)).all().item()
        ways.add("cut" if cut else "blend")
        if cut:
            taken = (images != x).any(1).flatten(1).float().mean(1).max().item()
            assert taken <= 1 - share + 1e-6
        else:
            torch.testing.assert_close(images, x * share + before * (1 - share))
    assert ways == {"cut", "blend"}


def test_mixed_batches_are_reproducible(packed: Path) -> None:
    transforms = [v2.CenterCrop(32), *FLOATS, own, CHOICE]
    first = batches(packed, transforms)
    torch.rand(3)
    assert same(batches(packed, transforms, workers=1), first)
    loader = dsconv.Loader(packed, 10, transforms, num_workers=7, shuffle=True, seed=4)
    running = iter(loader)
    begun = [next(running), next(running)]
    resumed = dsconv.Loader(packed, 10, transforms, shuffle=True, seed=4)
    resumed.load_state_dict(loader.state_dict())
    assert same(begun + list(resumed), first)
    assert not same(list(resumed), first)  # the next epoch has new draws


def test_mixing_does_not_use_the_process_generators(packed: Path) -> None:
    torch.manual_seed(1)
    want = torch.rand(2)
    torch.manual_seed(1)
    batches(packed, [own, v2.CenterCrop(32), *FLOATS, CHOICE])
    assert torch.equal(torch.rand(2), want)


def test_each_mixer_alone_and_a_collate_fn(packed: Path) -> None:
    for mixer in (v2.MixUp(num_classes=3), v2.CutMix(num_classes=3), dsconv.transforms.MixUp(alpha=0.3)):
        want = batches(packed, [v2.CenterCrop(32), *FLOATS, own, mixer])
        assert want[0][1].shape == (10, 3)
        got = batches(packed, [v2.CenterCrop(32), *FLOATS, own, mixer], collate_fn=lambda samples: samples)
        assert all(torch.equal(a, b) for a, (b, _) in zip(want[0][0], got[0]))
    cut = batches(packed, [v2.CenterCrop(32), v2.PILToTensor(), own, v2.CutMix(num_classes=3)])
    assert cut[0][0].dtype == torch.uint8


def test_labels_of_padding_are_empty(packed: Path) -> None:
    transforms = [v2.CenterCrop(32), *FLOATS, own, v2.MixUp(num_classes=3)]
    loader = dsconv.Loader(packed, 5, transforms, rank=4, world_size=5, tail="pad", fields=("label", "index"))
    labels, numbers = list(loader)[-1]
    assert (numbers == -1).any() and (labels[numbers == -1] == 0).all() and (labels[numbers >= 0].sum(1) > 0).all()


def test_wrong_inputs_of_mixers_are_an_error(packed: Path) -> None:
    for transforms, more, message in (
        ([v2.CenterCrop(32), v2.PILToTensor(), own, CHOICE.transforms[0]], {}, "MixUp needs float images"),
        ([*FLOATS, own, CHOICE], {"tail": "uneven"}, "is for evaluation"),
    ):
        with pytest.raises(ValueError, match=message):
            batches(packed, transforms, **more)


def loud(image: Any) -> Any:
    raise ValueError(f"wanted another image, but got {image}")


def test_error_messages_contain_no_tensors(packed: Path) -> None:
    for transforms in (
        [v2.CenterCrop(32), *FLOATS, loud],
        [own, v2.CenterCrop(32), *FLOATS, loud],
        [v2.CenterCrop(32), *FLOATS, lambda image: CHOICE(image)],
    ):
        with pytest.raises(dsconv.Error) as raised:
            batches(packed, transforms)
        shown = "".join(traceback.format_exception(raised.type, raised.value, raised.tb, chain=True))
        assert "but got ..." in str(raised.value) and len(str(raised.value)) < 400
        assert "[[" not in shown and len(shown) < 10_000


@pytest.mark.parametrize("factor", [0.01, 0.3, 0.77, 1.0, 1.13, 1.9, 3.5])
def test_brightness_of_tensors_is_that_of_torchvision(packed: Path, factor: float) -> None:
    """It is equal bit for bit, so it may be native after ToImage."""
    transforms = [v2.ToImage(), v2.CenterCrop(48), v2.ColorJitter(brightness=(factor, factor)), *FLOATS[1:]]
    assert dsconv.transforms.translate(transforms).rest is None
    theirs = v2.Compose(transforms)
    dataset = dsconv.Dataset(packed)
    for images, numbers in dsconv.Loader(packed, 10, transforms, fields=("image", "index")):
        for image, i in zip((images * 255).round(), numbers):
            assert torch.equal(image, (theirs(dataset[int(i)][0]) * 255).round())


def test_padding_has_its_label_until_it_is_mixed(packed: Path) -> None:
    """A sample that is mixed with padding keeps the weight of its label, as in native batches."""
    transforms = [v2.CenterCrop(32), *FLOATS, own, v2.MixUp(num_classes=3)]
    for label_dtype in ("int64", "uint8"):
        options = {"rank": 4, "world_size": 5, "tail": "pad", "label_dtype": label_dtype}
        loader = dsconv.Loader(packed, 5, transforms, fields=("label", "index"), **options)
        labels, numbers = list(loader)[-1]
        assert (labels[numbers == -1] == 0).all()
        torch.testing.assert_close(labels[numbers >= 0].sum(1), torch.ones(int((numbers >= 0).sum())))
        apart = dsconv.Loader(packed, 5, [*transforms[:-1]], fields=("label", "index"), **options)
        labels, numbers = list(apart)[-1]
        none = {"int64": -1, "uint8": 255}[label_dtype]
        assert (labels[numbers == -1] == none).all() and (labels[numbers >= 0] < 3).all()


def test_long_error_messages_are_shortened_quickly() -> None:
    """A search with quadratic time would take 10^12 steps for these two million letters."""
    from dsconv import _short_messages

    assert len(_short_messages.short_message(ValueError("x" * 2_000_000))) == 500
