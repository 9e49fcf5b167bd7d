"""GeoSeek's formula, by hand."""

from math import log
from pathlib import Path

import numpy as np
import pytest

from geosleuth.geo import CellGrid
from geosleuth.lab.bench.makers.sampling import (
    CountryFigures,
    DrawRules,
    atlas_figures,
    atlas_people,
    country_shares,
    draw,
    largest_remainder,
    read_figures,
    read_people,
)
from geosleuth.support.errors import BadInput

FIGURES = {
    "AA": CountryFigures(road_km=100, population=10, area_km2=50),
    "BB": CountryFigures(road_km=300, population=30, area_km2=25),
    "CC": CountryFigures(road_km=None, population=60, area_km2=25),
}


def test_the_formula() -> None:
    shares = country_shares(FIGURES)
    assert shares["AA"] == pytest.approx(0.5 * 0.25 + 0.2 * 0.1 + 0.3 * 0.5)
    assert shares["BB"] == pytest.approx(0.5 * 0.75 + 0.2 * 0.3 + 0.3 * 0.25)
    assert shares["CC"] == pytest.approx(0.2 * 0.6 + 0.3 * 0.25)
    assert largest_remainder(shares, 1000) == {"AA": 295, "BB": 510, "CC": 195}
    assert largest_remainder(shares, 10) == {"AA": 3, "BB": 5, "CC": 2}


def test_remainders_go_to_the_largest_and_ties_by_name() -> None:
    # 29.5, 51.0, 19.5: one photo is left, and two remainders are alike.
    assert largest_remainder({"AA": 0.295, "BB": 0.51, "CC": 0.195}, 100) == {"AA": 30, "BB": 51, "CC": 19}
    assert largest_remainder({"A": 1, "B": 1, "C": 1}, 2) == {"A": 1, "B": 1, "C": 0}


def test_cells_are_drawn_by_the_logarithm_of_their_people() -> None:
    cells = [0] * 4000 + [1] * 4000 + [2] * 4000
    people = {("AA", 0): 999_999.0, ("AA", 1): 999.0}
    figures = {"AA": FIGURES["AA"]}
    drawn = draw(["AA"] * 12_000, cells, people, figures, total=3000, seed=4)
    counts = np.bincount([cells[number] for number in drawn.chosen], minlength=3)
    expected = 3000 * log(1_000_000) / (log(1_000_000) + log(1000))
    assert counts[0] == pytest.approx(expected, abs=4 * (3000 * (2 / 3) * (1 / 3)) ** 0.5)
    assert counts[2] == 0
    (account,) = drawn.countries
    assert (account.quota, account.available, account.unpeopled, account.drawn) == (3000, 12_000, 4000, 3000)


def test_no_photo_is_drawn_twice_and_a_seed_is_a_draw() -> None:
    countries = ["AA", "BB", "CC", ""] * 50
    cells = [number % 7 for number in range(200)]
    people = {(code, cell): 10.0 + cell for code in FIGURES for cell in range(7)}
    first, same, other = (draw(countries, cells, people, FIGURES, total=60, seed=seed) for seed in (1, 1, 2))
    assert first == same
    assert first.chosen != other.chosen
    assert len(set(first.chosen)) == len(first.chosen) == 60
    assert all(countries[number] for number in first.chosen)


def test_what_is_lacking_is_told_and_may_be_made_up_for() -> None:
    countries = ["AA"] * 5 + ["BB"] * 200
    people = {("AA", 0): 10.0, ("BB", 0): 10.0}
    plain = draw(countries, [0] * 205, people, FIGURES, total=100, seed=0)
    assert {one.country: (one.quota, one.drawn) for one in plain.countries} == {
        "BB": (51, 51),
        "AA": (30, 5),
        "CC": (19, 0),
    }
    assert plain.short == 44
    refilled = draw(countries, [0] * 205, people, FIGURES, total=100, seed=0, rules=DrawRules(refill=True))
    assert refilled.short == 0
    assert {one.country: one.drawn for one in refilled.countries} == {"BB": 95, "AA": 5, "CC": 0}


def test_the_atlas_has_figures_for_nearly_all_countries() -> None:
    figures = atlas_figures()
    assert len(figures) == 250
    assert sum(one.road_km is None for one in figures.values()) == 27
    assert (figures["FR"].population or 0) > 6e7


def test_the_atlas_counts_people_by_cell(atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    grid = CellGrid(1.0)
    people = atlas_people(grid)
    paris = int(grid.find_cells(48.85, 2.35))
    assert 5e6 < people["FR", paris] < 2e7
    assert ("DE", paris) not in people


def test_figures_of_the_user_replace_a_whole_column(tmp_path: Path) -> None:
    table = tmp_path / "roads.csv"
    table.write_text("country,road_km\nFrance,1000\nDE,2000\n")
    figures = read_figures(table, atlas_figures())
    assert (figures["FR"].road_km, figures["DE"].road_km, figures["IT"].road_km) == (1000, 2000, None)
    assert figures["IT"].population == atlas_figures()["IT"].population
    table.write_text("country,road_km\nAtlantis,1000\n")
    with pytest.raises(BadInput, match=r"roads\.csv:2: 'Atlantis' is not a country"):
        read_figures(table, {})
    table.write_text("country,road_km\nFR,many\n")
    with pytest.raises(BadInput, match="'many' must be a number"):
        read_figures(table, {})


def test_people_of_the_user_are_summed_up_by_country_and_cell(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("lat,lon,population\n48.2,2.1,5\n48.9,2.9,7\n49.1,2.1,1\n0,-30,9\n")
    grid = CellGrid(1.0)
    cells = [int(grid.find_cells(lat, 2.5)) for lat in (48.5, 49.5)]
    assert read_people(table, grid) == {("FR", cells[0]): 12.0, ("FR", cells[1]): 1.0}
