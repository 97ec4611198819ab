"""Finds what a dataset consists of: datasets inside datasets, transforms, functions."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .clock import AUGMENT, DECODE, OTHER, Label

# Libraries whose classes go by their own name; others are named with their module.
LIBRARIES = {
    "torch", "torchvision", "albumentations", "kornia", "timm", "monai", "PIL", "dsconv", "datasets", "webdataset",
    "imgaug", "transformers", "builtins", "functools",
}  # fmt: skip
_MAX_ELEMENTS = 100  # of a list; more than that are data
_MAX_FOUND = 500
_DATASET_CALLS = ("__getitem__", "__getitems__", "__iter__")


@dataclass
class Place:
    """Where a function is held: an attribute of an object, or an element of a list or dict."""

    holder: Any
    key: Any
    element: bool


@dataclass
class Found:
    """A part: an object whose class has the method, or a function in places.

    obj     the dataset, transform or function
    method  what is called of it; "" for a function
    """

    label: Label
    obj: Any
    method: str = ""
    places: list[Place] = field(default_factory=list)


def walk(dataset: Any, *others: Any) -> list[Found]:
    """The parts of a dataset, and of functions such as collate_fn, in the order of their discovery."""
    search = _Search()
    search.dataset(dataset)
    for other in others:
        search.inside_of(other, AUGMENT)
    return search.found


def is_dataset(obj: Any) -> bool:
    """Reports whether obj is a dataset of torch's kind."""
    names = {f"{c.__module__}.{c.__name__}" for c in type(obj).__mro__}
    return "torch.utils.data.dataset.Dataset" in names


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
    return name if module.partition(".")[0] in LIBRARIES else f"{module}.{name}"


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
        for method in _DATASET_CALLS:
            if callable(getattr(type(obj), method, None)):
                self.found.append(Found(Label(f"{name}.{method}", OTHER, dataset=True), obj, method))
        if type(obj).__module__.partition(".")[0] not in LIBRARIES:
            self._own_code(obj, name)
        for key, value in list(getattr(obj, "__dict__", {}).items()):
            self._value(value, Place(obj, key, False), _kind(key, value))

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
                if not key.startswith("_") or key in ("_modules",):
                    self._value(value, Place(obj, key, False), kind)

    def _value(self, value: Any, place: Place | None, kind: str) -> None:
        if len(self.found) >= _MAX_FOUND or isinstance(value, (str, bytes, int, float, type, types.ModuleType)):
            return
        if is_dataset(value):
            self.dataset(value)
        elif isinstance(value, (list, tuple, dict)) or type(value).__name__ in ("ModuleList", "TransformsSeqType"):
            self._elements(value, kind)
        elif isinstance(value, (types.FunctionType, functools.partial)):
            self._function(value, place, kind)
        elif callable(value) and _is_transform(value):
            self._transform(value, kind)

    def _elements(self, value: Any, kind: str) -> None:
        if self._again(value) or len(value) > _MAX_ELEMENTS:
            return
        pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
        for key, inner in pairs:
            self._value(inner, None if isinstance(value, tuple) else Place(value, key, True), kind)

    def _function(self, function: Any, place: Place | None, kind: str) -> None:
        if id(function) not in self._functions:
            found = Found(Label(title(function), kind), function)
            self._functions[id(function)] = found
            self.found.append(found)
            self.inside_of(function, kind)
        if place is not None:
            self._functions[id(function)].places.append(place)

    def _transform(self, obj: Any, kind: str) -> None:
        if self._again(obj):
            return
        method = "forward" if _has_forward(type(obj)) else "__call__"
        self.found.append(Found(Label(title(obj), kind), obj, method))
        if not isinstance(getattr(obj, "lambd", None), types.FunctionType):  # whose time is that of the Lambda
            self.inside_of(obj, kind)

    def _own_code(self, dataset: Any, name: str) -> None:
        """The methods of a user's dataset, and the functions of its module that they call."""
        for cls in type(dataset).__mro__:
            if cls.__module__.partition(".")[0] in LIBRARIES or cls is object:
                continue
            for key, method in list(vars(cls).items()):
                if not isinstance(method, types.FunctionType):
                    continue
                if not key.startswith("__"):
                    self.found.append(Found(Label(f"{name}.{key}", OTHER), dataset, key))
                self._called(method, cls.__module__)

    def _called(self, method: types.FunctionType, module: str) -> None:
        for key in method.__code__.co_names:
            value = method.__globals__.get(key)
            if isinstance(value, types.FunctionType) and value.__module__ == module:
                self._function(value, Place(method.__globals__, key, True), OTHER)
            elif value is not None and not isinstance(value, (types.FunctionType, functools.partial)):
                self._value(value, None, AUGMENT)

    def _again(self, obj: Any) -> bool:
        if id(obj) in self._seen:
            return True
        self._seen[id(obj)] = obj
        return False


def _variables(function: types.FunctionType) -> Iterator[Any]:
    """The values of the variables that a function uses but does not set."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the cell is empty
            continue
    yield from function.__defaults__ or ()
    if function.__module__ and function.__module__.partition(".")[0] not in LIBRARIES:
        yield from (function.__globals__[n] for n in function.__code__.co_names if n in function.__globals__)


def _kind(key: str, value: Any) -> str:
    """What a dataset's attribute does. A function that is called neither a loader nor a transform is the dataset's own
    code, such as one that fetches a file."""
    if "load" in key or "decode" in key:
        return DECODE
    own = isinstance(value, (types.FunctionType, functools.partial)) and "trans" not in key and "aug" not in key
    return OTHER if own else AUGMENT


def _is_transform(obj: Any) -> bool:
    """Reports whether obj is a callable object whose calls can be timed: of a class in Python, and no layer of a
    network."""
    cls = type(obj)
    if cls.__module__.startswith("torch.nn.") and cls.__name__ not in ("Sequential", "ModuleList"):
        return False
    return hasattr(obj, "__dict__") and isinstance(getattr(cls, "__call__", None), types.FunctionType)  # noqa: B004


def _has_forward(cls: type) -> bool:
    """Reports whether calls of the class's objects go to forward, as torch's modules do."""
    return "torch.nn.modules.module.Module" in {f"{c.__module__}.{c.__name__}" for c in cls.__mro__}
