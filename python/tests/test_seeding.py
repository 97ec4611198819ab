"""Transforms that run in Python draw from the seed alone, and the caller's generators are restored."""

from __future__ import annotations

import functools
import importlib.util
import random
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

try:
    import cv2
except ImportError:
    cv2 = None

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._thread_transforms import ThreadTransforms, count_for_threads  # noqa: E402
from dsconv.transforms import translate  # noqa: E402
from PIL import Image  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:Python runs these transforms"),
    pytest.mark.usefixtures("one_thread"),
]
SIZE = 9  # of a batch; 48 samples make 6


class OwnGenerators:
    """A transform that holds generators, as users write them."""

    def __init__(self) -> None:
        self.numpy = [np.random.default_rng(1), np.random.Generator(np.random.Philox(2)), np.random.RandomState(3)]
        self.python = {"random": random.Random(4)}
        self.torch = torch.Generator().manual_seed(5)

    def __call__(self, image: Any) -> Any:
        drawn = [g.normal() for g in self.numpy]
        drawn += [self.python["random"].gauss(0, 1), torch.randn((), generator=self.torch).item()]
        return with_numbers(image, drawn)


of_module = np.random.default_rng(0)


def from_module(image: Any) -> Any:
    return with_numbers(image, [of_module.normal()])


def from_all(image: Any) -> Any:
    """Draws from the process's three generators; gauss() stores a value for the next call."""
    return with_numbers(image, [random.gauss(0, 1), np.random.randn(), torch.randn(3).sum().item(), random.random()])


def upright(image: Any) -> Any:
    return image


def with_numbers(image: Any, drawn: list[float]) -> Any:
    pixels = np.array(image, np.float32)[:16, :16] if not isinstance(image, torch.Tensor) else image.numpy()
    pixels = pixels.copy()
    pixels.reshape(-1)[: len(drawn)] = drawn
    return torch.from_numpy(pixels)


def torchvision_v1() -> Any:
    T = pytest.importorskip("torchvision.transforms", reason="torchvision is not installed")
    changes = [T.AutoAugment(), T.RandomPerspective(p=0.5)]
    last = [T.ToTensor(), T.RandomChoice([T.RandomErasing(p=1), from_all])]
    return T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.RandomOrder(changes), *last])


def torchvision_v2() -> Any:
    v2 = pytest.importorskip("torchvision.transforms.v2", reason="torchvision is not installed")
    jitter = [v2.RandomPhotometricDistort(p=1), v2.ElasticTransform(20.0)]
    last = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.RandomErasing(p=0.5), v2.GaussianNoise()]
    return v2.Compose([v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), *jitter, *last])


def albumentations() -> Any:
    A = pytest.importorskip("albumentations", reason="Albumentations is not installed")
    first = [A.HorizontalFlip(p=1), A.RandomResizedCrop((32, 32)), A.OneOf([A.ColorJitter(p=1), A.GaussianBlur(p=1)])]
    return A.Compose([*first, A.GaussNoise(p=0.7), A.ISONoise(p=0.5), A.CoarseDropout(p=0.5)], seed=7)


def closure() -> Any:
    generator = np.random.default_rng(8)
    return functools.partial(lambda image, scale: with_numbers(image, [scale * generator.normal()]), scale=2)


PIPELINES: list[Callable[[], Any]] = [
    torchvision_v1,
    torchvision_v2,
    albumentations,
    lambda: [dsconv.transforms.RandomResizedCrop(32), from_all, OwnGenerators()],
    lambda: [upright, dsconv.transforms.RandomResizedCrop(32), dsconv.transforms.ToTensor(), from_all],
    lambda: from_module,
    closure,
    lambda: "rrc:32,flip,jitter:0.4",
]
NAMES = [
    "torchvision v1",
    "torchvision v2",
    "Albumentations",
    "own",
    "dsconv after Python",
    "of a module",
    "closure",
    "native",
]
pipelines = pytest.mark.parametrize("pipeline", PIPELINES, ids=NAMES)


def loader(path: Path, transforms: Any, workers: int = 2, **more: Any) -> dsconv.Loader:
    more = {"shuffle": True, "seed": 3, "fields": ("image", "label", "index"), **more}
    return dsconv.Loader(path, SIZE, transforms, num_workers=workers, **more)


def draws() -> list[Any]:
    """Numbers from the process's generators, different at each call."""
    return [random.gauss(0, 1), random.random(), np.random.randn(), np.random.rand(), torch.randn(3).tolist()]


def same(got: list[Any], want: list[Any]) -> bool:
    return len(got) == len(want) and all(
        a.dtype == b.dtype and torch.equal(torch.as_tensor(a), torch.as_tensor(b))
        for x, y in zip(got, want)
        for a, b in zip(x, y)
    )


@pipelines
def test_batches_are_the_same_with_any_number_of_workers_and_from_any_batch_on(
    packed: Path, pipeline: Callable[[], Any]
) -> None:
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    whole = loader(packed, pipeline(), 1)
    epochs, states = [], []
    for _ in range(2):
        batches = []
        states.append([whole.state_dict()])
        for batch in whole:
            batches.append(batch)
            states[-1].append(whole.state_dict())
        epochs.append(batches)
    assert not same(epochs[0], epochs[1])
    for workers in (2, 7):
        draws()
        again = loader(packed, pipeline(), workers)
        assert [same(list(again), want) for want in epochs] == [True, True]
    for position in range(len(epochs[1])):
        resumed = loader(packed, pipeline(), 7)
        resumed.load_state_dict(states[1][position])
        draws()
        assert same(list(resumed), epochs[1][position:]), position
    assert not same(list(loader(packed, pipeline(), seed=4)), epochs[0])


@pipelines
@pytest.mark.parametrize("position", [1, 4])
def test_resume_with_other_batch_sizes_and_ranks(packed: Path, pipeline: Callable[[], Any], position: int) -> None:
    train = loader(packed, pipeline())
    want = list(train)[position:]
    images, _, index = (torch.cat([torch.as_tensor(part) for part in parts]) for parts in zip(*want))
    by_index = {i: image for image, i in zip(images, index.tolist())}
    for world, size in ((1, 5), (2, 4)):
        seen = 0
        for rank in range(world):
            resumed = dsconv.Loader(
                packed, size, pipeline(), True, 3, 2, fields=("image", "index"), rank=rank, world_size=world, tail="pad"
            )
            resumed.load_state_dict({**resumed.state_dict(), "position": position * SIZE})
            for x, found in resumed:
                real = [(image, i) for image, i in zip(torch.as_tensor(x), found.tolist()) if i >= 0]
                assert all(torch.equal(image, by_index[i]) for image, i in real)
                seen += len(real)
        assert seen == len(images)


@pipelines
def test_draws_of_the_loop_and_the_transforms_are_independent(packed: Path, pipeline: Callable[[], Any]) -> None:
    want = list(loader(packed, pipeline()))
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    alone = [draws() for _ in range(len(want) + 1)]
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    drawn, got = [draws()], []
    for batch in loader(packed, pipeline(), 7):
        got.append(batch)
        drawn.append(draws())
    assert drawn == alone
    assert same(got, want)
    for _ in loader(packed, pipeline(), 7):
        draws()
        break
    random.seed(2), np.random.seed(2), torch.manual_seed(2)
    first = draws()
    random.seed(2), np.random.seed(2), torch.manual_seed(2)
    next(iter(loader(packed, pipeline())))  # and is left
    assert draws() == first


def test_generators_of_a_transform_are_restored(packed: Path) -> None:
    own = OwnGenerators()
    next(iter(loader(packed, own)))
    assert [g.normal() for g in own.numpy] == [g.normal() for g in OwnGenerators().numpy]
    assert own.python["random"].random() == random.Random(4).random()
    assert torch.equal(torch.rand(3, generator=own.torch), torch.rand(3, generator=torch.Generator().manual_seed(5)))


def test_generators_are_restored_when_a_transform_fails(packed: Path) -> None:
    def fails(image: Any) -> Any:
        draws()
        raise KeyboardInterrupt

    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    want = draws()
    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    with pytest.raises(KeyboardInterrupt):
        next(iter(loader(packed, fails)))
    assert draws() == want


def test_numpys_generator_may_be_replaced(packed: Path) -> None:
    before = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64(1))
    try:
        want = list(loader(packed, from_all))
        draws()
        assert same(list(loader(packed, from_all, 7)), want)
    finally:
        np.random.set_bit_generator(before)


@pytest.mark.parametrize("more", [{"shuffle": "balanced"}, {"shuffle": False, "sampler": [7] * 20 + [8] * 20}])
def test_repeated_samples_have_new_draws(packed: Path, more: dict[str, Any]) -> None:
    transforms = [dsconv.transforms.RandomResizedCrop(32), from_all]
    whole = list(loader(packed, transforms, **more))
    views: dict[int, set[bytes]] = {}
    for images, _, index in whole:
        for image, i in zip(images, index.tolist()):
            views.setdefault(i, set()).add(image.numpy()[8:].tobytes())  # what is drawn natively
    counts = np.bincount(torch.cat([index for *_, index in whole]).numpy())
    assert counts.max() > 1 and {i: len(v) for i, v in views.items()} == {i: counts[i] for i in views}
    resumed = loader(packed, transforms, 7, **more)
    resumed.load_state_dict({**resumed.state_dict(), "position": 2 * SIZE})
    assert same(list(resumed), whole[2:])


def test_iterators_and_ranks_have_the_same_draws(packed: Path) -> None:
    want = list(loader(packed, from_all))
    train = loader(packed, from_all)
    one, other = iter(train), loader(packed, from_all, 7)
    mixed = [[next(one), batch] for batch in other]
    assert same([a for a, _ in mixed], want) and same([b for _, b in mixed], want)
    by_index = {i: x for images, _, index in want for x, i in zip(images, index.tolist())}
    for rank in range(3):
        for images, _, index in loader(packed, from_all, rank=rank, world_size=3):
            assert all(torch.equal(x, by_index[i]) for x, i in zip(images, index.tolist()))


@pytest.mark.parametrize("transforms", ["centercrop:32", from_all])
def test_collate_fn_draws_from_the_seed(packed: Path, transforms: Any) -> None:
    def mixed(samples: list[Any]) -> Any:
        order = torch.randperm(len(samples)).tolist()
        share = random.betavariate(1, 1) + np.random.rand()
        first = torch.stack([torch.as_tensor(s[0]).float() for s in samples])
        return [share * first + first[order]]

    whole = loader(packed, transforms, 1, collate_fn=mixed)
    want = list(whole)
    state = draws()
    assert draws() != state
    assert same(list(loader(packed, transforms, 7, collate_fn=mixed)), want)
    for position in range(len(want)):
        resumed = loader(packed, transforms, collate_fn=mixed)
        resumed.load_state_dict({**resumed.state_dict(), "position": position * SIZE})
        assert same(list(resumed), want[position:])
    assert not same(list(whole), want)


def test_the_warning_names_unseeded_generators(packed: Path) -> None:
    system = random.SystemRandom()
    with pytest.warns(UserWarning, match=r"random\.SystemRandom.*not.*seed"):
        loader(packed, lambda image: with_numbers(image, [system.random()]))


@pytest.mark.skipif(cv2 is None, reason="OpenCV is not installed")
def test_opencvs_generator_is_named(packed: Path) -> None:
    with pytest.warns(UserWarning, match="cv2.*not.*seed"):
        loader(packed, opencvs_noise)


@pytest.mark.skipif(cv2 is None, reason="OpenCV is not installed")
def test_seeded_generators_do_not_warn(packed: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for pipeline in PIPELINES:
            loader(packed, pipeline())
        loader(packed, seeded_noise)
    assert [str(w.message) for w in caught if "follow the seed" in str(w.message)] == []


def seeded_noise(image: Any) -> Any:
    pixels = cv2.resize(np.asarray(image), (16, 16))
    return with_numbers(pixels, [np.random.randn()])


def opencvs_noise(image: Any) -> Any:
    return with_numbers(image, [cv2.randn(np.zeros(1), 0, 1)[0]])


def of_torchvision() -> list[Any]:
    """The random transforms of torchvision, v1 and v2."""
    T = pytest.importorskip("torchvision.transforms", reason="torchvision is not installed")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    made: list[Any] = []
    for m in (T, v2):
        made += [m.RandomResizedCrop(16), m.RandomCrop(16), m.RandomHorizontalFlip(), m.RandomVerticalFlip()]
        made += [m.RandomRotation(30), m.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 5), m.RandomPerspective(p=0.5)]
        made += [m.ColorJitter(0.4, 0.4, 0.4, 0.2), m.RandomGrayscale(0.5), m.GaussianBlur(3, (0.1, 2.0))]
        made += [m.RandomInvert(), m.RandomPosterize(3), m.RandomSolarize(99), m.RandomAutocontrast()]
        made += [
            m.RandomEqualize(),
            m.RandomAdjustSharpness(2),
            m.ElasticTransform(),
            m.RandomApply([m.RandomInvert()]),
        ]
        made += [m.AutoAugment(), m.RandAugment(), m.TrivialAugmentWide(), m.AugMix()]
        made += [m.Compose([m.ToTensor() if m is T else m.ToImage(), m.RandomErasing()])]
    made += [
        v2.RandomPhotometricDistort(),
        v2.RandomZoomOut(),
        v2.RandomShortestSize([20, 30, 40]),
        v2.ScaleJitter((20, 20)),
    ]
    made += [v2.RandomResize(10, 30), v2.RandomChannelPermutation(), v2.RandomChoice([v2.RandomInvert(), v2.AugMix()])]
    made += [v2.RandomOrder([v2.RandomInvert(), v2.RandomSolarize(99)])]
    floats = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
    made += [v2.Compose([*floats, v2.GaussianNoise()])]
    return made


@pytest.mark.filterwarnings("ignore")
def test_threads_draw_from_their_own_generators() -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(40, 200, (32, 32, 3), np.uint8))
    made = [[t] for t in of_torchvision()] + [[translate(albumentations()).rest]]
    for calls in made:
        assert count_for_threads(calls) == len(calls), calls
        confined, again = ThreadTransforms(calls, 1, 1), ThreadTransforms(calls, 1, 1)
        random.seed(1), np.random.seed(1), torch.manual_seed(1)
        views = [pixels(confined(image, (0, key))) for key in range(20)]
        left = draws()
        random.seed(1), np.random.seed(1), torch.manual_seed(1)
        assert left == draws(), calls
        assert [pixels(again(image, (0, key))) for key in reversed(range(20))] == views[::-1], calls
        assert len(set(views)) > 1, calls


def pixels(image: Any) -> bytes:
    return np.asarray(image).tobytes()


def kept(image: Any, **_: Any) -> Any:
    return image


def own_of_albumentations() -> Any:
    import albumentations as A

    return translate(A.Compose([A.Lambda(image=kept), A.GaussNoise()])).rest


def test_user_callables_run_in_the_loops_thread(packed: Path) -> None:
    T = pytest.importorskip("torchvision.transforms", reason="torchvision is not installed")

    class Derived(T.RandomInvert):
        pass

    hooked = torch.nn.Sequential(T.RandomInvert())
    hooked.register_forward_hook(lambda *_: None)
    own: list[Any] = [
        T.Lambda(from_all),
        Derived(),
        hooked,
        torch.nn.Dropout(),
        OwnGenerators(),
        functools.partial(from_all),
    ]
    own += [own_of_albumentations()] if importlib.util.find_spec("albumentations") else []
    own += [T.RandomOrder([T.RandomInvert()]), T.RandomApply([T.Lambda(from_all)])]
    for t in own:
        assert count_for_threads([T.RandomInvert(), t, T.RandomInvert()]) == 1, t

    threads = set()

    def mine(image: Any) -> Any:
        threads.add(threading.get_ident())
        return image

    list(loader(packed, T.Compose([T.AutoAugment(), mine, T.RandomCrop(32), T.ToTensor()])))
    assert threads == {threading.get_ident()}
