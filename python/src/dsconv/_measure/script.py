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
from typing import Any

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
        sys.path.insert(0, str(file.resolve().parent))
        importlib.invalidate_caches()
        sys.argv = [path, *arguments]
        remark = f"{path} is still being imported: if it trains then, stop here and move the training below {_GUARD}"
        timer = threading.Timer(_LONG_IMPORT, print, [remark], {"file": sys.stderr, "flush": True})
        timer.daemon = True
        timer.start()
        try:
            with self._ending():
                self._module = importlib.import_module(file.stem)
        finally:
            timer.cancel()
        found = getattr(self._module, "__file__", None)
        if found is None or not os.path.exists(found) or not os.path.samefile(found, path):
            raise ArgumentError(f"{path}: Python has a module of the name {file.stem} already; rename the script")

    def loader(self, name: str) -> Any:
        """The DataLoader, or another iterable, of that name; if it is a function, what it returns. A function that
        returns an iterator is called for each epoch."""
        found = function = self._value(name)
        if inspect.isroutine(found) or inspect.isclass(found) or isinstance(found, functools.partial):
            try:
                with contextlib.suppress(ValueError):  # it has no signature: the call shows
                    inspect.signature(function).bind()
            except TypeError as err:
                raise ArgumentError(
                    f"{self.path}:{name} cannot be called without arguments ({err}): name a DataLoader, or a function "
                    "without arguments that returns one"
                ) from err
            with self._ending():
                found = function()
            if hasattr(found, "__next__"):
                # Reports name the type, which so has the name of the function.
                return type(name, (), {"__iter__": lambda _: function()})()
        if not hasattr(found, "__iter__"):
            raise ArgumentError(
                f"{self.path}:{name} is of the type {type(found).__name__}: it must be a DataLoader, another iterable "
                "of batches, or a function without arguments that returns one"
            )
        return found

    def function(self, name: str) -> Any:
        """The function of that name."""
        found = self._value(name)
        if not callable(found):
            kind = type(found).__name__
            raise ArgumentError(f"{self.path}:{name} is of the type {kind}: it must be a function of a batch")
        return found

    def _value(self, name: str) -> Any:
        """The value of a name; with dots, of attributes of it."""
        found: Any = self._module
        for part in name.split("."):
            if not hasattr(found, part):
                raise ArgumentError(f"{self.path} has no {name}{self._instead()}")
            found = getattr(found, part)
        return found

    def _instead(self) -> str:
        """What else could be named."""
        names = [n for n, v in vars(self._module).items() if not n.startswith("_") and self._offers(v)]
        choice = f": choose one of {', '.join(names)}" if names else ""
        if _MAIN not in Path(self.path).read_text(encoding="utf-8", errors="replace"):
            return choice or ", nor anything else that could be measured: define it at the top level of the script"
        return f"{choice}; what is below {_GUARD} is not run here: move it into a function, and name that"

    def _offers(self, value: Any) -> bool:
        """The value is a function that the script defines, or may be a loader."""
        if inspect.isroutine(value):
            return getattr(value, "__module__", None) == self._module.__name__
        return hasattr(value, "__iter__") and not isinstance(value, (str, bytes, dict, list, tuple, set, type))

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """Turns an exit of the script into an error."""
        try:
            yield
        except SystemExit as err:
            raise ArgumentError(
                f"{self.path} ended itself while its DataLoader was made (exit code {err.code}): if it reads "
                f"arguments, write them after the name, as in --script '{self.path}:NAME --data images'; else move "
                f"what ends it below {_GUARD}"
            ) from err


def split(text: str) -> tuple[str, str, list[str]]:
    """train.py:NAME, or "train.py:NAME --data images", as path, name and the script's own arguments."""
    if with_arguments := re.match(r"(.+?\.py):([\w.]+)\s+(.*)", text, re.DOTALL):
        path, name, rest = with_arguments.groups()
        return path, name, shlex.split(rest)
    path, _, name = text.rpartition(":")
    if not path or not name:
        raise ArgumentError(f"{text}: write the script and the name of its DataLoader, such as train.py:loader")
    return path, name, []
