"""The order of the keys is not torchvision's ImageFolder's; what maps one to the other."""

from __future__ import annotations

from pathlib import Path

import dsconv
import pytest

torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")

NAMES = ("shirt/1.png", "shirt/1-2.png", "shirt/1.5.png", "shirt/10.png", "shirt-long/2.png", "shirt-long/sub/1.png",
         "shirt-long/sub-2/1.png", "shirt-long/sub.png", "ä/ü.png", "a b/x.png", "A/x.png", "A/X.png")  # fmt: skip


@pytest.mark.parametrize("split", ["", "train"])
@pytest.mark.parametrize("names", [NAMES, ("a/1.png", "b/2.png")])
def test_the_order_of_imagefolder(tmp_path: Path, names: tuple[str, ...], split: str) -> None:
    from PIL import Image

    source, packed = tmp_path / "images", tmp_path / "packed.lmdb"
    for k, name in enumerate(names):
        for folder in {split, "val" if split else ""}:
            path = source / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (4, 4), (k, 0, 0)).save(path)
    said = dsconv.pack(source, packed)
    theirs = torchvision.datasets.ImageFolder(source / split)
    for path in (source, packed):
        dataset = dsconv.Dataset(path, split or None)
        order = dataset.imagefolder_order
        want = [theirs[k][0].getpixel((0, 0)) for k in range(len(theirs))]
        assert [dataset[int(i)][0].getpixel((0, 0)) for i in order] == want
        assert [dataset.targets[i] for i in order] == theirs.targets
        loaded = dsconv.Loader(path, len(want), split=split or None, indices=order)
        assert next(iter(loaded))[0][:, 0, 0, 0].tolist() == [pixel[0] for pixel in want]
    assert ("ImageFolder has" in str(vars(said))) == (list(order) != list(range(len(order))))
