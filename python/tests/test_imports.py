"""The package's modules import each other in one direction, so that each can be read with those below it alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import dsconv

ROOT = Path(dsconv.__file__).parent


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in ROOT.rglob("*.py")}


def imported(name: str, path: Path) -> Iterator[str]:
    """The package's modules that a module imports anywhere, except for type checkers alone."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                found = f"{source}.{alias.name}"
                yield from (m for m in (found if found in MODULES else source,) if m in MODULES)


def test_imports_have_no_cycle() -> None:
    graph = {name: {other for other in imported(name, path) if other != name} for name, path in MODULES.items()}
    assert graph["dsconv.transforms.compose"] > {"dsconv.transforms.nesting", "dsconv.transforms.plan"}
    assert "dsconv.transforms" in graph["dsconv.loader"]  # which a function imports
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(f"these modules import each other: {' <- '.join(error.args[1])}") from None
    assert len(order) == len(MODULES)


LIBRARIES = """
import sys
sys.modules["torch"] = None  # whose own libraries are not dsconv's
import dsconv
for _ in dsconv.Loader(sys.argv[1], 7, "centercrop:32"):
    pass
with open("/proc/self/maps") as maps:
    print([line.split()[-1] for line in maps if "libcuda" in line or "nvjpeg" in line or "nvidia" in line])
"""


def test_no_library_for_gpus_is_opened_unless_asked_for(packed: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIBRARIES, packed], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


WITHOUT_TORCH = """
import importlib.util, runpy
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *of: None if name == "torch" else find(name, *of)
runpy.run_module("dsconv.train", run_name="__main__")
"""


def test_the_trainer_says_that_torch_is_missing() -> None:
    ended = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr == "python -m dsconv.train: error: PyTorch is not installed, which pip install torch provides\n"
