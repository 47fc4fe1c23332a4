"""Measures drives, simulates drives, and says why a drive is slow.

A plan says what to do, `run` does it, and a `Run` holds what was found and what was measured:

>>> import likenew
>>> drive = likenew.SimulatedDrive("tiny-flash", state="used")
>>> run = likenew.run(likenew.Bench(drive, passes=2))
>>> [row["test"] for row in run.tables["results"].to_rows()][:2]
['SEQ1M Q8T1', 'SEQ1M Q1T1']

Tables go to Polars, PyArrow and DuckDB without a copy, and to data frames by `to_polars` and `to_pandas`. Real drives are
measured by the same program, with the same consent for what it may overwrite; see the documentation of `run`.
"""

from ._native import VERSION as __version__
from ._native import Table
from .calibration import Calibration, calibrate
from .comparison import Comparison, compare
from .drive import Draw, Parameter, SimulatedDrive, catalog
from .errors import LikenewError, RefusedError, UnfinishedError, UsageError
from .frames import MissingPackageError
from .history import History, history
from .plan import Plan
from .plans import (
    Age,
    Apps,
    Bench,
    Cache,
    Check,
    Data,
    Endure,
    Fill,
    Model,
    Recondition,
    Replay,
    Suits,
    Surface,
    Sweep,
    Trim,
    Verify,
    Workloads,
    Xray,
)
from .run import Action, Answer, Cause, Estimate, Run, diagnose, fit, load, run, run_in_turn, xray
from .workload import Random, Rate, Sequential, Stream, Strided, Workload, Zipf

__all__ = [
    "Action",
    "Age",
    "Answer",
    "Apps",
    "Bench",
    "Cache",
    "Calibration",
    "Cause",
    "Check",
    "Comparison",
    "Data",
    "Draw",
    "Endure",
    "Estimate",
    "Fill",
    "History",
    "LikenewError",
    "MissingPackageError",
    "Model",
    "Parameter",
    "Plan",
    "Random",
    "Rate",
    "Recondition",
    "RefusedError",
    "Replay",
    "Run",
    "Sequential",
    "SimulatedDrive",
    "Stream",
    "Strided",
    "Suits",
    "Surface",
    "Sweep",
    "Table",
    "Trim",
    "UnfinishedError",
    "UsageError",
    "Verify",
    "Workload",
    "Workloads",
    "Xray",
    "Zipf",
    "__version__",
    "calibrate",
    "catalog",
    "compare",
    "diagnose",
    "fit",
    "history",
    "load",
    "run",
    "run_in_turn",
    "xray",
]
