"""dsconv.pack(stats=True), and images that are normalised by what it recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of images in RGB, grey, with a palette and with alpha, as PNG and JPEG, of many sizes, in two splits."""
    root = tmp_path_factory.mktemp("mixed")
    draw = np.random.default_rng(1)
    for split in ("train", "val"):
        for name in ("cat", "dog"):
            folder = root / split / name
            folder.mkdir(parents=True)
            for i, mode in enumerate(("RGB", "L", "P", "RGBA", "LA", "CMYK")):
                height, width = draw.integers(5, 40, 2)
                image = Image.fromarray(draw.integers(0, 256, (height, width, 3), dtype=np.uint8)).convert(mode)
                image.save(folder / f"{i}.{'jpg' if mode == 'CMYK' else 'png'}")
    return root


def pixels(folder: Path) -> np.ndarray:
    """The pixels of all images, from 0 to 1, a row for each."""
    images = (np.asarray(Image.open(p).convert("RGB")) for p in sorted(folder.rglob("*.*")))
    return np.concatenate([image.reshape(-1, 3) for image in images]) / 255


@pytest.fixture(scope="module")
def packed_figures(mixed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    path = tmp_path_factory.mktemp("packed") / "mixed.lmdb"
    report = dsconv.pack(mixed, path, stats=True, progress=False)
    return path, report.details["datasets"][0]["pixel_stats"]


def test_equal_to_numpy(mixed: Path, packed_figures: tuple[Path, dict[str, Any]]) -> None:
    figures = packed_figures[1]
    for found, folder in zip([figures, *figures["splits"]], (mixed, mixed / "train", mixed / "val")):
        want = pixels(folder)
        assert found["pixels"] == len(want)
        np.testing.assert_allclose(found["mean"], want.mean(0), rtol=0, atol=1e-12)
        np.testing.assert_allclose(found["std"], want.std(0), rtol=0, atol=1e-12)
        heights = sorted(Image.open(p).height for p in folder.rglob("*.*"))
        assert found["height"] == {"min": heights[0], "median": heights[(len(heights) - 1) // 2], "max": heights[-1]}
        assert len(set(found["classes"])) == 1 and sum(found["classes"]) == found["images"] == len(heights)


def test_the_number_of_workers_does_not_matter(mixed: Path, tmp_path: Path) -> None:
    reports = [
        dsconv.pack(
            mixed, tmp_path / f"{n}.h5", encode="raw", resize="cover:8x8", stats=True, workers=n, progress=False
        )
        for n in (1, 5)
    ]
    assert reports[0].details["datasets"][0]["pixel_stats"] == reports[1].details["datasets"][0]["pixel_stats"]


def test_sixteen_bits(tmp_path: Path) -> None:
    folder = tmp_path / "images" / "a"
    folder.mkdir(parents=True)
    values = np.random.default_rng(2).integers(0, 65536, (9, 7), dtype=np.uint16)
    Image.fromarray(values).save(folder / "x.png")
    report = dsconv.pack(tmp_path / "images", tmp_path / "x.lmdb", stats=True, progress=False)
    figures = report.details["datasets"][0]["pixel_stats"]
    assert figures["bits"] == 16
    np.testing.assert_allclose(figures["mean"], [(values / 65535).mean()] * 3, rtol=0, atol=1e-12)
    np.testing.assert_allclose(figures["std"], [(values / 65535).std()] * 3, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="16 bits"):
        dsconv.Loader(tmp_path / "x.lmdb", 1, normalize="dataset")


@pytest.mark.parametrize("split", ["train", "val"])
def test_loader_takes_the_figures_of_train(packed_figures: tuple[Path, dict[str, Any]], split: str) -> None:
    path, figures = packed_figures
    train = figures["splits"][0]
    by = ":".join("/".join(map(repr, train[name])) for name in ("mean", "std"))
    kept = {"split": split, "num_workers": 0}
    asked = dsconv.Loader(path, 4, transforms="eval:8", normalize="dataset", **kept)
    written = dsconv.Loader(path, 4, transforms=f"eval:8,normalize:{by}", **kept)
    for (x, y), (x2, y2) in zip(asked, written):
        assert str(x.dtype).endswith("float32") and np.array_equal(x, x2) and np.array_equal(y, y2)
    assert f"normalize:{train['mean'][0]:.4}"[:14] in repr(asked)


def test_what_has_no_figures(packed: Path, packed_figures: tuple[Path, dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="dsconv pack --stats"):
        dsconv.Loader(packed, 4, transforms="eval:8", normalize="dataset")
    path = packed_figures[0]
    with pytest.raises(ValueError, match="normalise already"):
        dsconv.Loader(path, 4, transforms="eval:8,normalize", normalize="dataset")
    with pytest.raises(ValueError, match="views"):
        dsconv.Loader(path, 4, transforms="eval:8", views=2, normalize="dataset")
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="Python"):
        dsconv.Loader(path, 4, transforms=lambda image: image, normalize="dataset")


def test_before_erasing(packed_figures: tuple[Path, dict[str, Any]]) -> None:
    loader = dsconv.Loader(packed_figures[0], 4, transforms="rrc:8,erase,mixup:0.2", normalize="dataset", seed=1)
    words = loader._plan.words.split(",")
    assert [w.partition(":")[0] for w in words] == ["rrc", "normalize", "erase", "mixup"]
