"""The progress bar of pack and bench: tqdm's, a line of text on a terminal, or none."""

from __future__ import annotations

import io
import sys

import pytest
from dsconv import _progress

LINES = [
    '{"dataset":"a.tar","done":5,"total":10,"skipped":1,"bytes":500,"seconds":1}',
    '{"dataset":"a.tar","done":10,"total":10,"skipped":1,"bytes":1000,"seconds":2}',
    '{"dataset":"b.tar","done":2,"total":2,"skipped":0,"bytes":200,"seconds":2}',
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show(monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stderr)
    steps = _progress.JSONProgress("image")
    assert all(steps.line(line) for line in LINES)
    assert not steps.line("dsconv: a message")
    steps.close()
    return stderr.getvalue()


def test_text_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if it were not installed
    text = show(monkeypatch, Terminal())
    assert "a.tar [===============               ] 5 of 10 images 1 skipped" in text
    assert "] 10 of 10 images" in text and "b.tar [" in text and text.endswith("\n")


def test_no_bar_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show(monkeypatch, io.StringIO()) == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert show(monkeypatch, io.StringIO()) == ""


def test_notebooks_are_not_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", sys)  # as in a notebook
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert "] 10 of 10 images" in show(monkeypatch, io.StringIO())


def test_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    text = show(monkeypatch, Terminal())
    assert "a.tar: 100%" in text and "10/10" in text and "b.tar: 100%" in text
