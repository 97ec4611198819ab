"""Runs one part of gpu-check: part.py NAME SETTING RESULT."""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import resource
import signal
import sys
import traceback
from pathlib import Path

from setting import Setting, Skip


def main() -> int:
    faulthandler.enable()
    faulthandler.register(signal.SIGQUIT)
    os.register_at_fork(after_in_child=lambda: faulthandler.unregister(signal.SIGQUIT))  # many workers would say much
    # No core files: a process that uses a GPU maps more memory than a disk has.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    name, setting, result = sys.argv[1], Setting.from_json(sys.argv[2]), Path(sys.argv[3])
    found: dict = {}

    def save(**figures: object) -> None:
        """Adds to the result: what is there when a part fails or is ended is kept."""
        found.setdefault("result", {}).update(figures)
        write()

    def write() -> None:
        written = result.with_suffix(".part")
        text = json.dumps(found)
        for folder in filter(None, (setting.work, setting.root)):  # where they lie is nobody's business
            text = text.replace(json.dumps(f"{folder}/")[1:-1], "")
        written.write_text(text, encoding="utf-8")
        written.replace(result)

    try:
        if importlib.util.find_spec("numpy") is None:
            raise Skip("numpy is not installed; pip install numpy, or make gpu-pack EXTRA=numpy brings it")
        importlib.import_module(f"parts.{name}").run(setting, save)
        found["status"] = "done"
    except Skip as reason:
        found.update(status="skipped", reason=str(reason))
    except Exception as error:
        traceback.print_exc()
        found.update(status="failed", reason=f"{type(error).__name__}: {error}")
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
