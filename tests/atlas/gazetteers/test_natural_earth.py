"""Natural Earth files: features with shapes, found by name in their languages, near them and on maps."""

import asyncio
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.gazetteers import Gazetteers, import_natural_earth
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "naturalearth"


def feature(name: str | None, kind: str, geometry: Any, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "properties": {"featurecla": kind, "name": name, **more}, "geometry": geometry}


def polygon(west: float, south: float, east: float, north: float) -> dict[str, Any]:
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


FEATURES = [
    feature("Lake Made", "Lake", polygon(10, 50, 11, 51), scalerank=1, name_de="Machsee", name_ja="作湖", ne_id=7),
    feature("MADE RANGE", "Range/mtn", polygon(12, 50, 14, 51), scalerank=2),
    feature("Made River", "River", {"type": "LineString", "coordinates": [[10.5, 50.5], [10.5, 52.0]]}, scalerank=3),
    feature("Mount Made", "mountain", {"type": "Point", "coordinates": [13.0, 50.5]}, elevation=4321),
]


def written(path: Path, features: list[Any]) -> Path:
    text = json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    import_natural_earth(written(tmp_path / "made.geojson.gz", FEATURES), folder=tmp_path / "gazetteers")
    return tmp_path


def test_features_are_found_by_name_in_their_languages(home: Path) -> None:
    gazetteers = Gazetteers(home / "gazetteers")
    for asked in ("Lake Made", "machsee", "作湖", "Machse"):
        assert gazetteers.search(asked)[0].place.name == "Lake Made"
    peak = gazetteers.search("Mount Made")[0].place
    assert (peak.kind, peak.details["elevation"], peak.source) == ("peak", "4321", "Natural Earth, gazetteer made")
    assert gazetteers.search("made range")[0].place.name == "Made Range"


def test_distance_is_to_the_nearest_part_of_a_shape(home: Path) -> None:
    gazetteers = Gazetteers(home / "gazetteers")
    inside = gazetteers.nearby(LatLon(50.2, 10.2), 5000)
    assert [(hit.place.name, hit.distance_km) for hit in inside] == [("Lake Made", 0.0)]
    beside = gazetteers.nearby(LatLon(51.5, 10.6), 30_000, category="river")
    assert beside[0].distance_km == pytest.approx(6.9, abs=0.1)
    assert gazetteers.nearby(LatLon(51.5, 10.6), 5000, category="river") == []


def test_the_atlas_finds_names_and_draws_them(home: Path) -> None:
    atlas = OfflineAtlas(home / "regions")
    assert asyncio.run(atlas.geocode("Machsee"))[0].place.id == "naturalearth:7"
    assert asyncio.run(atlas.search_pois("Made Range"))[0].place.kind == "range"
    assert asyncio.run(atlas.suggest("machse"))[0].place.id == "naturalearth:7"
    near = asyncio.run(atlas.nearby(LatLon(50.5, 13.0), 1000))
    assert {hit.place.name for hit in near} == {"Mount Made", "Made Range"}
    found = asyncio.run(atlas.poi("naturalearth:7"))
    assert found is not None
    assert found.name == "Lake Made"
    wet = asyncio.run(atlas.map(LatLon(50.2, 10.2), zoom=8, size=(64, 64)))
    dry = asyncio.run(OfflineAtlas(home / "elsewhere" / "regions").map(LatLon(50.2, 10.2), zoom=8, size=(64, 64)))
    assert _middle(wet.png) != _middle(dry.png)
    assert "Natural Earth" in wet.attribution


def _middle(png: bytes) -> tuple[int, ...]:
    from io import BytesIO

    return tuple(np.asarray(Image.open(BytesIO(png)).convert("RGB"))[32, 32].tolist())


def test_hostile_features_are_counted(tmp_path: Path) -> None:
    point = {"type": "Point", "coordinates": [1.0, 1.0]}
    deep: Any = [1.0, 1.0]
    for _ in range(200):
        deep = [deep]
    bad: list[Any] = [
        None, 7, "text", [], {}, {"properties": None}, feature(None, "Lake", point), feature("A", "Lake", None),
        feature("A", "Lake", {"type": "Point", "coordinates": [400.0, 1.0]}),
        feature("A", "Lake", {"type": "Point", "coordinates": ["x", {}]}),
        feature("A", "Lake", {"type": "Polygon", "coordinates": [[[0, 0]]]}),
        feature("A", "Lake", {"type": "Nonsense", "coordinates": [1, 1]}),
        feature("A", "Lake", {"type": "Polygon", "coordinates": deep}),
        feature("A", "Lake", {"type": "Point", "coordinates": []}),
    ]  # fmt: skip
    info = import_natural_earth(written(tmp_path / "bad.geojson", [*bad, *FEATURES]), folder=tmp_path / "out")
    assert (info.features, info.refused) == (len(FEATURES), len(bad))


def test_files_that_are_no_collection_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.geojson").write_text('{"type": "Topology"}', encoding="utf-8")
    whole = written(tmp_path / "b.geojson", FEATURES).read_bytes()
    (tmp_path / "b.geojson").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "c.geojson.gz").write_bytes(b"no gzip")
    (tmp_path / "d.geojson").write_text('{"features": ' + "[" * 100_000, encoding="utf-8")
    for name in ("a.geojson", "b.geojson", "c.geojson.gz", "d.geojson", "none.geojson"):
        with pytest.raises(BadInput):
            import_natural_earth(tmp_path / name, folder=tmp_path / "out")
    assert list((tmp_path / "out").glob("*.sqlite")) == []


def test_a_feature_longer_than_a_block_is_read_whole(tmp_path: Path) -> None:
    line = [[x / 1000, 40.0 + (x % 7) / 100] for x in range(90_000)]
    long = feature("Long River", "River", {"type": "LineString", "coordinates": line})
    path = written(tmp_path / "long.geojson", [long, *FEATURES])
    assert path.stat().st_size > 1_200_000
    assert import_natural_earth(path, folder=tmp_path / "out").features == 1 + len(FEATURES)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Gazetteers:
    folder = tmp_path_factory.mktemp("real")
    assert import_natural_earth(SHARED, folder=folder).features > 4000
    return Gazetteers(folder)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the Natural Earth files")
def test_the_real_files_are_found_in_their_languages(real: Gazetteers) -> None:
    asked = {
        "Lake Balaton": "Lake Balaton", "Balaton": "Lake Balaton", "Чёрное море": "Black Sea", "mer Noire": "Black Sea",
        "北極海": "Arctic Ocean", "珠穆朗玛峰": "Mount Everest", "エベレスト": "Mount Everest", "ALPS": "Alps",
        "Gre4t Divlding Rarge": "Great Dividing Range", "Himalaya": "Himalayas", "Sahara": "Sahara",
    }  # fmt: skip
    assert {text: real.search(text)[0].place.name for text in asked} == asked
    assert real.search("Ballston Lake") == []
