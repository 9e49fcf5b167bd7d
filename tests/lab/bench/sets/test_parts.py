"""Parts of a set, its fingerprint, and what is on the disk."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.lab.bench.sets import DataSet, describe, fingerprint, open_set, subset
from set_files import jpeg, put, put_jsonl, put_parquet

PLACES = [
    ("a", 48.85, 2.35, "France", "street"),
    ("b", -33.87, 151.2, "Australia", "shop"),
    ("c", 52.52, 13.4, None, "street"),
    ("d", 48.2, 16.37, "Österreich", "shop"),
]


@pytest.fixture
def data(tmp_path: Path) -> DataSet:
    rows = []
    for at, (name, lat, lon, country, scene) in enumerate(PLACES):
        put(tmp_path / "set" / f"{name}.jpg", jpeg(at))
        rows.append({"id": name, "image": f"{name}.jpg", "lat": lat, "lon": lon, "country": country, "scene": scene})
    return open_set(str(put_jsonl(tmp_path / "set" / "t.jsonl", rows)))


def ids(data: DataSet) -> list[str]:
    return [item.id for item in data]


def test_a_part_keeps_the_order(data: DataSet) -> None:
    assert ids(subset(data, only=["scene=street"])) == ["a", "c"]
    assert ids(subset(data, only=["scene=street", "scene=shop", "country=france"])) == ["a"]
    assert ids(subset(data, only=["country=Austria"])) == ["d"]
    assert ids(subset(data, only=["id=c", "id=a"])) == ["a", "c"]
    assert subset(data) is data
    assert ids(subset(data, only=["scene=shop"], limit=2)) == ["b", "d"]


@settings(max_examples=examples(30), deadline=None)
@given(seed=st.integers(0, 2**32), small=st.integers(1, 20), more=st.integers(0, 20))
def test_samples_are_the_same_again_and_nested(
    tmp_path_factory: pytest.TempPathFactory, seed: int, small: int, more: int
) -> None:
    folder = tmp_path_factory.mktemp("set")
    rows = "".join(f"{at},{at}.jpg,1,2\n" for at in range(40))
    whole = open_set(str(put(folder / "t.csv", f"id,image,lat,lon\n{rows}")))
    one, two = (ids(subset(whole, limit=count, seed=seed)) for count in (small, small + more))
    assert len(one) == small
    assert set(one) <= set(two)
    assert one == sorted(one, key=int)
    assert one == ids(subset(whole, limit=small, seed=seed))


def test_a_limit_draws_from_the_whole_set(tmp_path: Path) -> None:
    """Sets are sorted by place or time: the first rows are no sample."""
    rows = "".join(f"{at},{at}.jpg,1,2\n" for at in range(1000))
    whole = open_set(str(put(tmp_path / "t.csv", f"id,image,lat,lon\n{rows}")))
    drawn = [int(one) for one in ids(subset(whole, limit=100))]
    quarters = [sum(at // 250 == quarter for at in drawn) for quarter in range(4)]
    assert min(quarters) >= 12
    # What there is no more of is taken whole.
    assert ids(subset(whole, limit=2000)) == ids(whole)


def test_the_fingerprint_tells_every_change_that_could_change_a_figure(data: DataSet) -> None:
    seen: list[int] = []
    count, first = fingerprint(data, seen.append)
    assert (count, sum(seen)) == (4, 4)
    assert fingerprint(data) == (4, first)
    table = data.root / "t.jsonl"
    told = table.read_text()
    for old, new in (("48.85", "48.86"), ('"a"', '"z"'), ("Australia", "Austria"), ("shop", "shops")):
        table.write_text(told.replace(old, new))
        assert fingerprint(data)[1] != first, old
    table.write_text(told)
    put(data.root / "a.jpg", jpeg(0, (25, 16)))
    assert fingerprint(data)[1] != first


def test_a_description_counts_what_is_there(data: DataSet) -> None:
    (data.root / "b.jpg").unlink()
    with (data.root / "t.jsonl").open("a") as stream:
        stream.write(
            '{"id": "a", "image": "a.jpg", "lat": 1, "lon": 2, "boxes": [{"kind": "text", "box": [0,0,1,1]}]}\n'
        )
        stream.write('{"id": "e", "image": "e.jpg", "lat": 100, "lon": 2}\n')
    seen = describe(data)
    assert (seen.photos, seen.missing, seen.bad, seen.left_out, seen.repeated, seen.boxed) == (5, 1, 1, 0, 1, 1)
    assert seen.countries == {"FR": 1, "AU": 1, "AT": 1, "DE": 1, "(unknown)": 1}
    assert seen.continents == {"Europe": 3, "Oceania": 1, "(unknown)": 1}
    assert seen.fields == {"scene": 4}
    assert "b.jpg" in seen.missing_shown[0]
    assert "latitude must lie between" in seen.bad_shown[0].reason
    assert (seen.is_whole, seen.is_usable) == (None, False)


def test_photos_in_parquet_are_not_missing(tmp_path: Path) -> None:
    columns = {"image": [{"bytes": jpeg(), "path": "a.jpg"}], "lat": [1.0], "lon": [2.0]}
    seen = describe(open_set(str(put_parquet(tmp_path / "t.parquet", columns))))
    assert (seen.photos, seen.missing) == (1, 0)
