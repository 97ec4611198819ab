"""The machine of a report."""

from __future__ import annotations

import sys

from dsconv._report import Machine


def machine() -> Machine:
    """The machine of this process, with torch and the GPU if they are in use."""
    torch = sys.modules.get("torch")
    if torch is None:
        return Machine.this()
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else ""
    return Machine.this(torch=torch.__version__, device=device)
