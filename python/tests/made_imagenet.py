"""Writes the datasets of docs/imagenet.md, made small, with the real names: `python made_imagenet.py DIR`."""

from __future__ import annotations

import csv
import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

# The classes are real, and so are the names of files that ImageNet is known for.
TRAIN = {
    "n01440764": ["n01440764_10026", "n01440764_10027"],
    "n01739381": ["n01739381_1309", "n01739381_10019"],
    "n02105855": ["n02105855_2933", "n02105855_1003", "n02105855_10064"],
}
CMYK, PNG = "n01739381_1309", "n02105855_2933"
NUMBERS = {1: "n02105855", 2: "n01440764", 3: "n01739381"}  # ILSVRC2012_ID: not in the order of the WordNet IDs
TRUTH = [3, 1, 1, 2, 3]  # of the validation images
WORDS = {"n01440764": "tench, Tinca tinca", "n01739381": "vine snake", "n02105855": "Shetland sheepdog, Shetland"}
KAGGLE = "ILSVRC/Data/CLS-LOC"


def main(root: Path) -> None:
    images = {name: photo(name) for names in TRAIN.values() for name in names}
    val = {f"ILSVRC2012_val_{i + 1:08d}": photo(str(i)) for i in range(len(TRUTH))}
    write_train(root / "ILSVRC2012_img_train.tar", images)
    with tarfile.open(root / "ILSVRC2012_img_val.tar", "w") as tar:
        for name, image in val.items():
            add(tar, f"{name}.JPEG", image)
    write_devkit(root / "ILSVRC2012_devkit_t12.tar.gz")
    write_kaggle(root / "imagenet-object-localization-challenge.zip", images, val)
    write_shards(root / "imagenet1k-train-{:04}.tar", images)
    write_shards(root / "imagenet1k-validation-{:02}.tar", val)
    write_street(root / "street")
    write_irregular(root / "irregular")


def photo(name: str, size: tuple[int, int] = (320, 270)) -> bytes:
    """A picture that is another one for each name. Two names have the irregular files of ImageNet."""
    noise = np.random.default_rng(list(name.encode())).integers(0, 255, (6, 8, 3), np.uint8)
    image = Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)
    file = io.BytesIO()
    if name == PNG:
        image.save(file, "PNG")
    else:
        (image.convert("CMYK") if name == CMYK else image).save(file, "JPEG", quality=90)
    return file.getvalue()


def add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def write_train(path: Path, images: dict[str, bytes]) -> None:
    """A tar for each class, in a tar."""
    with tarfile.open(path, "w") as outer:
        for wnid, names in TRAIN.items():
            file = io.BytesIO()
            with tarfile.open(fileobj=file, mode="w") as tar:
                for name in names:
                    add(tar, f"{name}.JPEG", images[name])
            add(outer, f"{wnid}.tar", file.getvalue())


def write_devkit(path: Path) -> None:
    import scipy.io

    fields = (
        "ILSVRC2012_ID",
        "WNID",
        "words",
        "gloss",
        "num_children",
        "children",
        "wordnet_height",
        "num_train_images",
    )
    synsets = np.zeros((len(NUMBERS) + 1, 1), dtype=[(f, object) for f in fields])
    for i, (number, wnid) in enumerate(NUMBERS.items()):
        synsets[i, 0] = (float(number), wnid, WORDS[wnid], "", 0.0, np.zeros(0), 0.0, float(len(TRAIN[wnid])))
    synsets[-1, 0] = (1001.0, "n00001740", "entity", "", 3.0, np.arange(1.0, 4.0), 1.0, 0.0)
    meta = io.BytesIO()
    scipy.io.savemat(meta, {"synsets": synsets}, do_compression=True)
    with tarfile.open(path, "w:gz") as tar:
        add(tar, "ILSVRC2012_devkit_t12/data/meta.mat", meta.getvalue())
        truth = "".join(f"{n}\n" for n in TRUTH)
        add(tar, "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt", truth.encode())
        add(tar, "ILSVRC2012_devkit_t12/readme.txt", b"Development kit\n")


def write_kaggle(path: Path, images: dict[str, bytes], val: dict[str, bytes]) -> None:
    """Kaggle's zip, which has test images without labels too, and the same files unpacked."""
    solution = io.StringIO()
    rows = csv.writer(solution)
    rows.writerow(["ImageId", "PredictionString"])
    for i in (3, 0, 4, 1, 2):
        wnid = NUMBERS[TRUTH[i]]
        rows.writerow([f"ILSVRC2012_val_{i + 1:08d}", f"{wnid} 1 2 30 40 {wnid} 5 6 70 80 "])
    files = {f"{KAGGLE}/train/{name[:9]}/{name}.JPEG": image for name, image in images.items()}
    files |= {f"{KAGGLE}/val/{name}.JPEG": image for name, image in val.items()}
    files[f"{KAGGLE}/test/ILSVRC2012_test_00000001.JPEG"] = photo("test")
    files["ILSVRC/ImageSets/CLS-LOC/val.txt"] = b"ILSVRC2012_val_00000001 1\n"
    files["LOC_val_solution.csv"] = solution.getvalue().encode()
    files["LOC_synset_mapping.txt"] = "".join(f"{w} {WORDS[w]}\n" for w in sorted(WORDS)).encode()
    with zipfile.ZipFile(path, "w") as z:
        for name, content in files.items():
            z.writestr(name, content)
    with zipfile.ZipFile(path) as z:
        z.extractall(path.parent / "kaggle")


def write_shards(pattern: Path, images: dict[str, bytes]) -> None:
    """Two shards of a WebDataset: an image, its class and JSON."""
    classes = sorted(TRAIN)
    for shard in range(2):
        with tarfile.open(str(pattern).format(shard), "w") as tar:
            for i, (name, image) in enumerate(images.items()):
                if i % 2 == shard and name != PNG:
                    label = classes.index(name[:9]) if name[:9] in classes else i % 3
                    add(tar, f"{name}.jpg", image)
                    add(tar, f"{name}.cls", str(label).encode())
                    add(tar, f"{name}.json", json.dumps({"label": label, "filename": f"{name}.JPEG"}).encode())


def write_street(root: Path) -> None:
    """Photos and masks of classes 0 to 2, with 255 for what is not annotated."""
    for split, n in (("train", 6), ("val", 2)):
        for folder in ("images", "masks"):
            (root / folder / split).mkdir(parents=True)
        for i in range(n):
            (root / "images" / split / f"{i:04}.jpg").write_bytes(photo(f"{split}{i}", (160, 120)))
            mask = np.full((120, 160), 255, np.uint8)
            mask[20:, :90], mask[20:, 90:], mask[60:80, 30:70] = 0, 1, 2
            Image.fromarray(mask).save(root / "masks" / split / f"{i:04}.png")


def write_irregular(root: Path) -> None:
    """A folder of ImageNet's irregular files and of damaged ones. Ten files, of which three are no whole images."""
    good = photo("good")
    middle = len(good) // 2
    damaged = good[:middle] + b"\x55" * 40 + good[middle + 40 :]
    files = {
        "cut_1": good[:middle],
        "empty_2": b"",
        "html_3": b"<html>404</html>",
        "damaged_4": damaged,
        CMYK: photo(CMYK),
    }
    grey, turned, exif = io.BytesIO(), io.BytesIO(), Image.Exif()
    Image.open(io.BytesIO(good)).convert("L").save(grey, "JPEG")
    exif[0x112] = 6  # the orientation: turned by 90 degrees
    Image.open(io.BytesIO(good)).save(turned, "JPEG", exif=exif)
    broken = bytearray(turned.getvalue())
    at = broken.index(b"Exif\0\0") + 10
    broken[at : at + 4] = b"\xff\xff\xff\x7f"  # the offset of the EXIF's first table
    files |= {"grey_5": grey.getvalue(), "turned_6": turned.getvalue(), "exif_7": bytes(broken)}
    for wnid, folder in (("n01739381", files), ("n02105855", {PNG: photo(PNG), "n02105855_1003": good})):
        (root / wnid).mkdir(parents=True)
        for name, content in folder.items():
            (root / wnid / f"{name}.JPEG").write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
