"""The notebook, run as a reader runs it."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "notebooks/measure-calibrate-decide.ipynb"


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_goes_from_a_drive_to_a_picture(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is kept without results"
    probe = nbformat.v4.new_code_cell("print(calibration.estimate('link.bytes_per_s').value, spares[0].write_amplification)")
    notebook.cells.append(probe)
    NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(tmp_path)}}).execute()
    rate, amplification = map(float, notebook.cells[-1].outputs[0].text.split())
    assert 0.97 < rate / 220_000_000 < 1.03, "the drive's own"
    assert 3 < amplification < 10
    pictures = [output for cell in notebook.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    assert len(pictures) == 1
