"""What make gpu-check knows before its parts run: wheels, the commit, the setting."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

GPU = Path(__file__).parents[2] / "lab" / "gpu"


@pytest.fixture(scope="module")
def check() -> Iterator[Any]:
    """The modules machine, prepare and setting."""
    sys.path.insert(0, str(GPU))
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in ("machine", "prepare", "setting")})
    sys.path.remove(str(GPU))


def test_results_name_the_commit_of_the_wheel(check: Any, tmp_path: Path) -> None:
    """Also where the copy of the repository has no .git, or an older one."""
    assert check.machine.commit(str(tmp_path)) == ""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "older"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    assert re.fullmatch("[0-9a-f]{40}", check.machine.commit(str(tmp_path)))
    (tmp_path / "build" / "gpu").mkdir(parents=True)
    (tmp_path / "build" / "gpu" / "commit").write_text("0123abc\n")
    assert check.machine.commit(str(tmp_path)) == "0123abc"


def test_wheels_are_unpacked_without_an_installer(
    tmp_path: Path, check: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    wheels.mkdir()
    wheel(wheels / "dsconv-9.9-py3-none-manylinux_2_28_x86_64.whl", {"dsconv/bin/dsconv": "#!/bin/sh\n"})
    wheel(wheels / "nvidia_nvjpeg-13.3-py3-none-any.whl", {"nvidia/cu13/lib/libnvjpeg.so.13": ""})
    wheel(wheels / "pytest-9-py3-none-any.whl", {"pytest.py": ""})
    wheel(wheels / "missing_here-1-py3-none-any.whl", {"missing_here.py": ""})
    this = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    wheel(wheels / f"missing_too-1-{this}-{this}-manylinux_2_28_x86_64.whl", {"missing_too.py": ""})
    wheel(wheels / "of_another-1-cp27-cp27mu-manylinux1_x86_64.whl", {"of_another.py": ""})
    check.prepare.install(tmp_path, wheels, site)
    assert os.access(check.prepare.program(site), os.X_OK)
    assert (site / "nvidia" / "cu13" / "lib" / "libnvjpeg.so.13").exists()
    assert not (site / "pytest.py").exists(), "what is installed is not replaced"
    assert (site / "missing_here.py").exists() and (site / "missing_too.py").exists()
    assert not (site / "of_another.py").exists()
    assert "of_another-1-cp27-cp27mu-manylinux1_x86_64.whl is not for Python" in capsys.readouterr().out


def wheel(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def test_the_setting_reaches_the_parts(check: Any) -> None:
    setting = check.setting.Setting("r", "w", "s", "c", "p", 3, "/x/libnvjpeg.so")
    assert check.setting.Setting.from_json(setting.to_json()) == setting
    assert setting.gpu_flags() == ["--decoder", "gpu", "--nvjpeg", "/x/libnvjpeg.so"]
    assert setting.gpu_options() == {"decoder": "gpu", "device": "cuda", "nvjpeg": "/x/libnvjpeg.so"}
    assert setting.environment()["DSCONV_COMMAND"] == "c"
