"""Makes what the parts use: the unpacked wheels, photos and datasets. What is there from an earlier run is kept."""

from __future__ import annotations

import argparse
import glob
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from setting import Setting


def prepare(root: Path, asked: argparse.Namespace) -> Setting:
    """The setting of a run. Raises RuntimeError if dsconv is nowhere."""
    site = install(root, asked.wheels, asked.work / "site")
    command = os.environ.get("DSCONV_COMMAND") or program(site)
    nvjpeg = asked.nvjpeg or next(iter(sorted(glob.glob(str(site / "nvidia" / "*" / "lib" / "libnvjpeg.so*")))), "")
    drawn = photos(command, asked.work, asked.images, asked.size)
    return Setting(
        root=str(root),
        work=str(asked.work),
        site=str(site),
        command=command,
        photos=str(drawn),
        images=asked.images,
        nvjpeg=nvjpeg,
        compile=asked.compile,
        turn=asked.turn,
        models=tuple(asked.models),
    )


def photos(command: str, work: Path, count: int, size: str) -> Path:
    """A folder of so many photos, which are drawn if they are not there."""
    found = work / f"photos-{count}-{size}"
    if not found.exists():
        print(f"drawing {count} photos of {size}", flush=True)
        remove(found)
        words = ["synth", str(found), f"--n={count}", f"--classes={min(10, count)}", f"--size={size}", "--quiet"]
        subprocess.run([command, *words], check=True)
    return found


def remove(path: Path) -> None:
    """Removes a folder that dsconv writes, and what a run left of it that was ended while it wrote."""
    for folder in (path, path.with_name(path.name + ".partial")):
        shutil.rmtree(folder, ignore_errors=True)


def install(root: Path, wheels: Path, site: Path) -> Path:
    """Unpacks the wheels into the folder site. No installer is needed: they are archives of ready files.

    Without a wheel of dsconv among them, an installed dsconv is used, else the wheel in build/wheel.
    """
    site.mkdir(exist_ok=True)
    found = sorted(wheels.glob("*.whl"))
    if not any(path.name.startswith("dsconv-") for path in found) and importlib.util.find_spec("dsconv") is None:
        kind = f"*_{platform.machine()}.whl"
        found += [Path(path) for path in glob.glob(str(root / "build" / "wheel" / f"dsconv-{kind}"))]
    for wheel in found:
        done = site / f".{wheel.name}-{wheel.stat().st_mtime_ns}"
        if done.exists() or not wanted(wheel.name):
            continue
        print(f"unpacking {wheel.name}", flush=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        done.touch()
    return site


def program(site: Path) -> str:
    """The program dsconv: of the unpacked wheel, else of the installed package."""
    spec = importlib.util.find_spec("dsconv")
    folders = [site / "dsconv", *map(Path, spec.submodule_search_locations or ())] if spec else [site / "dsconv"]
    for path in (folder / "bin" / "dsconv" for folder in folders):
        if path.is_file():
            if not os.access(path, os.X_OK):
                path.chmod(0o755)  # an unpacked file has lost it
            return str(path)
    raise RuntimeError("no wheel of dsconv: run make gpu-pack where Go is, and copy the folder build/gpu here")


def wanted(wheel: str) -> bool:
    """Reports whether the wheel is dsconv's, nvJPEG's, or of a package that this Python lacks and can use."""
    name, *_, python, abi, _ = wheel[: -len(".whl")].split("-")
    if name == "dsconv" or name.startswith("nvidia_"):
        return True
    try:
        importlib.metadata.distribution(name)
        return False
    except importlib.metadata.PackageNotFoundError:
        this = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        fits = not python.startswith("cp") or "abi3" in abi or this in python.split(".")
        if not fits:
            ours = f"{this[2]}.{this[3:]}"
            print(f"{wheel} is not for Python {ours}: make gpu-pack GPU_PYTHON={ours}", flush=True)
        return fits


def packed(setting: Setting, source: str, name: str, *flags: str) -> str:
    """The path of a dataset of the source with those flags of pack, which is packed if it is not there."""
    path = Path(setting.work, f"{name}-{Path(source).name}.lmdb")
    if not path.exists():
        dsconv(setting, "pack", source, str(path), "--quiet", *flags)
    return str(path)


def dsconv(setting: Setting, *words: str, **variables: str) -> str:
    """The standard output of the command, with those environment variables. Raises RuntimeError with its message."""
    environment = {**setting.environment(), "DSCONV_PYTHON": sys.executable, **variables}
    done = subprocess.run([setting.command, *words], capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"dsconv {words[0]}: {done.stderr.strip() or done.returncode}")
    return done.stdout
