"""Exceptions, and what they say to a caller in Python."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager

# A command is to be typed as it is; a word or a value belongs to an option that is to be added.
_OPTION = re.compile(
    r"likenew [a-z][^;\n]*|'?--(?P<name>[a-z][a-z-]*)(?: <[^>]*>)?'?(?P<value>(?:(?<=add --op)|(?<=--destroy)) | (?=\"|[A-Z]{2}))?"
)


def in_python(message: str) -> str:
    """A message of the program to a caller in Python, whose arguments have other names than options.

    >>> in_python("error: invalid value 'x' for '--time <TIME>': it is not a duration\\n\\nFor more information, try '--help'.")
    "invalid value 'x' for time: it is not a duration"
    >>> in_python('To overwrite it, add --consent "S1" --destroy ext4')
    'To overwrite it, add consent="S1" destroy=ext4'
    """

    def argument(option: re.Match[str]) -> str:
        if option["name"] is None:
            return option[0]
        name = option["name"].replace("-", "_")
        return f"{name}{'_' * keyword.iskeyword(name)}{'=' * bool(option['value'])}"

    return _OPTION.sub(argument, message.split("\n\n")[0].removeprefix("error: "))


class LikenewError(Exception):
    """Anything that went wrong; the other exceptions are of this family."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))


class UsageError(LikenewError, ValueError):
    """An argument, a plan or a drive's file makes no sense."""


class RefusedError(LikenewError):
    """A safety check refused."""


class UnfinishedError(LikenewError):
    """A run could not finish, or a file could not be read or written."""


@contextmanager
def in_family() -> Iterator[None]:
    """Raises what Python and other packages raise as an exception of this family."""
    try:
        yield
    except LikenewError:
        raise
    except OSError as error:
        raise UnfinishedError(str(error)) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise UsageError(f"an argument makes no sense: {error}") from error
