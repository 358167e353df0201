"""The one way a check fails."""


def require(holds: object, message: str) -> None:
    """Raise `AssertionError` with the message unless `holds`; not lost under ``python -O``."""
    if not holds:
        raise AssertionError(message)
