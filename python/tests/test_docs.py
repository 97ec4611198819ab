"""The sessions in docs/python.md must run and print the output that they show."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from dsconv import _command

pytest.importorskip("torch")
pytest.importorskip("torchvision")

DOCS = Path(__file__).parents[2] / "docs" / "python.md"


def test_python_md(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _command.run(["synth", "images", "--n=60", "--classes=3", "--size=96x72", "--split=val=0.25", "--quiet"])
    text = DOCS.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(>>> .*?)^```", text, re.M | re.S)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, DOCS.name, str(DOCS), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed, tried = runner.run(session, out=said.append)
    assert tried >= 20 and not failed, "".join(said)
