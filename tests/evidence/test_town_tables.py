"""The packaged tables of towns: what their script makes of GeoNames today."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np

from geosleuth.atlas.folders import load_packaged_arrays
from geosleuth.evidence.town_names import town_people
from geosleuth.evidence.town_tables import TABLE, town_tables

SCRIPT = Path(__file__).parents[2] / "scripts/build_town_tables.py"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_town_tables", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_packaged_tables_are_what_the_script_makes() -> None:
    made, shipped = _script().arrays(), load_packaged_arrays("geosleuth.evidence", TABLE)
    assert len(shipped) == len(made)
    for one, other in zip(shipped, made, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), "run scripts/build_town_tables.py"


def test_towns_are_found_by_the_names_that_signs_have() -> None:
    springfields = town_people("SPRINGFIELD")
    assert springfields["US"] > 100_000
    assert "DE" not in springfields
    assert set(town_people("Москва")) == {"RU"}
    assert not town_people("no town is called so")


def test_towns_of_a_country_have_positions_and_people() -> None:
    lats, lons, people = town_tables().by_country["MC"]
    assert np.all(np.abs(lats - 43.73) < 0.05)
    assert np.all(np.abs(lons - 7.42) < 0.05)
    assert np.all(people >= 1)
