"""What two sets share, and what places are called."""

import asyncio
from pathlib import Path

import pytest

from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.bench.makers.place_labels import Labelled, label
from geosleuth.lab.bench.makers.sampling import compute_coverage
from geosleuth.lab.bench.sets import Item
from maker_sets import item


def test_coverage_and_consistency_by_name() -> None:
    train = [
        item("a", country="France", city="Paris"),
        item("b", country="FR", city="PARIS"),
        item("c", country="Germany", city="Kassel"),
        item("d", country="Texas", city="Paris"),
        item("e", country="Italy", city="Rome"),
        item("f", country="Spain"),
    ]
    test = [
        item("g", country="Frankreich", city="paris"),
        item("h", country="Deutschland", city="Bonn"),
        item("i", country="France", city="Paris"),
    ]
    found = compute_coverage(train, test, by="city")
    # Paris in France is the one of four places of the first set, and of two of the second.
    assert (found.first_places, found.second_places, found.common) == (4, 2, 1)
    assert (found.coverage, found.consistency) == (0.25, 0.5)
    assert (found.first_unnamed, found.second_photos_in_common) == (1, 2)
    assert compute_coverage(train, test, by="country").coverage == pytest.approx(2 / 5)


def test_a_city_is_one_place_however_its_region_is_written() -> None:
    train = [item("a", country="US", region="IL", city="Chicago"), item("b", country="US", city="Chicago")]
    test = [item("c", country="United States", region="Illinois", city="Chicago")]
    found = compute_coverage(train, test, by="city")
    assert (found.first_places, found.coverage, found.consistency) == (1, 1.0, 1.0)


def _labelled(one: Item, *, home: Path, over: bool = False, within_km: float | None = None) -> Labelled:
    assert home.is_dir()
    return asyncio.run(label(one, OfflineAtlas(), over=over, within_km=within_km))


def test_three_levels_with_their_source(atlas_home: Path) -> None:
    done = _labelled(item("a", lat=48.8566, lon=2.3522), home=atlas_home)
    truth = done.item.truth
    assert (truth.country, truth.city) == ("France", "Paris")
    assert truth.region is not None
    assert done.fields["label_source"] == "borders, GeoNames"
    assert done.fields["labelled"] == "country region city"
    assert float(done.fields["nearest_km"]) < 2


def test_names_that_are_there_stay_unless_told_otherwise(atlas_home: Path) -> None:
    named = item("a", lat=48.8566, lon=2.3522, country="Frankreich", city="Lutetia")
    done = _labelled(named, home=atlas_home)
    assert (done.item.truth.country, done.item.truth.city) == ("Frankreich", "Lutetia")
    assert done.fields["labelled"] == "region"
    over = _labelled(named, home=atlas_home, over=True)
    assert (over.item.truth.country, over.item.truth.city) == ("France", "Paris")


def test_no_city_is_named_in_the_open_and_none_at_sea(atlas_home: Path) -> None:
    # The Simpson Desert: the nearest settlement is far away.
    desert = item("a", lat=-25.0, lon=137.0)
    done = _labelled(desert, home=atlas_home)
    assert (done.item.truth.country, done.item.truth.city) == ("Australia", None)
    assert float(done.fields["nearest_km"]) > 50
    assert _labelled(desert, home=atlas_home, within_km=2000.0).item.truth.city is not None
    sea = _labelled(item("b", lat=0.0, lon=-30.0), home=atlas_home)
    assert sea.item.truth.country is None
    assert sea.fields["label_source"] == ""
