"""Several views of each image: SimCLR's two, DINO's multi-crop."""

import copy
import os
import pickle

import dsconv
import numpy as np
import pytest
from dsconv import Loader
from PIL import Image

torch = pytest.importorskip("torch")
v1 = pytest.importorskip("torchvision.transforms")
v2 = pytest.importorskip("torchvision.transforms.v2")

TRAIN = "rrc:24,flip,jitter:0.4"


class Darker:
    """A transform of the user's own, which draws from numpy's generator of the process."""

    def __call__(self, image):
        by = np.random.uniform(0.2, 0.9)
        return image.point(lambda v: int(v * by))


def simclr():
    return v1.Compose([v1.RandomResizedCrop(20), v1.RandomHorizontalFlip(), v1.ToTensor()])


MULTI_CROP = {
    "native": lambda: [simclr(), "rrc:20,flip,normalize", v2.Compose([v2.RandomResizedCrop(12), v1.ToTensor()])],
    "on threads": lambda: [v1.Compose([v1.RandomResizedCrop(20), v1.RandomPerspective(p=1), v1.ToTensor()])] * 2,
    "own": lambda: [v1.Compose([v1.RandomResizedCrop(n), Darker(), v1.ToTensor()]) for n in (20, 20, 8)],
    "mixed": lambda: [
        simclr(),
        v1.Compose([v1.RandomResizedCrop(12), Darker(), v1.ToTensor()]),
        "rrc:9,flip",
        v1.Compose([v1.RandomResizedCrop(11), v1.ToTensor(), v1.RandomErasing(p=1), v1.RandomAffine(20)]),
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("views")
    draw = np.random.default_rng(0)
    for i in range(23):
        path = root / f"class{i % 3}" / f"{i:02}.{'png' if i % 4 == 0 else 'jpg'}"
        path.parent.mkdir(exist_ok=True)
        small = draw.integers(0, 256, (5 + i % 3, 7, 3), dtype=np.uint8)
        Image.fromarray(small).resize((60 + i, 50 + 2 * i), Image.BICUBIC).save(path)
    return root


@pytest.fixture(scope="module")
def tiled(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("tiled") / "tiled.lmdb"
    dsconv.pack(folder, out, encode="jpeg-tiled:3")
    return out


@pytest.fixture(params=["folder", "tiled"])
def path(request):
    return request.getfixturevalue(request.param)


def epoch(loader, number=0):
    loader.set_epoch(number)
    return list(loader)


def equal(got, wanted):
    assert len(got) == len(wanted)
    for batch, want in zip(got, wanted):
        assert torch.equal(batch[1], want[1])
        assert [view.shape for view in batch[0]] == [view.shape for view in want[0]]
        assert all(map(torch.equal, batch[0], want[0]))


@pytest.mark.filterwarnings("ignore:Python runs")
@pytest.mark.parametrize("kind", MULTI_CROP)
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_views_are_those_of_loaders_with_one_view(path, kind, workers):
    views = MULTI_CROP[kind]()
    options = {"dtype": "float32"} if kind == "native" else {}
    loader = Loader(path, 5, views=views, seed=7, shuffle="none", num_workers=workers, **options)
    assert loader.view_seeds[0] == 7 and len(set(loader.view_seeds)) == len(views)
    got = epoch(loader, 2)
    for k, (seed, transforms) in enumerate(zip(loader.view_seeds, views)):
        for batch, (images, labels) in zip(
            got, epoch(Loader(path, 5, transforms=transforms, seed=seed, num_workers=2, **options), 2)
        ):
            assert isinstance(batch[0], list) and len(batch[0]) == len(views)
            assert batch[0][k].dtype == images.dtype and torch.equal(batch[0][k], images)
            assert torch.equal(batch[1], labels)


def test_a_number_of_views_draws_for_each(path):
    ((first, second), labels) = next(iter(Loader(path, 23, TRAIN, views=2, seed=1)))
    assert first.shape == second.shape == (23, 3, 24, 24) and labels.shape == (23,)
    assert not torch.equal(first, second)
    ((alone,), _) = next(iter(Loader(path, 23, TRAIN, views=1, seed=1)))
    assert torch.equal(alone, first)


def test_batches_are_as_a_dataloader_collates_a_list_of_views(path):
    seen = []
    loader = Loader(path, 4, TRAIN, views=2, seed=1, fields=("image", "label", "key"), collate_fn=seen.append)
    next(iter(loader))
    from torch.utils.data import default_collate

    images, labels, keys = next(iter(Loader(path, 4, TRAIN, views=2, seed=1, fields=("image", "label", "key"))))
    assert type(seen[0][0][0]) is list and len(seen[0]) == 4
    wanted = default_collate(seen[0])
    assert all(map(torch.equal, wanted[0], images)) and torch.equal(wanted[1], labels) and list(wanted[2]) == keys


@pytest.mark.filterwarnings("ignore:Python runs")
def test_collate_fn_gets_lists_from_python_transforms_too(path):
    transforms = v1.Compose([v1.RandomResizedCrop(8), Darker(), v1.ToTensor()])
    samples = next(iter(Loader(path, 4, transforms, views=3, seed=1, collate_fn=lambda samples: samples)))
    images = next(iter(Loader(path, 4, transforms, views=3, seed=1)))[0]
    for k in range(3):
        assert torch.equal(torch.stack([sample[0][k] for sample in samples]), images[k])


@pytest.mark.filterwarnings("ignore:Python runs")
@pytest.mark.parametrize("kind", MULTI_CROP)
def test_resumes_anywhere(path, kind):
    options = {"dtype": "float32"} if kind == "native" else {}

    def make():
        return Loader(path, 5, views=MULTI_CROP[kind](), seed=7, shuffle=True, num_workers=2, **options)

    whole = epoch(make(), 1)
    for taken in range(len(whole)):
        loader = make()
        loader.set_epoch(1)
        batches = iter(loader)
        for _ in range(taken):
            next(batches)
        state, resumed = loader.state_dict(), make()
        if taken > 0:
            resumed.load_state_dict(state)
            equal(list(resumed), whole[taken:])


def test_format_of_the_batches(path):
    loader = Loader(path, 5, TRAIN, views=2, seed=1, dtype=torch.bfloat16, memory_format=torch.channels_last)
    one = next(iter(Loader(path, 5, TRAIN, seed=1, dtype=torch.bfloat16, memory_format=torch.channels_last)))
    images, _ = next(iter(loader))
    for view in images:
        assert view.dtype == torch.bfloat16 and view.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(images[0], one[0])
    on_device, _ = next(iter(Loader(path, 5, TRAIN, views=2, seed=1, device="cpu")))
    assert [view.device.type for view in on_device] == ["cpu", "cpu"]


@pytest.mark.parametrize("cache", ["encoded:8MB", "decoded:8MB"])
def test_cached_images_have_the_same_views(folder, cache):
    wanted = epoch(Loader(folder, 5, TRAIN, views=3, seed=1))
    cached = Loader(folder, 5, TRAIN, views=3, seed=1, cache=cache)
    equal(epoch(cached), wanted)
    equal(epoch(cached), wanted)


@pytest.mark.filterwarnings("ignore:Python runs", "ignore:.*bad")
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_bad_samples_are_bad_in_all_views(folder, tmp_path, own, on_error):
    import shutil

    shutil.copytree(folder, tmp_path / "bad")
    (tmp_path / "bad" / "class1" / "07.jpg").write_bytes(b"\xff\xd8 no image")
    transforms = v1.Compose([v1.RandomResizedCrop(8), *([Darker()] if own else []), v1.ToTensor()])
    loader = Loader(tmp_path / "bad", 4, transforms, views=2, seed=1, on_error=on_error, fields=("image", "index"))
    with pytest.warns(UserWarning):
        batches = epoch(loader)
    sizes = [[len(view) for view in images] for images, _ in batches]
    assert all(a == b == len(index) for (a, b), (_, index) in zip(sizes, batches))
    assert sum(len(index) for _, index in batches) == (22 if on_error == "skip" else 23)
    assert [sample["key"] for sample in loader.bad()["samples"]] == ["class1/07"]


def test_ranks_share_an_epoch(path):
    whole = epoch(Loader(path, 6, TRAIN, views=2, seed=1, shuffle=True, drop_last=True))
    options = {"views": 2, "seed": 1, "shuffle": True, "drop_last": True, "world_size": 2}
    ranks = [epoch(Loader(path, 3, TRAIN, rank=rank, **options)) for rank in (0, 1)]
    for batch, *parts in zip(whole, *ranks):
        for k in range(2):
            assert torch.equal(batch[0][k], torch.cat([images[k] for images, _ in parts]))


def test_pickled_and_forked(path):
    loader = Loader(path, 5, TRAIN, views=2, seed=1)
    wanted = epoch(loader)
    equal(epoch(pickle.loads(pickle.dumps(loader))), wanted)
    equal(epoch(copy.deepcopy(loader)), wanted)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            equal(epoch(loader), wanted)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_batches_are_the_callers_own(path):
    kept = epoch(Loader(path, 5, TRAIN, views=2, seed=1, shuffle=True))
    copies = [([view.clone() for view in images], labels.clone()) for images, labels in kept]
    epoch(Loader(path, 5, TRAIN, views=2, seed=2, shuffle=True))
    equal(kept, copies)


def test_the_repr_names_the_transforms_of_each(path):
    assert "native rrc:24 | rrc:8,flip" in repr(Loader(path, 5, views=["rrc:24", "rrc:8,flip"], seed=1))


def test_seeds_follow_pytorch(path):
    torch.manual_seed(41)
    loader = Loader(path, 5, TRAIN, views=2)
    torch.manual_seed(42)
    assert loader.view_seeds[0] == 42 == loader.seed
    torch.manual_seed(43)
    assert loader.view_seeds[0] == 42  # it is settled
    assert Loader(path, 5, TRAIN, seed=42).view_seeds == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"views": [TRAIN], "transforms": TRAIN}, "leave out transforms"),
        ({"views": 0, "transforms": TRAIN}, "views=0: it must be at least 1"),
        ({"views": True, "transforms": TRAIN}, "must be a whole number"),
        ({"views": "2"}, "a number or a list of transforms"),
        ({"views": 2.0}, "a number or a list of transforms"),
        ({"views": []}, "the list is empty"),
        ({"views": ["rrc:8,flip", "rrc:8,normalize"]}, "give dtype"),
        ({"views": ["rrc:8", "rrc:8,mixup:1"], "dtype": "float32"}, "view 2 of 2: mixup:1: views are not mixed"),
    ],
)
def test_impossible_views(path, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Loader(path, 5, **options)


def test_view_of_an_error_is_named(folder):
    with pytest.raises(dsconv.Error, match=r"view 2 of 2.*class0/00"):
        list(Loader(folder, 5, views=["rrc:8", "crop:200,centercrop:8"], seed=1))
