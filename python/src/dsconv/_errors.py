"""The errors that dsconv raises."""

from __future__ import annotations


class Error(Exception):
    """An error of dsconv. The message names the file, the sample's key and the cause."""


class MissingError(Error, FileNotFoundError):
    """A file or a dataset does not exist."""

    __str__ = Exception.__str__


class ArgumentError(Error, ValueError):
    """An argument has a wrong value, or one that does not fit the dataset."""


class ArgumentTypeError(Error, TypeError):
    """An argument has a wrong type."""


class DataError(Error):
    """Stored data is damaged."""


class RunError(Error):
    """An error that no sample causes, such as a lack of memory. It ends the epoch for any value of on_error."""


class ForkError(RunError):
    """An object belongs to the process from which this one was forked."""


# By the library's name of the kind of error.
BY_KIND = {"missing": MissingError, "value": ArgumentError, "data": DataError, "ends": RunError, "closed": RunError}
