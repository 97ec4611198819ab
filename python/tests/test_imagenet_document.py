"""The programs of docs/imagenet.md that use dsconv, on small sets with the real names.

The page's other commands are run by cmd/dsconv/imagenet_document_test.go.
"""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")
pytest.importorskip("scipy.io", reason="scipy is not installed")

import dsconv  # noqa: E402
import made_imagenet  # noqa: E402
from torchvision.datasets import ImageFolder, imagenet  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

TEXT = (Path(__file__).parents[2] / "docs" / "imagenet.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]
PROGRAMS = [b for b in re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S) if "import dsconv" in b]


@pytest.fixture(scope="module")
def root(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small sets, and what the page's commands pack of them."""
    root = tmp_path_factory.mktemp("imagenet")
    made_imagenet.main(root)
    for line in LINES:
        if line.startswith("dsconv pack "):
            line = shlex.quote(command) + line[len("dsconv") :]
        elif not line.startswith(("unzip", "mkdir -p wds", "mv")):
            continue
        subprocess.run(["bash", "-euc", line], cwd=root, check=True, capture_output=True)
    return root


@pytest.fixture
def there(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the folder the current one, and ResNet-50 a small network."""
    monkeypatch.chdir(root)
    small = torchvision.models.mobilenet_v3_small
    monkeypatch.setattr(
        torchvision.models, "resnet50", lambda weights=None, num_classes=1000: small(num_classes=num_classes)
    )
    return root


def program(having: str) -> str:
    [found] = [b for b in PROGRAMS if having in b]
    return found


@pytest.fixture(scope="module")
def wanted(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The class index of each key, by torchvision's own code for the downloaded files."""
    folder = tmp_path_factory.mktemp("torchvision")
    for name in ("ILSVRC2012_img_train.tar", "ILSVRC2012_img_val.tar", "ILSVRC2012_devkit_t12.tar.gz"):
        (folder / name).symlink_to(root / name)
    patch = pytest.MonkeyPatch()
    with patch.context() as p:
        p.setattr(imagenet, "_verify_archive", lambda *_: None)  # the small archives have other MD5s
        imagenet.parse_devkit_archive(str(folder))
        imagenet.parse_train_archive(str(folder))
        imagenet.parse_val_archive(str(folder))
    found = {}
    for split in ("train", "val"):
        for path, index in ImageFolder(str(folder / split)).samples:
            name = Path(path)
            found[f"train/{name.parent.name}/{name.stem}" if split == "train" else f"val/{name.stem}"] = index
    return found


def test_class_indices_are_torchvisions(root: Path, wanted: dict[str, int]) -> None:
    with tarfile.open(root / "ILSVRC2012_img_val.tar") as tar:
        assert len(wanted) == sum(map(len, made_imagenet.TRAIN.values())) + len(tar.getnames())
    for name in ("imagenet.lmdb", "kaggle.lmdb", "folder.lmdb", "tiled.lmdb", "small.lmdb", "pixels.h5"):
        dataset = dsconv.Dataset(root / name, ["train", "val"])
        assert dict(zip(dataset.keys, dataset.targets.tolist())) == wanted, name
        assert dataset.classes == sorted(made_imagenet.TRAIN)


def test_the_page_runs_all_its_programs() -> None:
    assert len(PROGRAMS) == 4
    for line in LINES:
        assert not line.startswith(("python", "torchrun")) or started(line), line


def started(line: str) -> list[str]:
    """The words of a command after what starts Python."""
    words = shlex.split(line)
    return (
        words[1:]
        if words[0] == "python"
        else words[words.index("--nproc-per-node") + 2 :]
        if words[0] == "torchrun"
        else []
    )


def test_the_accuracy_of_a_trained_network(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(program("IMAGENET1K_V2"), "accuracy.py", "exec"), {})
    assert re.fullmatch(r"accuracy \d+\.\d{3}%\n", capsys.readouterr().out)


def test_training(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "train.py").write_text(program("sys.argv"))
    lines = [line for line in LINES if " train.py " in line]
    assert [line.split()[0] for line in lines] == ["python", "torchrun"]
    for line in lines:
        names = train(line)
        assert names["parallel"] is line.startswith("torchrun")
        assert len(names["train"].dataset) == 7 and len(names["val"].dataset) == 5
        said = capsys.readouterr().out.splitlines()
        assert len(said) == 2 and all(re.match(r"epoch \d: loss \d+\.\d{3}, accuracy \d+\.\d\d%$", s) for s in said), (
            said
        )


def train(line: str) -> dict[str, Any]:
    """Runs the line's script for two epochs, in this process. For torchrun it is a process of a group of one."""
    script, path, epochs = started(line)
    assert epochs == "90"
    init, store = torch.distributed.init_process_group, torch.distributed.HashStore()
    with pytest.MonkeyPatch().context() as patch:
        if line.startswith("torchrun"):
            for name in ("RANK", "LOCAL_RANK"):
                patch.setenv(name, "0")
            for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE"):
                patch.setenv(name, "1")
            alone = {"store": store, "rank": 0, "world_size": 1}
            patch.setattr(torch.distributed, "init_process_group", lambda kind: init(kind, **alone))
        patch.setattr("sys.argv", [script, path, "2"])
        return runpy.run_path(script)


def test_the_reference_trainer(there: Path) -> None:
    from dsconv.train.__main__ import main

    [line] = [line for line in LINES if " -m dsconv.train " in line]
    words = started(line)
    assert words[:2] == ["-m", "dsconv.train"]
    words[words.index("resnet50")] = "mobilenet_v3_small"
    assert main([*words[2:], "--json", "train.json", "--quiet"]) == 0
    [dataset] = json.loads(Path("train.json").read_text())["datasets"]
    assert dataset["samples"] == 7


def test_segmentation(there: Path) -> None:
    names: dict[str, Any] = {}
    text = program("lraspp").replace("512", "96")
    exec(compile(text, "segmentation.py", "exec"), names)
    assert names["batch"].mask.shape[1:] == (96, 96) and names["batch"].image.shape[1:] == (3, 96, 96)
    assert set(names["batch"].mask.unique().tolist()) <= {0, 1, 2, 255}
    assert names["loss"].item() > 0


def test_a_webdataset(there: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(program("wds.lmdb"), "wds.py", "exec"), names)
    for path in ("wds", "wds.lmdb"):
        dataset = dsconv.Dataset(path, "train")
        labels = {key.rpartition("/")[2]: dataset.classes[label] for key, label in zip(dataset.keys, dataset.targets)}
        classes = sorted(made_imagenet.TRAIN)
        assert labels == {
            name: str(classes.index(wnid))
            for wnid, files in made_imagenet.TRAIN.items() for name in files if name != made_imagenet.PNG
        }  # fmt: skip
