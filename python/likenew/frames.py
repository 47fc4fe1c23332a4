"""Data frames of pandas and Polars, which are imported when they are asked for."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from .errors import LikenewError

if TYPE_CHECKING:
    import pandas
    import polars


class ArrowStream(Protocol):
    """Anything that hands its columns over in Arrow's form."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class MissingPackageError(LikenewError, ImportError):
    """A package is not installed that this function needs, and likenew itself does not."""


def optional(name: str, *, wanted_by: str, install: str) -> Any:
    """A module that likenew does without elsewhere. Raises `MissingPackageError`, which names what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingPackageError(f"{wanted_by} needs {error.name or name}: pip install {install}") from error


def to_pandas(columns: ArrowStream) -> pandas.DataFrame:
    """A data frame of pandas, by way of PyArrow."""
    needs = {"wanted_by": "to_pandas", "install": "pandas pyarrow"}
    arrow = optional("pyarrow", **needs)
    optional("pandas", **needs)
    frame: pandas.DataFrame = arrow.table(columns).to_pandas()
    return frame


def to_polars(columns: ArrowStream) -> polars.DataFrame:
    """A data frame of Polars."""
    frame: polars.DataFrame = optional("polars", wanted_by="to_polars", install="polars").DataFrame(columns)
    return frame


class Frames:
    """What has one main table: Arrow's stream of it, and data frames."""

    @abstractmethod
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns, for the Arrow PyCapsule interface."""

    def to_pandas(self) -> pandas.DataFrame:
        """The main table as a data frame of pandas. Raises `MissingPackageError` without pandas or PyArrow."""
        return to_pandas(self)

    def to_polars(self) -> polars.DataFrame:
        """The main table as a data frame of Polars. Raises `MissingPackageError` without Polars."""
        return to_polars(self)
