"""Imports a script of the user's, for the DataLoader in it."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from dsconv._errors import ArgumentError


class Script:
    """A script as an imported module: not as main, and so that worker processes can import it too.

    Args:
        path: of the script. Its folder becomes the first one of sys.path, as when Python runs it.
    """

    def __init__(self, path: str) -> None:
        file = Path(path)
        if not file.is_file():
            raise ArgumentError(f"{path}: there is no such script")
        if file.suffix != ".py" or "." in file.stem:
            raise ArgumentError(f"{path}: its name must end in .py and have no other dot, so that it can be imported")
        self.path = path
        known = sys.modules.get(file.stem)
        if known is not None and not _same(getattr(known, "__file__", None), file):
            raise ArgumentError(f"{path}: Python has a module of the name {file.stem} already; rename the script")
        sys.path.insert(0, str(file.resolve().parent))
        importlib.invalidate_caches()
        self._module = importlib.import_module(file.stem)
        if not _same(getattr(self._module, "__file__", None), file):
            raise ArgumentError(f"{path}: Python has a module of the name {file.stem} already; rename the script")

    def loader(self, name: str) -> Any:
        """The DataLoader, or another iterable, of that name; if it is a function, what it returns."""
        found = self.value(name)
        if callable(found) and not hasattr(found, "__iter__"):
            found = found()
        if not hasattr(found, "__iter__"):
            raise ArgumentError(
                f"{self.path}:{name} is {_kind(found)}: it must be a DataLoader, another iterable of batches, or a "
                "function without arguments that returns one"
            )
        return found

    def function(self, name: str) -> Any:
        """The function of that name."""
        found = self.value(name)
        if not callable(found):
            raise ArgumentError(f"{self.path}:{name} is {_kind(found)}: it must be a function of a batch")
        return found

    def value(self, name: str) -> Any:
        """The value of a name; with dots, of attributes of it."""
        found: Any = self._module
        for part in name.split("."):
            if not hasattr(found, part):
                names = [n for n in vars(self._module) if not n.startswith("_")]
                raise ArgumentError(f"{self.path} has no {name}: choose one of {', '.join(names) or 'none'}")
            found = getattr(found, part)
        return found


def split(text: str) -> tuple[str, str]:
    """train.py:NAME as path and name."""
    path, colon, name = text.rpartition(":")
    if not colon or not path or not name:
        raise ArgumentError(f"{text}: write the script and the name of its DataLoader, such as train.py:loader")
    return path, name


def _same(found: str | None, file: Path) -> bool:
    return found is not None and os.path.exists(found) and os.path.samefile(found, file)


def _kind(value: Any) -> str:
    return f"of the type {type(value).__name__}"
