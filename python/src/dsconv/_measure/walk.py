"""Finds what a dataset consists of: datasets inside datasets, transforms, functions."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .clock import AUGMENT, DECODE, OTHER

# Libraries whose classes go by their own name; others are named with their module.
LIBRARIES = {
    "torch", "torchvision", "albumentations", "kornia", "timm", "monai", "PIL", "dsconv", "datasets", "webdataset",
    "imgaug", "transformers", "builtins", "functools",
}  # fmt: skip
_MAX_ELEMENTS = 100  # of a list; more than that are data
_MAX_FOUND = 500
DATASET_CALLS = ("__getitem__", "__getitems__", "__iter__")
_Function = (types.FunctionType, functools.partial)


@dataclass
class Found:
    """A part: an object whose class has the method, or a function in places.

    name    in the report; kind: what it does, as in bench/verdict
    obj     the dataset, transform or function
    method  what is called of it; "" for a function
    places  where a function is held: an object, list or dict, with the name of the attribute or the key
    """

    name: str
    kind: str
    obj: Any
    method: str = ""
    places: list[tuple[Any, Any]] = field(default_factory=list)


def walk(dataset: Any, *others: Any) -> list[Found]:
    """The parts of a dataset, and of functions such as collate_fn, in the order of their discovery."""
    search = _Search()
    search.dataset(dataset)
    for other in others:
        search.inside_of(other, AUGMENT)
    return search.found


def inherits(cls: type, name: str) -> bool:
    """Reports whether a class is the one of that module and name, or inherits from it: torch need not be imported."""
    return any(f"{c.__module__}.{c.__name__}" == name for c in cls.__mro__)


def is_dataset(obj: Any) -> bool:
    """Reports whether obj is a dataset of torch's kind."""
    return inherits(type(obj), "torch.utils.data.dataset.Dataset")


def title(obj: Any) -> str:
    """The name of a transform or function: RandomCrop, train.Cutout, Lambda(train.clip)."""
    if isinstance(obj, functools.partial):
        return f"partial({title(obj.func)})"
    named = obj if isinstance(obj, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)) else type(obj)
    module, name = getattr(named, "__module__", None) or "", named.__qualname__.replace("<locals>.", "")
    inner = getattr(obj, "lambd", None)
    if isinstance(inner, types.FunctionType):
        return f"{name}({title(inner)})"
    if isinstance(obj, types.FunctionType) and obj.__name__ == "<lambda>":
        name = f"lambda in line {obj.__code__.co_firstlineno}"
    return name if _of_library(module) else f"{module}.{name}"


def _of_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


class _Search:
    def __init__(self) -> None:
        self.found: list[Found] = []
        self._seen: dict[int, Any] = {}  # keeps the objects alive, as an id is unique only among living objects
        self._functions: dict[int, Found] = {}

    def dataset(self, obj: Any) -> None:
        """A dataset and what its attributes hold."""
        if self._again(obj):
            return
        name = title(obj)
        for method in DATASET_CALLS:
            if callable(getattr(type(obj), method, None)):
                self.found.append(Found(f"{name}.{method}", OTHER, obj, method))
        if not _of_library(type(obj).__module__):
            self._own_code(obj, name)
        for key, value in list(getattr(obj, "__dict__", {}).items()):
            self._value(value, (obj, key), _kind(key, value))

    def inside_of(self, obj: Any, kind: str) -> None:
        """What a function's variables or an object's attributes hold."""
        if isinstance(obj, functools.partial):
            for value in (*obj.args, *obj.keywords.values()):
                self._value(value, None, kind)
            self.inside_of(obj.func, kind)
        elif isinstance(obj, types.MethodType):
            self.inside_of(obj.__func__, kind)
            self._value(obj.__self__, None, kind)
        elif isinstance(obj, types.FunctionType):
            for value in _variables(obj):
                if not isinstance(value, types.FunctionType):
                    self._value(value, None, kind)
        else:
            for key, value in list(getattr(obj, "__dict__", {}).items()):
                if not key.startswith("_") or key == "_modules":
                    self._value(value, (obj, key), kind)

    def _value(self, value: Any, place: tuple[Any, Any] | None, kind: str) -> None:
        if len(self.found) >= _MAX_FOUND or isinstance(value, (str, bytes, int, float, type, types.ModuleType)):
            return
        if is_dataset(value):
            self.dataset(value)
        elif isinstance(value, (list, tuple, dict)) or type(value).__name__ in ("ModuleList", "TransformsSeqType"):
            if self._again(value) or len(value) > _MAX_ELEMENTS:
                return
            for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
                self._value(inner, None if isinstance(value, tuple) else (value, key), kind)
        elif isinstance(value, _Function):
            self._function(value, place, kind)
        elif _is_transform(value) and not self._again(value):
            forwards = inherits(type(value), "torch.nn.modules.module.Module")
            self.found.append(Found(title(value), kind, value, "forward" if forwards else "__call__"))
            if not isinstance(getattr(value, "lambd", None), types.FunctionType):  # whose time is that of the Lambda
                self.inside_of(value, kind)

    def _function(self, function: Any, place: tuple[Any, Any] | None, kind: str) -> None:
        if id(function) not in self._functions:
            self._functions[id(function)] = Found(title(function), kind, function)
            self.found.append(self._functions[id(function)])
            self.inside_of(function, kind)
        if place is not None:
            self._functions[id(function)].places.append(place)

    def _own_code(self, dataset: Any, name: str) -> None:
        """The methods of a user's dataset, and the functions of its module that they call."""
        for cls in type(dataset).__mro__[:-1]:
            methods = [] if _of_library(cls.__module__) else list(vars(cls).items())
            for key, method in methods:
                if isinstance(method, types.FunctionType):
                    if not key.startswith("__"):
                        self.found.append(Found(f"{name}.{key}", OTHER, dataset, key))
                    self._called(method, cls.__module__)

    def _called(self, method: types.FunctionType, module: str) -> None:
        for key in method.__code__.co_names:
            value = method.__globals__.get(key)
            if isinstance(value, types.FunctionType) and value.__module__ == module:
                self._function(value, (method.__globals__, key), OTHER)
            elif not isinstance(value, _Function):
                self._value(value, None, AUGMENT)

    def _again(self, obj: Any) -> bool:
        if id(obj) in self._seen:
            return True
        self._seen[id(obj)] = obj
        return False


def _variables(function: types.FunctionType) -> Iterator[Any]:
    """The values of the variables that a function uses but does not set."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # the cell is empty
            yield cell.cell_contents
    yield from function.__defaults__ or ()
    if function.__module__ and not _of_library(function.__module__):
        yield from (function.__globals__[n] for n in function.__code__.co_names if n in function.__globals__)


def _kind(key: str, value: Any) -> str:
    """What a dataset's attribute does. A function that is called neither a loader nor a transform is the dataset's own
    code, such as one that fetches a file."""
    if "load" in key or "decode" in key:
        return DECODE
    return OTHER if isinstance(value, _Function) and "trans" not in key and "aug" not in key else AUGMENT


def _is_transform(obj: Any) -> bool:
    """Reports whether calls of obj can be timed: its class is in Python, and is no layer of a network."""
    cls = type(obj)
    if cls.__module__.startswith("torch.nn.") and cls.__name__ not in ("Sequential", "ModuleList"):
        return False
    return hasattr(obj, "__dict__") and isinstance(getattr(cls, "__call__", None), types.FunctionType)  # noqa: B004
