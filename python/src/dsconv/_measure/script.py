"""Imports a script of the user's, for the DataLoader in it."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import re
import shlex
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable

from dsconv._errors import ArgumentError

_MAIN = "if __name__"
_GUARD = f'{_MAIN} == "__main__"'
# An import that takes longer is remarked on: the script may be training.
_LONG_IMPORT = 30.0


class Script:
    """A script as an imported module: not as main, and so that worker processes can import it too.

    Args:
        path: of the script. Its folder becomes the first one of sys.path, as when Python runs it.
        arguments: what the script finds in sys.argv after its own path, also later, in workers.
    """

    def __init__(self, path: str, arguments: Sequence[str] = ()) -> None:
        file = Path(path)
        if not file.is_file():
            raise ArgumentError(f"{path}: there is no such script")
        if file.suffix != ".py" or "." in file.stem:
            raise ArgumentError(f"{path}: its name must end in .py and have no other dot, so that it can be imported")
        self.path = path
        if file.stem in sys.modules:
            _check_same(sys.modules[file.stem], path)
        sys.path.insert(0, str(file.resolve().parent))
        importlib.invalidate_caches()
        sys.argv = [path, *arguments]
        with _remarks(path), _ending(path):
            self._module = importlib.import_module(file.stem)
        _check_same(self._module, path)

    def loader(self, name: str) -> Any:
        """The DataLoader, or another iterable, of that name; if it is a function, what it returns. A function that
        returns an iterator is called for each epoch."""
        found = self._value(name, _may_load)
        if inspect.isroutine(found) or inspect.isclass(found) or isinstance(found, functools.partial):
            function = self._without_arguments(name, found)
            with _ending(self.path):
                found = function()
            if hasattr(found, "__next__"):
                return _each_epoch(name, function)
        if not hasattr(found, "__iter__"):
            raise ArgumentError(
                f"{self.path}:{name} is {_kind(found)}: it must be a DataLoader, another iterable of batches, or a "
                "function without arguments that returns one"
            )
        return found

    def function(self, name: str) -> Any:
        """The function of that name."""
        found = self._value(name, callable)
        if not callable(found):
            raise ArgumentError(f"{self.path}:{name} is {_kind(found)}: it must be a function of a batch")
        return found

    def _value(self, name: str, suits: Callable[[Any], bool]) -> Any:
        """The value of a name; with dots, of attributes of it. suits says which other values an error names."""
        found: Any = self._module
        for part in name.split("."):
            if not hasattr(found, part):
                raise ArgumentError(f"{self.path} has no {name}{self._instead(suits)}")
            found = getattr(found, part)
        return found

    def _instead(self, suits: Callable[[Any], bool]) -> str:
        own = [n for n, value in vars(self._module).items() if not n.startswith("_") and self._is_own(value)]
        names = [n for n in own if suits(getattr(self._module, n))]
        choice = f": choose one of {', '.join(names)}" if names else ""
        if _MAIN not in Path(self.path).read_text(encoding="utf-8", errors="replace"):
            return choice or ", nor anything else that could be measured: define it at the top level of the script"
        return f"{choice}; what is below {_GUARD} is not run here: move it into a function, and name that"

    def _is_own(self, value: Any) -> bool:
        """The script made the value: it is not imported."""
        of = value.__module__ if inspect.isroutine(value) or inspect.isclass(value) else None
        return not inspect.ismodule(value) and of in (None, self._module.__name__)

    def _without_arguments(self, name: str, function: Any) -> Any:
        try:
            inspect.signature(function).bind()
        except TypeError as err:
            raise ArgumentError(
                f"{self.path}:{name} cannot be called without arguments ({err}): name a DataLoader, or a function "
                "without arguments that returns one"
            ) from err
        except ValueError:
            pass  # it has no signature: the call shows
        return function


def _each_epoch(name: str, function: Callable[[], Iterator[Any]]) -> Any:
    """An iterable of what a function returns, which is called for each epoch. Its type has the function's name, as
    reports name the type."""
    return type(name, (), {"__iter__": lambda _: function()})()


def split(text: str) -> tuple[str, str, list[str]]:
    """train.py:NAME, or "train.py:NAME --data images", as path, name and the script's own arguments."""
    with_arguments = re.match(r"(.+?\.py):([\w.]+)\s+(.*)", text, re.DOTALL)
    if with_arguments:
        path, name, rest = with_arguments.groups()
        return path, name, shlex.split(rest)
    path, colon, name = text.rpartition(":")
    if not colon or not path or not name:
        raise ArgumentError(f"{text}: write the script and the name of its DataLoader, such as train.py:loader")
    return path, name, []


@contextlib.contextmanager
def _ending(path: str) -> Iterator[None]:
    """Turns an exit of the script into an error."""
    try:
        yield
    except SystemExit as err:
        raise ArgumentError(
            f"{path} ended itself while its DataLoader was made (exit code {err.code}): if it reads arguments, write "
            f"them after the name, as in --script '{path}:NAME --data images'; else move what ends it below {_GUARD}"
        ) from err


@contextlib.contextmanager
def _remarks(path: str) -> Iterator[None]:
    """Says on standard error why an import may take long."""
    text = f"{path} is still being imported: if it trains then, stop here and move the training below {_GUARD}"
    timer = threading.Timer(_LONG_IMPORT, print, [text], {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _may_load(value: Any) -> bool:
    """The value may be a loader, or a function that returns one."""
    loads = hasattr(value, "__iter__") and not isinstance(value, (str, bytes, dict, list, tuple, set))
    return loads or inspect.isroutine(value)


def _check_same(module: Any, path: str) -> None:
    found = getattr(module, "__file__", None)
    if found is None or not os.path.exists(found) or not os.path.samefile(found, path):
        raise ArgumentError(f"{path}: Python has a module of the name {Path(path).stem} already; rename the script")


def _kind(value: Any) -> str:
    return f"of the type {type(value).__name__}"
