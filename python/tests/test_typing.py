"""Type checkers know the types of batches and items: typing/training.py, which runs too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dsconv
import pytest

pytest.importorskip("torch", reason="torch is not installed")
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

SCRIPT = Path(__file__).parent / "typing" / "training.py"
PACKAGE = Path(dsconv.__file__).parents[1]


def checker(name: str) -> str:
    """The path of a type checker, which is beside Python or in PATH."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.long
def test_mypy(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("MYPYPATH", "PYTHONPATH")}
    if PACKAGE.name != "site-packages":
        environment["MYPYPATH"] = str(PACKAGE)
    options = [
        "--strict",
        "--follow-imports=silent",
        "--python-executable",
        sys.executable,
        "--cache-dir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [checker("mypy"), *options, str(SCRIPT)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_pyright(tmp_path: Path) -> None:
    program = checker("basedpyright")  # pyright with its own Node.js, which needs no download
    project = {
        "include": [str(SCRIPT.parent)],
        "extraPaths": [str(PACKAGE)],
        "typeCheckingMode": "strict",
        "reportUnnecessaryTypeIgnoreComment": "error",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(project))
    done = subprocess.run(
        [program, "--project", str(tmp_path), "--pythonpath", sys.executable], capture_output=True, text=True
    )
    assert done.returncode == 0 and "0 errors" in done.stdout, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_it_runs(packed: Path, tmp_path: Path) -> None:
    rows = ["path,label,split,camera"]
    (tmp_path / "images").mkdir()
    for k in range(24):
        Image.new("RGB", (8, 9), (k, 0, 0)).save(tmp_path / "images" / f"{k:02}.png")
        rows.append(f"{k:02}.png,{'ab'[k % 2]},{('train', 'val', 'test')[k % 3]},camera {k % 5}")
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    table = tmp_path / "table.lmdb"
    dsconv.pack(tmp_path / "images", table, labels=tmp_path / "labels.csv", split="split", progress=False)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(packed), str(table)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout == "trained\n", done.stdout + done.stderr
