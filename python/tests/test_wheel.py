"""The wheel as users install it: in an environment without Go, without a compiler, without this checkout.

DSCONV_WHEEL is the wheel, DSCONV_GOLOADER the program of internal/testing/goloader, DSCONV_PYTHONS
interpreters that have numpy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import dsconv
import pytest

PROGRAM = Path(__file__).with_name("wheel_program.py")
OLDEST, *NEWER = sorted(os.environ.get("DSCONV_PYTHONS", "").split(), key=lambda path: (len(path), path)) or [""]
PYTHONS = [OLDEST, *(pytest.param(path, marks=pytest.mark.long) for path in NEWER)]  # 3.9 is shorter than 3.10


def needs(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set")
    return value


class Environment:
    """A virtual environment with the wheel and an otherwise empty PATH. It has no other package of its own, but
    sees those of interpreter.
    """

    def __init__(self, folder: Path, interpreter: str) -> None:
        self.folder = folder
        subprocess.run([interpreter, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.packages = next(folder.glob("lib/python3*/site-packages"))
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q", "--no-index"]
        subprocess.run([*pip, "--no-deps", "--disable-pip-version-check", needs("DSCONV_WHEEL")], env=env, check=True)
        where = [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        found = subprocess.run(where, check=True, stdout=subprocess.PIPE, text=True).stdout
        (self.packages / "extra.pth").write_text(found)

    def run(self, *command: str) -> str:
        env = {"PATH": str(self.folder / "bin"), "HOME": str(self.folder)}
        assert not any(shutil.which(tool, path=env["PATH"]) for tool in ("go", "gcc", "cc", "clang"))
        program = str(self.folder / "bin" / command[0])
        done = subprocess.run([program, *command[1:]], env=env, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and this one's torch."""
    pytest.importorskip("torch")
    return Environment(tmp_path_factory.mktemp("clean"), sys.executable)


@pytest.fixture(scope="module")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images of 40x40 in train/ and val/, in 4 classes of different colours that a network learns in seconds."""
    image = pytest.importorskip("PIL.Image")
    np = pytest.importorskip("numpy")
    draw = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("colours")
    means = {"blue": (60, 90, 150), "green": (80, 140, 90), "red": (150, 80, 90), "yellow": (130, 130, 60)}
    for split, n in (("train", 60), ("val", 25)):
        for name, mean in means.items():
            (folder / split / name).mkdir(parents=True)
            for i in range(n):
                pixels = draw.normal(mean, 40, (40, 40, 3)).clip(0, 255).astype(np.uint8)
                image.fromarray(pixels).save(folder / split / name / f"{i}.jpg", quality=90)
    return folder


@pytest.fixture(scope="module")
def dataset(clean: Environment, colours: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dataset") / "colours.lmdb"
    clean.run("dsconv", "pack", str(colours), str(path), "--quiet")
    return path


def test_command(clean: Environment, dataset: Path) -> None:
    assert dsconv.__version__ in clean.run("dsconv", "--version").split()
    assert "340" in clean.run("dsconv", "info", str(dataset))


@pytest.fixture(scope="module")
def outcome(clean: Environment, colours: Path, dataset: Path) -> dict[str, object]:
    """The results of wheel_program.py; its batches are beside the dataset."""
    cases = json.dumps({name: arguments for name, (arguments, _) in CASES.items()})
    return json.loads(clean.run("python", str(PROGRAM), str(colours), str(dataset), str(dataset.parent), cases))


@pytest.mark.long
def test_network_learns_as_from_imagefolder(clean: Environment, outcome: dict[str, object]) -> None:
    assert Path(outcome["dsconv"]).is_relative_to(clean.packages)
    assert outcome["images"] == 240
    assert min(outcome["before"], outcome["after"]) > 0.9
    assert abs(outcome["before"] - outcome["after"]) < 0.08


# The same epochs, in the words of dsconv.Loader and of goloader.
CASES = {
    "plain": ({"batch_size": 16}, ["-batch=16"]),
    "augmented": (
        {"batch_size": 9, "transforms": "rrc:24,flip", "shuffle": True, "seed": 7, "num_workers": 3},
        ["-batch=9", "-transforms=rrc:24,flip", "-shuffle", "-seed=7"],
    ),
    "rank": (
        {"batch_size": 16, "transforms": "rrc:24,normalize", "dtype": "float32", "rank": 1, "world_size": 3},
        ["-batch=16", "-transforms=rrc:24,normalize", "-dtype=float32", "-rank=1", "-world=3"],
    ),
    "drop": (
        {"batch_size": 32, "transforms": "resize:24x24,normalize", "dtype": "bfloat16", "drop_last": True},
        ["-batch=32", "-transforms=resize:24x24,normalize", "-dtype=bfloat16", "-drop"],
    ),
}


@pytest.mark.usefixtures("outcome")
@pytest.mark.parametrize("name", CASES)
def test_batches_equal_those_of_the_go_loader(dataset: Path, name: str) -> None:
    command = [needs("DSCONV_GOLOADER"), "-epochs=2", *CASES[name][1], str(dataset)]
    want = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    assert len(want) > 100_000
    assert (dataset.parent / name).read_bytes() == want


def test_licences_and_nothing_else_are_inside() -> None:
    with zipfile.ZipFile(needs("DSCONV_WHEEL")) as wheel:
        names = [n for n in wheel.namelist() if ".dist-info/" not in n]
        texts = wheel.read("dsconv/LICENSES").decode()
        executable = wheel.getinfo("dsconv/bin/dsconv").external_attr >> 16 & 0o111
        kind = wheel.read("dsconv/bin/dsconv")[16:18]
    assert all(n.startswith("dsconv/") and not n.endswith((".pyc", ".h")) for n in names)
    assert {"dsconv/libdsconv.so", "dsconv/py.typed", "dsconv/__init__.py"} <= set(names)
    assert executable == 0o111
    assert kind == b"\x03\0", "position-independent: ET_DYN"
    libraries = ("libjpeg-turbo", "HDF5", "libwebp", "libtiff", "libaec", "zlib")
    for part in ("Apache License", *libraries, "OpenLDAP Public License"):
        assert part in texts


@pytest.mark.parametrize("interpreter", PYTHONS)
def test_one_wheel_for_all_pythons(interpreter: str, packed: Path, tmp_path: Path) -> None:
    if not interpreter:
        needs("DSCONV_PYTHONS")
    environment = Environment(tmp_path / "venv", interpreter)
    text = f"import dsconv; print([(type(x).__name__, x.shape) for x in next(iter(dsconv.Loader({str(packed)!r}, 5)))])"
    assert environment.run("python", "-c", text).strip() == "[('ndarray', (5, 3, 72, 96)), ('ndarray', (5,))]"
