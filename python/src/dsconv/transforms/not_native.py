"""The reason why a transform runs in Python."""


class NotNative(ValueError):
    """A transform, or one of its parameters, has no native equivalent; the message says why."""
