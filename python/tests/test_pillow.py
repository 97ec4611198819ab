"""The comparison with Pillow, `dsconv verify --parity`, beside the command: what it counts and says."""

from __future__ import annotations

import ast
import os
import struct
import subprocess
import sys
from pathlib import Path as File

import pytest
from dsconv._parity import certificate, compare
from dsconv._parity.certificate import Certificate, Path
from dsconv._parity.difference import Difference, difference, psnr
from dsconv._parity.images import Pixels, pixels_of
from dsconv._parity.report import text_of

pytest.importorskip("PIL", reason="Pillow is not installed")

START = {
    "samples": 1,
    "chosen": 1,
    "seed": 0,
    "missing": [],
    "recipe": {},
    "resize": {"mode": "shorter", "w": 256, "h": 0, "filter": "bilinear", "upscale": True, "center": 224},
    "dsconv": {"decoder": "libjpeg-turbo", "decoder_version": "3", "resampler": "pillow-13"},
}


def test_difference() -> None:
    a = Pixels(bytes([10, 200]), 1, 2, 1, 8)
    d = difference(a, Pixels(bytes([13, 200]), 1, 2, 1, 8))
    assert d.largest == 3 and d.square == pytest.approx(9 / 2 / 255 / 255) and d.bits == 8
    assert difference(a, a).largest == 0
    deep = difference(Pixels(struct.pack("<H", 256), 1, 1, 1, 16), Pixels(struct.pack("<H", 255), 1, 1, 1, 16))
    assert (deep.largest, deep.bits) == (1, 16)
    other = difference(a, Pixels(a.data, 2, 1, 1, 8))
    assert other.largest == 255 and other.cause == "1x2x1 of uint8 where Pillow has 2x1x1 of uint8"
    assert psnr(1e-4) == pytest.approx(40)


def test_mean_and_equal_share() -> None:
    a, b = Pixels(bytes([10, 20, 30, 40]), 1, 4, 1, 8), Pixels(bytes([10, 21, 30, 37]), 1, 4, 1, 8)
    deep = Pixels(struct.pack("<2H", 257, 514), 1, 2, 1, 16), Pixels(struct.pack("<2H", 257, 0), 1, 2, 1, 16)
    p = Path("p", "")
    assert (p.mean, p.equal_share) == (0, 1)
    p.add("a", difference(a, b))
    assert (p.mean, p.equal_share) == (1, 0.5)
    p.add("same", difference(a, a))
    assert (p.mean, p.equal_share) == (0.5, 0.75)
    p.add("deep", difference(*deep))  # 514 of 65535 is 2 of 255
    assert (p.mean, p.equal_share) == (0.6, 0.7)
    p.add("shape", difference(a, Pixels(a.data, 4, 1, 1, 8)))
    assert p.equal_share == 0.5 and p.mean > 70


GPU = {"decoder": "gpu", "nvjpeg": "13.3.2", "card": "NVIDIA H200"}


@pytest.mark.parametrize(
    ("gpu", "want"),
    [
        (None, "decoded by nvJPEG 13.3.2 on NVIDIA H200; without it here"),
        ({"nvjpeg": "13.3.2", "card": "NVIDIA H200", "driver": "13.0"}, ""),
        ({"nvjpeg": "12.4.0", "card": "NVIDIA H200", "driver": "13.0"}, "the paths gpu are those of nvJPEG 12.4.0 on"),
    ],
)
def test_paths_of_a_gpu(gpu: dict[str, str] | None, want: str) -> None:
    """What a GPU decoded is a path for each way and kind, named with library and card; what it left is counted."""
    resize = {"mode": "shorter", "w": 1, "h": 0, "filter": "bilinear", "upscale": False, "center": 0}
    recipe = {**GPU, "encode": "raw", "resize": "shorter:1"}
    comparison = compare.Comparison({**START, "recipe": recipe, "resize": resize, "gpu": gpu})
    a, b = Pixels(b"\1", 1, 1, 1, 8), Pixels(b"\3", 1, 1, 1, 8)
    for key, by in (("z", "engine 4:2:0"), ("y", "cuda grey"), ("x", "engine 4:2:0")):
        comparison._gpu(key, compare.Given(a, by=by), compare.Made(b if key == "x" else a))
    comparison._gpu("w", compare.Given(error="decoded on the CPU: no JPEG"), compare.Made(a))
    certificate = comparison.certificate()
    assert [p.name for p in certificate.paths] == ["gpu", "gpu cuda grey", "gpu engine 4:2:0"]
    engine = certificate.paths[2]
    assert (engine.images, engine.differ, engine.largest, engine.mean, engine.equal_share) == (2, 1, 2, 1, 0.5)
    assert engine.equal and certificate.equal and certificate.as_json().get("gpu") == gpu
    assert comparison.paths["packed"].allowed == "decoded by nvJPEG 13.3.2 on NVIDIA H200"
    text = text_of(certificate)
    assert "gpu engine 4:2:0: mean difference 1.000 of 255, 50.0 % of the values are equal\n" in text
    assert "gpu: 1 images not judged: decoded on the CPU: no JPEG\n" in text
    notes = [note for note in certificate.notes if "nvJPEG" in note]
    assert len(notes) == (want != "") and all(want in note for note in notes)


def test_order_of_images_does_not_matter() -> None:
    found = {
        "a": Difference(0, 0, 8, 100, 50, 7),
        "b": Difference(5, 0.3, 8, 100, 50, 7),
        "c": Difference(5, 0.2, 8, 100, 50, 7),
        "d": Difference(6, 0.1, 8, 100, 50, 7),
        "e": Difference(6, 0.1, 8, 100, 50, 7),
        "f": Difference(1500, 0.01, 16, 100, 50, 7),
    }
    p, q = Path("p", ""), Path("p", "")
    for key in found:
        p.add(key, found[key])
    for key in reversed(found):
        q.add(key, found[key])
    assert p.as_json() == q.as_json()
    assert (p.as_json()["worst"], p.largest, p.bits, p.differ, p.images) == ("d", 6, 8, 5, 6)
    assert p.min_psnr == psnr(0.3)
    p.add("g", Difference(1, 1, 8, 100, 0, 7, "another shape"))
    assert p.as_json()["worst"] == "g" and "another shape" in p.verdict()


def test_refusals() -> None:
    p = Path("decode", "")
    p.refuse("both", "cut", "also cut", False)
    p.refuse("a kind", "no CMYK", "", True)
    assert p.equal and p.verdict() == ""
    p.refuse("ours", "", "cut", False)
    p.refuse("theirs", "cut", "", False)
    assert not p.equal
    assert "ours: only dsconv decodes it; Pillow: cut" in p.verdict()
    assert "theirs: only Pillow decodes it; dsconv: cut" in p.verdict()


def test_old_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Pillow before 13 is no judge of an image for which the order of passes counts, and it is of the others."""
    comparison = compare.Comparison(START)
    monkeypatch.setitem(comparison.judge, "pillow", "12.1.0")
    a, b = Pixels(b"\1", 1, 1, 1, 8), Pixels(b"\2", 1, 1, 1, 8)
    p = comparison.paths["resize"]
    comparison.compare("resize", "same", compare.Given(a), compare.Made(a, other_order=True))
    comparison.compare("resize", "order", compare.Given(a), compare.Made(b, other_order=True))
    assert (p.images, p.differ, p.equal) == (1, 0, True) and len(p.not_judged) == 1
    comparison.compare("resize", "other", compare.Given(a), compare.Made(b))
    assert p.differ == 1 and not p.equal
    assert compare.other_order(800, 90, 224, 224)
    assert not compare.other_order(800, 90, 400, 90) and not compare.other_order(90, 800, 224, 224)


@pytest.mark.parametrize(
    ("pillow", "jpeg", "recipe", "want"),
    [
        ("13.2.1", "libjpeg-turbo 3.1", {}, ""),
        ("11.0.0", "libjpeg-turbo 3.1", {}, "Pillow 11.0.0 is not the pillow-13"),
        ("13.0.0", "libjpeg 9.5", {}, "by libjpeg 9.5 and dsconv by"),
        ("13.0.0", "libjpeg-turbo", {"resampler": "other"}, "packed with the resampler other"),
    ],
)
def test_notes(pillow: str, jpeg: str, recipe: dict[str, str], want: str) -> None:
    judge = {"python": "3", "pillow": pillow, "jpeg": jpeg}
    notes = Certificate({**START, "recipe": recipe}, judge, [], []).notes
    assert len(notes) == (want != "") and all(want in note for note in notes)


def test_text_quotes_keys() -> None:
    judge = {"python": "3", "pillow": "13.0.0", "jpeg": "libjpeg-turbo 3"}
    text = text_of(Certificate({**START, "missing": ["a\nb"]}, judge, [], []))
    assert 'not in the source: 1: "a\\nb"\n' in text


def test_grey_and_alpha_is_stored_as_colors() -> None:
    im = compare.with_colors(Pixels(bytes([7, 9]), 1, 1, 2, 8))
    assert im == Pixels(bytes([7, 7, 7, 9]), 1, 1, 4, 8) == pixels_of(im.image())


def test_needs_only_pillow() -> None:
    """The command runs these files where dsconv's package and numpy are not installed."""
    folder = File(certificate.__file__).parent
    allowed = set(sys.stdlib_module_names) | {"PIL", "torch", "torchvision"}
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level < 2
                names = [node.module or ""] if node.level == 0 else []
            assert {name.partition(".")[0] for name in names} <= allowed, file


@pytest.mark.long
def test_by_the_command(command: str, photos: File, packed: File) -> None:
    """The command that comes with the package brings these files along."""
    args = [command, "verify", "--parity", str(photos), str(packed), "--python", sys.executable, "--sample", "5"]
    done = subprocess.run(args, capture_output=True, text=True, cwd=os.path.dirname(packed))
    assert done.returncode == 0, done.stderr
    assert "5 of 48 samples compared" in done.stdout
