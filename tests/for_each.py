"""Many values in one test."""

import functools
import inspect


def for_each(names, values):
    """Like `pytest.mark.parametrize`, but one test goes through all values and stops at the first
    that fails, which it names.

    For checks that take less time than the few milliseconds which a test of its own costs. What
    fixtures made is shared by all values.
    """
    several = not isinstance(names, str)
    names = names if several else (names,)

    def made(test):
        @functools.wraps(test)
        def every(**given):
            tried = 0
            for value in values:
                named = dict(zip(names, value if several else (value,), strict=True))
                tried += 1
                try:
                    test(**given, **named)
                except BaseException as error:
                    error.add_note(f"with {named}")
                    raise
            assert tried, "there is no value to try"

        wanted = inspect.signature(test)
        every.__signature__ = wanted.replace(
            parameters=[one for name, one in wanted.parameters.items() if name not in names]
        )
        return every

    return made
