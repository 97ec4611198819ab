"""The sessions in docs/python.md must run and print the output that they show; the README's examples must run."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

import numpy as np
import pytest
from dsconv import _command

pytest.importorskip("torch")
pytest.importorskip("torchvision")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "python.md"


def test_python_md(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _command.run(["synth", "images", "--n=60", "--classes=3", "--size=96x72", "--split=val=0.25", "--quiet"])
    make_street(sorted(Path("images").rglob("*.jpg"))[:8])
    text = DOCS.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(>>> .*?)^```", text, re.M | re.S)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, DOCS.name, str(DOCS), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed, tried = runner.run(session, out=said.append)
    assert tried >= 20 and not failed, "".join(said)


def make_street(photos: list[Path]) -> None:
    """The folder street: photos, masks of three classes, and COCO's boxes of two, which are the masks' objects."""
    from PIL import Image

    for name in ("photos", "masks"):
        Path("street", name).mkdir(parents=True)
    images, annotations = [], []
    for k, photo in enumerate(photos):
        Path("street", "photos", f"{k:02}.jpg").write_bytes(photo.read_bytes())
        width, height = Image.open(photo).size
        mask = np.zeros((height, width), np.uint8)
        for kind in range(k % 3):
            x, y = 10 + 30 * kind, 5 + 4 * k
            mask[y : y + 20, x : x + 25] = kind + 1
            annotations.append({"image_id": k, "category_id": kind + 1, "bbox": [x, y, 25, 20]})
        Image.fromarray(mask).save(Path("street", "masks", f"{k:02}.png"))
        images.append({"id": k, "file_name": f"{k:02}.jpg"})
    categories = [{"id": 1, "name": "car"}, {"id": 2, "name": "bike"}]
    coco = {"images": images, "annotations": annotations, "categories": categories}
    Path("street", "boxes.json").write_text(json.dumps(coco))


def test_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Those with dsconv.Loader run as they stand. A test in Go, cmd/dsconv/readme_test.go, runs the others."""
    monkeypatch.chdir(tmp_path)
    _command.run(["synth", "images", "--n=70", "--classes=3", "--size=96x72", "--quiet"])
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _command.run(re.search(r"^    dsconv (pack images/ out\.lmdb)", text, re.M)[1].split())
    [diff] = re.findall(r"^```diff\n(.*?)^```", text, re.M | re.S)
    for side in "-+":
        lines = [line[1:] for line in diff.splitlines() if line[:1] in (side, " ", "")]
        names = run("\n".join(lines))
        assert names["x"].shape[1:] == (3, 224, 224) and names["y"].max() < 3
        assert type(names["train"]).__module__.startswith("dsconv" if side == "+" else "torch")
    [example] = [b for b in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "import dsconv" in b]
    run(example)
    assert "starved" in capsys.readouterr().out


def run(program: str) -> dict[str, object]:
    """The names that the program defines."""
    names: dict[str, object] = {}
    exec(compile(program, "README.md", "exec"), names)
    return names
