"""The end of objects that hold something of the library's."""

from __future__ import annotations

import sys


class Held:
    """Closes itself when nothing refers to it any more.

    While the interpreter ends nothing is done: the library has ended before, and the variables of modules, also of
    Python's own, may be None already. So what is called then is bound here.
    """

    __slots__ = ()
    _ending = staticmethod(sys.is_finalizing)

    def close(self) -> None:
        """Gives back what it holds."""
        raise NotImplementedError

    def __del__(self, ignored: tuple[type[BaseException], ...] = (Exception, SystemExit)) -> None:
        if self._ending():
            return
        try:
            self.close()
        except ignored:  # nobody can handle it
            pass
