"""Finds all objects that a callable can reach: its attributes, the variables of its functions, and so on."""

from __future__ import annotations

import contextlib
import dis
import functools
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

# Libraries whose functions are not searched: they draw from the generators of Python, numpy or torch, or from those
# that their objects hold.
_KNOWN = {"builtins", "functools", "random", "numpy", "torch", "torchvision", "albumentations", "PIL", "dsconv"}
# Libraries with their own generators, and the prefixes of the functions that draw from them.
_OWN: dict[str, tuple[str, ...]] = {
    "cv2": ("randu", "randn", "randShuffle"),
    "imgaug": ("",),
    "tensorflow": ("random",),
    "cupy": ("random",),
}
_MAX_OBJECTS = 10_000  # the nearest ones; more than that are data
_MAX_ELEMENTS = 1_000  # of a list, tuple or dict


def reachable(roots: tuple[Any, ...], own: Callable[[str], Any] = str) -> Iterator[tuple[str, Any]]:
    """Each object that roots can reach, once, with its path. own is called with the name of each library in use that
    has its own generators."""
    seen: dict[int, Any] = {}  # keeps the objects alive, as an id is unique only among living objects
    waiting = deque((f"{k}", root) for k, root in enumerate(roots))
    while waiting and len(seen) < _MAX_OBJECTS:
        path, obj = waiting.popleft()
        if id(obj) in seen or isinstance(obj, (str, bytes, int, float, complex, type(None), types.ModuleType)):
            continue
        seen[id(obj)] = obj
        yield path, obj
        library = _library(type(obj).__module__)
        if library in _OWN and "" in _OWN[library]:
            own(library)
        with contextlib.suppress(Exception):  # an object's attributes may raise anything
            waiting += [(f"{path}.{name}", inner) for name, inner in _inside(obj, own)]


def _library(module: Any) -> str:
    return str(module).partition(".")[0]


def _inside(obj: Any, own: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """The objects that obj refers to, by name."""
    if isinstance(obj, (list, tuple)):
        if len(obj) <= _MAX_ELEMENTS:
            yield from ((str(k), inner) for k, inner in enumerate(obj))
    elif isinstance(obj, dict):
        if len(obj) <= _MAX_ELEMENTS:
            yield from ((str(key), obj[key]) for key in list(obj))
    elif isinstance(obj, types.FunctionType):
        yield from _of_function(obj, own)
    elif isinstance(obj, type):
        if _library(obj.__module__) not in _KNOWN:
            yield from ((f"class.{name}", value) for name, value in list(vars(obj).items()) if name != "__dict__")
    else:
        yield from _of_instance(obj)


def _of_instance(obj: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(obj, functools.partial):
        yield from (("func", obj.func), ("args", obj.args), ("keywords", obj.keywords))
    if isinstance(obj, (staticmethod, classmethod, types.MethodType)):
        yield "func", obj.__func__
    if isinstance(obj, property):
        yield from (("get", obj.fget), ("set", obj.fset))
    if isinstance(obj, (types.MethodType, types.BuiltinMethodType)):
        yield "self", obj.__self__
    yield from ((str(name), value) for name, value in list(getattr(obj, "__dict__", {}).items()))
    for cls in type(obj).__mro__:
        for name in _slots(cls):
            if hasattr(obj, name):
                yield name, getattr(obj, name)
        yield cls.__name__, cls


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _of_function(function: types.FunctionType, own: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the cell is empty
            continue
    yield from (("defaults", function.__defaults__), ("keywords", function.__kwdefaults__))
    yield "wrapped", getattr(function, "__wrapped__", None)
    if _library(function.__module__) not in _KNOWN:
        yield from _of_code(function.__code__, function.__globals__, own)


def _of_code(code: types.CodeType, variables: dict[str, Any], own: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """The global variables that code uses, with those of the functions inside it."""
    for name in code.co_names:
        value = variables.get(name)
        library = _library(getattr(value, "__name__" if isinstance(value, types.ModuleType) else "__module__", None))
        if library in _OWN and any(used.startswith(_OWN[library]) for used in _used(code, name, value)):
            own(library)
        if value is not None:
            yield name, value
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _of_code(constant, variables, own)


def _used(code: types.CodeType, name: str, value: Any) -> Iterator[str]:
    """The names that code uses of a library, by a global variable: the module's attributes, or an imported object."""
    if not isinstance(value, types.ModuleType):
        yield getattr(value, "__name__", "")
        return
    before = None
    for step in dis.get_instructions(code):
        if before == name and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield str(step.argval)
        before = step.argval if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") else None
