"""Simulated drives as values."""

import pickle

import pytest

import likenew
from likenew import SimulatedDrive


def test_every_drive_of_the_catalog_opens_with_its_parameters() -> None:
    for name in likenew.catalog():
        drive = SimulatedDrive(name)
        capacity = drive.parameters["identity.capacity_bytes"]
        assert isinstance(capacity.value, int) and capacity.value > 0 and capacity.source


def test_settings_are_those_of_a_target() -> None:
    drive = SimulatedDrive("tiny-flash", state="used", trim=False, fill=0.5)
    assert drive.target == "sim:tiny-flash?state=used&trim=off&fill=0.5"
    assert drive.replace(fill=1).target == "sim:tiny-flash?state=used&trim=off&fill=1"


def test_a_drive_from_its_dict_is_the_same_drive() -> None:
    drive = SimulatedDrive("tiny-flash")
    copy = SimulatedDrive.from_dict(drive.to_dict(), name="copy")
    assert copy.parameters == drive.parameters
    plan = likenew.Bench(drive, passes=1, time=0.2).plan()
    assert likenew.run(plan.on(copy)).tables["results"].to_rows() == likenew.run(plan).tables["results"].to_rows()


def test_a_replaced_parameter_is_said_to_be_given_and_changes_what_is_measured() -> None:
    drive = SimulatedDrive("tiny-flash")
    slow = drive.replace({"nand.read_ns": 1_000_000})
    assert slow.parameters["nand.read_ns"] == likenew.Parameter(1_000_000, "given", False)
    assert slow.parameters["nand.program_ns"] == drive.parameters["nand.program_ns"]
    latency = [
        min(likenew.run(likenew.Bench(one, passes=1, time=0.2, op="read")).tables["results"]["latency_ns_p50"])
        for one in (drive, slow)
    ]
    assert latency[1] > latency[0] + 800_000


def test_drives_travel_between_processes() -> None:
    drive = SimulatedDrive("tiny-flash", state="used").replace({"nand.read_ns": 60_000})
    assert pickle.loads(pickle.dumps(drive)) == drive and hash(drive) == hash(pickle.loads(pickle.dumps(drive)))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SimulatedDrive("tiny-flsh"), 'did you mean "tiny-flash"'),
        (lambda: SimulatedDrive("tiny-flash", state="old"), "state=new or state=used"),
        (lambda: SimulatedDrive("tiny-flash").replace({"nand.red_ns": 5}), 'did you mean "nand.read_ns"'),
        (lambda: SimulatedDrive("tiny-flash").replace({"nand.read_ns": -5}), "nand.read_ns is -5"),
        (lambda: SimulatedDrive.from_dict({"kind": "flash"}), "identity"),
        (lambda: SimulatedDrive.from_dict({"kind": object()}), "object"),
        (lambda: SimulatedDrive("tiny-flash").replace({"nand.read_ns": float("nan")}), "finite"),
        (lambda: SimulatedDrive("tiny-flash", fill=None), "fill"),  # type: ignore[arg-type]
        (lambda: SimulatedDrive.from_dict({"kind": "flash", "identity": {"model": [1]}}, name="mine"), "mine.toml"),
    ],
)
def test_what_makes_no_sense_is_named(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(likenew.UsageError) as error:
        make()
    assert says in str(error.value)
