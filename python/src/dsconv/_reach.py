"""What a callable can get at: its attributes, the variables of its functions, and so on."""

from __future__ import annotations

import contextlib
import dis
import functools
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

# Whose functions are not looked into: they draw from the generators of Python, numpy or torch, or from those that
# their objects hold.
_KNOWN = {"builtins", "functools", "random", "numpy", "torch", "torchvision", "albumentations", "PIL", "dsconv"}
# Libraries with generators of their own, by the beginnings of what draws from them.
_OWN: dict[str, tuple[str, ...]] = {
    "cv2": ("randu", "randn", "randShuffle"),
    "imgaug": ("",),
    "tensorflow": ("random",),
    "cupy": ("random",),
}
_LIMIT = 10_000  # objects, the nearest ones; more are data
_LONG = 1_000  # elements


def reach(roots: tuple[Any, ...], own: Callable[[str], Any] = str) -> Iterator[tuple[str, Any]]:
    """Each object that is reached from roots, once, and by which way. own is called with the name of a library that
    draws from generators of its own."""
    seen: dict[int, Any] = {}  # which keeps them, as an id is an object's for as long as it is there
    waiting = deque((f"{k}", root) for k, root in enumerate(roots))
    while waiting and len(seen) < _LIMIT:
        where, thing = waiting.popleft()
        if id(thing) in seen or isinstance(thing, (str, bytes, int, float, complex, type(None), types.ModuleType)):
            continue
        seen[id(thing)] = thing
        yield where, thing
        library = _library(type(thing).__module__)
        if library in _OWN and "" in _OWN[library]:
            own(library)
        with contextlib.suppress(Exception):  # of a strange object's attributes
            waiting += [(f"{where}.{name}", inner) for name, inner in _inside(thing, own)]


def _library(module: Any) -> str:
    return str(module).partition(".")[0]


def _inside(thing: Any, own: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """What thing refers to, by name."""
    if isinstance(thing, (list, tuple)):
        if len(thing) <= _LONG:
            yield from ((str(k), inner) for k, inner in enumerate(thing))
    elif isinstance(thing, dict):
        if len(thing) <= _LONG:
            yield from ((str(key), thing[key]) for key in list(thing))
    elif isinstance(thing, types.FunctionType):
        yield from _of_function(thing, own)
    elif isinstance(thing, type):
        if _library(thing.__module__) not in _KNOWN:
            yield from ((f"class.{name}", value) for name, value in list(vars(thing).items()) if name != "__dict__")
    else:
        yield from _of_instance(thing)


def _of_instance(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, functools.partial):
        yield from (("func", thing.func), ("args", thing.args), ("keywords", thing.keywords))
    if isinstance(thing, (staticmethod, classmethod, types.MethodType)):
        yield "func", thing.__func__
    if isinstance(thing, property):
        yield from (("get", thing.fget), ("set", thing.fset))
    if isinstance(thing, (types.MethodType, types.BuiltinMethodType)):
        yield "self", thing.__self__
    yield from ((str(name), value) for name, value in list(getattr(thing, "__dict__", {}).items()))
    for cls in type(thing).__mro__:
        for name in _slots(cls):
            if hasattr(thing, name):
                yield name, getattr(thing, name)
        yield cls.__name__, cls


def _slots(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _of_function(function: types.FunctionType, own: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it is empty
            continue
    yield from (("defaults", function.__defaults__), ("keywords", function.__kwdefaults__))
    yield "wrapped", getattr(function, "__wrapped__", None)
    if _library(function.__module__) not in _KNOWN:
        yield from _of_code(function.__code__, function.__globals__, own)


def _of_code(code: types.CodeType, variables: dict[str, Any], own: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """The global variables that code, and what is defined in it, names."""
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
    """What code uses of a library by a global variable: attributes of the module, or what was imported from it."""
    if not isinstance(value, types.ModuleType):
        yield getattr(value, "__name__", "")
        return
    before = None
    for step in dis.get_instructions(code):
        if before == name and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield str(step.argval)
        before = step.argval if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") else None
