"""Places named in many languages, and how the benchmark judges where they are placed."""

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.placing import Placement, Placer
from geosleuth.atlas.protocol import Level, Place
from geosleuth.geo import Disc, LatLon, distance_km
from printed_replies import printed_labels, printed_replies

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "placing.py"


@pytest.fixture(scope="module")
def placing() -> ModuleType:
    """benchmarks/placing.py."""
    spec = importlib.util.spec_from_file_location("placing_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def placed(name: str, level: Level, lat: float, lon: float, *missing: str) -> Placement:
    point = LatLon(lat, lon)
    return Placement(Place("x:1", name, level, point, Disc(point, 1.0), "test"), level, Disc(point, 1.0), 1.0, missing)


@pytest.mark.parametrize(
    ("words", "placement", "verdict"),
    [
        ("Blue Arch, Utah, USA", None, "unplaced"),
        ("Blue Arch, Utah, USA", placed("Blue Arch", "feature", 38.2, -110.1), "right"),
        ("Blue Arch, Utah, USA", placed("Utah", "region", 39.3, -111.7, "Blue Arch"), "unplaced"),
        ("Blue Arch, Utah, USA", placed("Utah", "region", 38.1, -110.1, "Blue Arch"), "right"),
        ("Blue Arch, Utah, USA", placed("New York City", "town", 40.7, -74.0, "Blue Arch"), "at a town"),
        ("Blue Arch, Utah, USA", placed("Blue Arch", "town", 33.0, -90.0), "at a town"),
        ("Blue Arch, Moab, USA", placed("Moab", "town", 38.6, -109.5, "Blue Arch"), "wrong"),
    ],
)
def test_judges_where_a_place_was_put(
    placing: ModuleType, words: str, placement: Placement | None, verdict: str
) -> None:
    assert placing.judge(placing.Named(words, "en", "sight", LatLon(38.1, -110.0), 1.0), placement) == verdict


def test_a_name_nobody_bears_is_right_only_while_it_stays_open(placing: ModuleType) -> None:
    nobody = placing.Named("Vrandlemoor, Utah", "en", "unknown", None, 0.0)
    assert placing.judge(nobody, None) == "right"
    assert placing.judge(nobody, placed("Utah", "region", 39.3, -111.7, "Vrandlemoor")) == "right"
    assert placing.judge(nobody, placed("Utah", "region", 39.3, -111.7)) == "wrong"
    assert placing.judge(nobody, placed("Vandermoor", "town", 39.3, -111.7)) == "at a town"


def test_broken_promises_name_the_town(placing: ModuleType) -> None:
    row = placing.Named("Blue Arch, Utah, USA", "en", "sight", LatLon(38.1, -110.0), 1.0)
    assert placing.broken_promises([(row, "right")]) == []
    low, town = placing.broken_promises([(row, "at a town")])
    assert low.startswith("0.0% of the places are right")
    assert town.endswith("Blue Arch, Utah, USA")


def test_lists_hold_as_many_places_as_they_say_and_share_none(placing: ModuleType) -> None:
    tuning, held_out = placing.read_list("tuning"), placing.read_list("held_out")
    assert [sum(row.point is not None for row in rows) for rows in (tuning, held_out)] == [100, 200]
    assert not {row.words for row in tuning} & {row.words for row in held_out}
    assert all(row.radius_km > 0 for row in (*tuning, *held_out) if row.point)


def test_the_tuning_list_is_placed_and_no_name_that_nobody_bears(placing: ModuleType, atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    rows = placing.read_list("tuning")
    verdicts = placing.judged(rows, placing.place_all(rows))
    assert placing.broken_promises(verdicts) == []
    assert placing.share_right(verdicts) >= 0.98


def test_the_labels_that_a_paper_prints_are_placed_near_their_points(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    placer, labels = Placer(OfflineAtlas(tmp_path)), printed_labels()
    assert len(labels) == 6
    away = {}
    for address, truth in labels:
        placed = asyncio.run(placer.place_address(address))
        assert placed is not None
        away[str(address)] = distance_km(placed.point, truth)
        # A province, and what is known around a name that is not, reach to the true point.
        is_wide = placed.missing or placed.level == "region"
        assert away[str(address)] <= max(60.0, placed.radius_km if is_wide else 0.0)
    assert sum(km <= 60.0 for km in away.values()) >= 3, away


def test_the_towns_that_a_papers_replies_name_are_placed(atlas_home: Path, tmp_path: Path) -> None:
    assert atlas_home.is_dir()
    placer = Placer(OfflineAtlas(tmp_path))
    replies = [reply for figure in (11, 12, 13) for reply in printed_replies(figure)]
    missing: list[str] = []
    for reply in replies:
        placed = asyncio.run(placer.place_address(reply))
        assert placed is not None
        missing += placed.missing
        assert placed.missing or (placed.level, placed.radius_km < 100) == ("town", True)
    # Two name a town of another province; one of the two names is then open.
    assert len(missing) == 2
