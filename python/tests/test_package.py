"""The package as a whole: its types, its examples, its program."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import likenew

MODULES = [f"likenew.{module.name}" for module in pkgutil.iter_modules(likenew.__path__) if module.name != "__main__"]


@pytest.mark.parametrize("name", ["likenew", *MODULES])
def test_examples_run_as_they_are_shown(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_there_are_examples() -> None:
    tried = sum(doctest.testmod(importlib.import_module(name)).attempted for name in ["likenew", *MODULES])
    assert tried >= 10


def test_the_stubs_are_what_the_native_module_is() -> None:
    settings = Path(__file__).parents[2] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy.stubtest", "likenew._native", "--concise", f"--mypy-config-file={settings}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types_fit() -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), str(root / "python")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert result.returncode == 0, result.stdout


def test_style_is_even() -> None:
    root = Path(__file__).parents[2]
    for task in (["check"], ["format", "--check"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *task, "python"], capture_output=True, text=True, check=False, cwd=root
        )
        assert result.returncode == 0, result.stdout


def test_the_program_ends_with_its_exit_codes() -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "likenew", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("--version").stdout.startswith("likenew ") and run("--version").returncode == 0
    assert run("check", "sim:tiny-flash?state=used", "--no-archive").returncode == 10
    wrong = run("benhc", "sim:tiny-flash")
    assert wrong.returncode == 2 and "bench" in wrong.stderr


def test_one_family_of_exceptions() -> None:
    for error in (likenew.UsageError, likenew.RefusedError, likenew.UnfinishedError):
        assert issubclass(error, likenew.LikenewError) and error.__doc__


@pytest.mark.filterwarnings("ignore")
def test_the_readme_runs_as_it_is_shown() -> None:
    readme = Path(__file__).parents[1] / "README.md"
    failed, tried = doctest.testfile(str(readme), module_relative=False)
    assert failed == 0 and tried > 20
