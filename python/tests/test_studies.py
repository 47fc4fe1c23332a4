"""The published studies that are repeated, and the pages that they made."""

import doctest
import re

import lab
import polars as pl
import predictions
import pytest
import reproduce

from likenew import SimulatedDrive


def row(figure: tuple[str, str, str, float]) -> str:
    """The first cells of a row, which do not depend on a simulation."""
    return f"| {figure[0]} | {figure[1]} | {figure[2]} |"


@pytest.mark.long
@pytest.mark.parametrize("study", reproduce.STUDIES, ids=lambda study: study.title)
def test_a_quick_run_of_a_study_works_and_shows_what_was_published(study: reproduce.Study) -> None:
    page = study.page(quick=True)
    for figure in study.published:
        assert row(figure) in page
    assert not re.search(r"\b(nan|inf)\b", page)


def test_a_quick_run_repeats_itself_to_the_byte() -> None:
    study = reproduce.STUDIES[3]
    assert study.page(quick=True) == study.page(quick=True)


def test_the_page_prints_the_figures_of_the_code() -> None:
    text = reproduce.PAGE.read_text()
    assert text.startswith(reproduce.HEAD), "the page was made by another version: run cargo xtask reproduce"
    _, *pages = text.split("\n## Study ")
    for number, (study, page) in enumerate(zip(reproduce.STUDIES, pages, strict=True), 1):
        assert page.startswith(f"{number}: {study.title}\n\n{study.source}\n")
        rows = [line for line in page.split("### Predictions")[0].splitlines() if line.startswith("| ")][1:]
        for printed, figure in zip(rows, study.published, strict=True):
            assert printed.startswith(row(figure))


def test_numbers_and_tables_are_as_they_are_shown() -> None:
    failed, tried = doctest.testmod(lab)
    assert failed == 0 and tried >= 3


def test_every_draw_of_every_drive_of_the_studies_is_a_drive() -> None:
    for name in predictions.DRIVES:
        draws = SimulatedDrive(name).draw(8)
        assert draws[0].positions, f"{name} states no range"
        for key in draws[0].positions:
            assert sorted(int(8 * one.positions[key]) for one in draws) == list(range(8))


def test_what_decides_a_result_is_found_and_nothing_else() -> None:
    positions = pl.DataFrame([one.positions for one in SimulatedDrive("intel-x25-m-80gb").draw(64)])
    (name, rho), *others = predictions.deciding(positions, -positions["firmware.write_command_ns"].pow(3))
    assert name == "firmware.write_command_ns" and rho == pytest.approx(-1) and all(abs(rho) < 0.5 for _, rho in others)


def test_a_published_figure_outside_of_the_draws_is_named() -> None:
    positions = pl.DataFrame([one.positions for one in SimulatedDrive("intel-x25-m-80gb").draw(20)])

    def miss(center: float) -> str:
        drawn = pl.Series([center + step * 0.01 for step in range(20)])
        return predictions.Prediction("intel-x25-m-80gb", predictions.SEQUENTIAL, center, drawn, positions).miss()

    assert miss(76.4) == ""
    assert "76–77 is below" in miss(80)
    assert "76–77 is above" in miss(70)


@pytest.mark.long
def test_a_drive_that_may_pair_writes_is_predicted_to_be_faster() -> None:
    metrics = predictions.predict("intel-x25-m-80gb", predictions.QUICK)
    new = next(one for one in metrics if one.metric == predictions.NEW)
    signs = {key: rho > 0 for key, rho in new.deciding}
    assert signs.get("firmware.writes_per_unit", False) or not signs.get("firmware.write_command_ns", True)
