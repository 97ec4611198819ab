"""A user's DataLoader again, with other settings: the same samples in the same order, prepared in the same way.

The rebuilt DataLoader is a shallow copy. So it has whatever the user's has, also what a subclass or a later torch adds:
the dataset, collate_fn, worker_init_fn, the start method, the timeout. Its sampler and generator are copies in their
present state: measuring draws from them and leaves the user's as they are.

Two things are torch's own: which worker makes a batch decides its random transforms, and with persistent workers a
seeded generator orders the later epochs differently, as it is not asked for the workers' seed again.

A setting with which other samples would come out, or none, is refused by an error that names it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset

from dsconv._errors import ArgumentError
from dsconv._measure.shared_handles import open_handle
from dsconv._short_messages import named, short_message, shown

# The settings that can be changed, in the order in which they are shown.
SETTINGS = ("num_workers", "prefetch_factor", "pin_memory", "persistent_workers", "batch_size")
_OF_WORKERS = ("prefetch_factor", "persistent_workers")


class CannotRebuild(ArgumentError):
    """A DataLoader cannot have this setting without giving other samples, or fails with it."""


def settings(loader: DataLoader[Any]) -> dict[str, Any]:
    """The values of a DataLoader's SETTINGS."""
    return {name: getattr(loader, name) for name in SETTINGS}


def rebuilt(loader: DataLoader[Any], **changes: Any) -> DataLoader[Any]:
    """A DataLoader that gives loader's samples, with changes to its SETTINGS.

    With num_workers=0, prefetch_factor and persistent_workers, which need workers, are left out. With workers that
    loader does not have they are torch's defaults. Raises CannotRebuild for a setting that would change the samples.
    """
    _check_loader(loader)
    new = _complete(loader, changes)
    _check_workers(loader, new["num_workers"])
    if new["batch_size"] != loader.batch_size:
        _check_batch_size(loader, new["batch_size"])
    clone: DataLoader[Any] = copy.copy(loader)
    attributes = vars(clone)
    attributes.update({name: new[name] for name in SETTINGS})
    attributes.update(_copied_order(loader))
    if new["batch_size"] != loader.batch_size:
        attributes["batch_sampler"] = BatchSampler(clone.sampler, new["batch_size"], loader.drop_last)
    attributes["_iterator"] = None  # else they would share persistent workers
    return clone


def with_dataset(loader: DataLoader[Any], dataset: Any, collate_fn: Any = None) -> DataLoader[Any]:
    """loader rebuilt with another dataset, which has the same indices, and another collate_fn if it is given."""
    clone = rebuilt(loader)
    vars(clone)["dataset"] = dataset
    if collate_fn is not None:
        vars(clone)["collate_fn"] = collate_fn
    return clone


class FirstBatches:
    """The first batches of a sampler's epoch: a short epoch. The limit may change between epochs."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler
        self.limit: int | None = None  # None: all

    def __iter__(self) -> Iterator[Any]:
        return islice(iter(self.sampler), self.limit)

    def __len__(self) -> int:
        whole = len(self.sampler)
        return whole if self.limit is None else min(whole, self.limit)


def shortened(loader: DataLoader[Any]) -> tuple[DataLoader[Any], FirstBatches]:
    """loader rebuilt, and what limits its epochs to their first batches."""
    clone = rebuilt(loader)
    name = "batch_sampler" if clone.batch_sampler is not None else "sampler"
    limit = FirstBatches(getattr(clone, name))
    vars(clone)[name] = limit
    # Otherwise a DataLoader warns about the length of an iterable dataset that was asked for.
    vars(clone)["_IterableDataset_len_called"] = None
    return clone, limit


def close(loader: DataLoader[Any]) -> None:
    """Ends the workers of a rebuilt DataLoader, if it keeps any."""
    iterator = vars(loader).get("_iterator")
    if iterator is not None:
        vars(loader)["_iterator"] = None
        end = getattr(iterator, "_shutdown_workers", None)
        if end is not None:
            end()


def _check_loader(loader: DataLoader[Any]) -> None:
    attributes = vars(loader)
    kind = type(loader).__name__
    if "num_workers" not in attributes:
        inner = next((name for name, value in attributes.items() if isinstance(value, DataLoader)), None)
        instead = f"pass its {inner}" if inner else "pass a torch.utils.data.DataLoader"
        raise CannotRebuild(f"{kind} wraps another loader and has no settings of its own: {instead}")
    for name, value in attributes.items():
        if name == "_iterator" or not isinstance(value, Iterator):
            continue
        if name in ("sampler", "batch_sampler"):
            raise CannotRebuild(f"{name}={shown(value)} gives its samples only once: pass a list or a Sampler")
        raise CannotRebuild(
            f"{kind} keeps an iterator of its own ({name}), whose settings cannot be changed: "
            "pass the torch.utils.data.DataLoader that it is made from"
        )


def _complete(loader: DataLoader[Any], changes: dict[str, Any]) -> dict[str, Any]:
    """All settings, after changes. Raises CannotRebuild for an unknown one or a wrong value."""
    unknown = changes.keys() - set(SETTINGS)
    if unknown:
        raise CannotRebuild(f"{min(unknown)} is not a setting that can be changed; these can: {', '.join(SETTINGS)}")
    new = {**settings(loader), **changes}
    for name, least in (("num_workers", 0), ("prefetch_factor", 1), ("batch_size", 1)):
        value = changes.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise CannotRebuild(f"{name}={shown(value)}: it must be a whole number and at least {least}")
    if new["num_workers"] == 0:
        for name in _OF_WORKERS:
            if changes.get(name):
                raise CannotRebuild(f"{name}={shown(changes[name])} needs workers, and num_workers is 0")
        new.update(prefetch_factor=None, persistent_workers=False)
    elif new["prefetch_factor"] is None:
        new["prefetch_factor"] = 2
    return new


def _check_workers(loader: DataLoader[Any], workers: int) -> None:
    """Raises CannotRebuild if with this number of workers the samples would be others, or none would come."""
    if workers == loader.num_workers:
        return
    setting = f"num_workers={workers}"
    if workers == 0:
        if loader.timeout:
            raise CannotRebuild(f"{setting}: timeout={loader.timeout} needs workers")
        if loader.multiprocessing_context is not None:
            raise CannotRebuild(f"{setting}: multiprocessing_context needs workers")
        if loader.worker_init_fn is not None:
            raise CannotRebuild(f"{setting}: nothing would call worker_init_fn={named(loader.worker_init_fn)}")
    if loader.num_workers == 0:
        handle = open_handle(loader.dataset)
        if handle:
            raise CannotRebuild(f"{setting}: {handle}, and workers would share it: open it in each worker")
    if isinstance(loader.dataset, IterableDataset) and max(workers, loader.num_workers) > 1:
        # Imported here, as it builds a DataLoader to find out.
        from dsconv._measure.divided import divides

        if not divides(loader):
            raise CannotRebuild(
                f"{setting}: {type(loader.dataset).__name__} does not ask get_worker_info() which share is a worker's; "
                "each worker gives all of its samples, so their number depends on num_workers"
            )


def _check_batch_size(loader: DataLoader[Any], size: int) -> None:
    if loader.batch_size is None:
        why = "the dataset makes whole batches" if loader.batch_sampler is None else f"{_sampler_of(loader)} does"
        raise CannotRebuild(f"batch_size={size}: the DataLoader does not choose the samples of a batch, {why}")
    if type(loader.batch_sampler) is not BatchSampler:
        raise CannotRebuild(f"batch_size={size}: batches are made by {_sampler_of(loader)}")


def _sampler_of(loader: DataLoader[Any]) -> str:
    return f"its batch_sampler {type(loader.batch_sampler).__name__}"


def _copied_order(loader: DataLoader[Any]) -> dict[str, Any]:
    """Copies of what decides the order, in its present state. They share the dataset and its attributes."""
    memo = dict(_shared(loader.dataset))
    found: dict[str, Any] = {}
    for name in ("generator", "sampler", "batch_sampler"):
        value = getattr(loader, name)
        try:
            found[name] = _copied_generator(value, memo) if isinstance(value, torch.Generator) else _copied(value, memo)
        except Exception as err:  # a sampler's __deepcopy__ may raise anything
            raise CannotRebuild(
                f"{name}={shown(value)} cannot be copied ({type(err).__name__}: {short_message(err)}), "
                "and measuring must not change the user's"
            ) from err
    return found


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    for generator in _generators(value):
        _copied_generator(generator, memo)
    return copy.deepcopy(value, memo)


def _copied_generator(generator: torch.Generator, memo: dict[int, Any]) -> torch.Generator:
    """The generator's only copy. Older releases of torch cannot deepcopy it."""
    if id(generator) not in memo:
        clone = torch.Generator(generator.device)
        clone.set_state(generator.get_state())
        memo[id(generator)] = clone
    found: torch.Generator = memo[id(generator)]
    return found


def _generators(sampler: Any) -> Iterator[torch.Generator]:
    """The generators that a sampler, or one inside it, has as attributes."""
    seen: set[int] = set()
    waiting = [sampler]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.Generator):
            yield value
        elif value is sampler or isinstance(value, torch.utils.data.Sampler):
            waiting += getattr(value, "__dict__", {}).values()


def _shared(dataset: Any) -> Iterator[tuple[int, Any]]:
    """What a copied sampler shares with the dataset, for deepcopy: the dataset, those inside it, and their attributes,
    such as a list of targets."""
    seen: set[int] = set()
    waiting = [dataset]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield id(value), value
        for inner in getattr(value, "__dict__", {}).values():
            if isinstance(inner, torch.utils.data.Dataset):
                waiting.append(inner)
            elif not isinstance(inner, (str, int, float, bool, type(None))):
                yield id(inner), inner
