"""Label files of other programs: ImageNet's layout has torchvision's class indices."""

from __future__ import annotations

import csv
import json
import subprocess
import tarfile
from pathlib import Path

import dsconv
import numpy as np
import pytest
from PIL import Image

TRAIN = {"n01440764": 2, "n02100735": 3, "n02119789": 2}  # images of each class
NUMBERS = {1: "n02119789", 2: "n01440764", 3: "n02100735"}  # ILSVRC2012_ID: not in the order of the WordNet IDs
TRUTH = [3, 1, 1, 2, 3]


@pytest.fixture(scope="module")
def imagenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ILSVRC2012, made small: the folders train and val, and the development kit as it is downloaded."""
    sio = pytest.importorskip("scipy.io", reason="scipy is not installed")
    root = tmp_path_factory.mktemp("imagenet")
    random = np.random.default_rng(0)

    def image(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(random.integers(0, 255, (12, 16, 3), np.uint8)).save(path, "JPEG")

    for wnid, n in TRAIN.items():
        for i in range(n):
            image(root / "train" / wnid / f"{wnid}_{i}.JPEG")
    for i in range(len(TRUTH)):
        image(root / "val" / f"ILSVRC2012_val_{i + 1:08d}.JPEG")
    kit = root / "kit" / "ILSVRC2012_devkit_t12" / "data"
    kit.mkdir(parents=True)
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
    synsets = np.zeros((4, 1), dtype=[(f, object) for f in fields])
    for i, (number, wnid) in enumerate(NUMBERS.items()):
        synsets[i, 0] = (float(number), wnid, f"name of {wnid}, other", "", 0.0, np.zeros(0), 0.0, 1300.0)
    synsets[3, 0] = (1001.0, "n00001740", "entity", "", 3.0, np.arange(1.0, 4.0), 1.0, 0.0)
    sio.savemat(kit / "meta.mat", {"synsets": synsets}, do_compression=True)
    (kit / "ILSVRC2012_validation_ground_truth.txt").write_text("".join(f"{n}\n" for n in TRUTH))
    with tarfile.open(root / "ILSVRC2012_devkit_t12.tar.gz", "w:gz") as tar:
        tar.add(kit.parent, "ILSVRC2012_devkit_t12")
    with (root / "LOC_val_solution.csv").open("w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["ImageId", "PredictionString"])
        for i in (3, 0, 4, 1, 2):
            rows.writerow([f"ILSVRC2012_val_{i + 1:08d}", f"{NUMBERS[TRUTH[i]]} 1 2 3 4 {NUMBERS[TRUTH[i]]} 5 6 7 8 "])
    (root / "LOC_synset_mapping.txt").write_text("".join(f"{w} name of {w}, other\n" for w in sorted(TRAIN)))
    images = root / "images"  # without the other files
    images.mkdir()
    for split in ("train", "val"):
        (images / split).symlink_to(root / split)
    return root


@pytest.fixture(scope="module")
def wanted(imagenet: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The class index of each key, by torchvision's own code for ImageNet's files."""
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    from torchvision.datasets import ImageFolder
    from torchvision.datasets import imagenet as code

    root = tmp_path_factory.mktemp("torchvision")
    archive = imagenet / "ILSVRC2012_devkit_t12.tar.gz"
    patch = pytest.MonkeyPatch()
    with patch.context() as p:
        p.setattr(code, "_verify_archive", lambda *_: None)  # the small kit has another MD5
        (root / archive.name).write_bytes(archive.read_bytes())
        code.parse_devkit_archive(str(root))
    _, wnids = code.load_meta_file(str(root))
    for image, wnid in zip(sorted((imagenet / "val").iterdir()), wnids):  # as prepare_val_folder moves them
        (root / "val" / wnid).mkdir(parents=True, exist_ok=True)
        (root / "val" / wnid / image.name).symlink_to(image)
    found = {}
    for split, at in (("train", imagenet), ("val", root)):
        for path, index in ImageFolder(str(at / split)).samples:
            name = Path(path)
            found[f"train/{name.parent.name}/{name.stem}" if split == "train" else f"val/{name.stem}"] = index
    return found


def labels_of(command: str, path: Path) -> dict[str, int]:
    listed = subprocess.run([command, "ls", "--json", str(path)], check=True, capture_output=True, text=True)
    samples = [json.loads(line) for line in listed.stdout.splitlines()]
    return {s["key"]: s["label"] for s in samples}


@pytest.mark.parametrize("file", ["ILSVRC2012_devkit_t12.tar.gz", "kit/ILSVRC2012_devkit_t12", "LOC_val_solution.csv"])
def test_imagenet_has_torchvisions_indices(
    command: str, imagenet: Path, wanted: dict[str, int], file: str, tmp_path: Path
) -> None:
    report = dsconv.pack(
        imagenet / "images", tmp_path / "x.lmdb", labels={"val": imagenet / file},
        class_order=str(imagenet / "LOC_synset_mapping.txt"), progress=False,
    )  # fmt: skip
    assert (report.written, report.skipped) == (12, 0)
    assert any("ImageNet" in notice for notice in report.details["label_notices"])
    assert "images elsewhere: the class is their folder's" in str(report)
    assert labels_of(command, tmp_path / "x.lmdb") == wanted


def test_a_list_of_images(command: str, imagenet: Path, tmp_path: Path) -> None:
    rows = [{"Image": str(p), "Id": "odd" if i % 2 else "even"} for i, p in enumerate(sorted(imagenet.glob("val/*")))]
    (tmp_path / "list.json").write_text(json.dumps(rows))
    report = dsconv.pack(
        tmp_path / "list.json", tmp_path / "x.tar", label_columns={"path": "Image", "label": "Id"}, progress=False
    )
    assert (report.written, report.skipped) == (5, 0)
    assert list(labels_of(command, tmp_path / "x.tar").values()) == [0, 1, 0, 1, 0]
    with pytest.raises(ValueError, match="--label-sep"):
        dsconv.pack(imagenet / "val", tmp_path / "y.tar", label_sep=";", progress=False)
