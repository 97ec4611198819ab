"""Why a transform runs in Python."""


class NotNative(ValueError):
    """Raised where a transform, or a parameter of it, has no native equal; says why."""
