"""What all transforms have in common."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plan import Plan


def is_image(image: Any) -> bool:
    """Whether image is a PIL image or a uint8 array, and not a tensor that was made of one."""
    mode = getattr(image, "mode", None)  # of tensors it is a method
    return isinstance(mode, str) or str(getattr(image, "dtype", "")) == "uint8" and image.ndim in (2, 3)


class Transform:
    """A transform of one image, as a value: its parameters, and nothing that changes.

    Called on a PIL image (RGB or L) or a uint8 array of H x W x C or H x W, it acts natively and gives
    the same kind back, a CHW tensor where it makes one. What is random is drawn from a seed that comes
    from torch's generator if torch was imported, else from Python's ``random``. It may be called from
    several threads, and pickled.
    """

    def word(self) -> str:
        """The transform as the native ones are told (``dsconv bench --help`` lists the words).

        NotNative if its parameters have no native equal.
        """
        raise NotImplementedError

    def __call__(self, image: Any) -> Any:
        from .running import carry_out

        return carry_out(self._plan, image)

    @functools.cached_property
    def _plan(self) -> Plan:
        from .running import plan_of

        return plan_of(self)


def is_ours(t: Any) -> bool:
    """Whether t is a transform of this package, and of no class that was derived from one and may do anything."""
    return isinstance(t, Transform) and type(t).__module__.startswith(__package__)
