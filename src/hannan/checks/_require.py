"""The one way a check fails."""


def require(holds: object, message: str) -> None:
    """Raise `AssertionError` with the message unless `holds`; not lost under ``python -O``.

    In loops ``if`` and ``raise`` take its place: the message, with the text of a whole learner, is
    made only when it is needed.
    """
    if not holds:
        raise AssertionError(message)
