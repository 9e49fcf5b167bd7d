"""Overture places from a file laid out as Overture publishes it."""

import struct
from pathlib import Path
from typing import Any

import pytest

from geosleuth.atlas.regions import Regions, import_overture
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install '.[atlas]'")
writer = pytest.importorskip("pyarrow.parquet")


def _schema() -> Any:
    text = pa.string()
    rule = pa.struct([("variant", text), ("language", text), ("value", text), ("side", text)])
    names = pa.struct([("primary", text), ("common", pa.map_(text, text)), ("rules", pa.list_(rule))])
    address = pa.struct(
        [("freeform", text), ("locality", text), ("postcode", text), ("region", text), ("country", text)]
    )
    edges = ("xmin", "xmax", "ymin", "ymax")
    return pa.schema(
        [
            ("id", text),
            ("geometry", pa.binary()),
            ("bbox", pa.struct([(edge, pa.float32()) for edge in edges])),
            ("names", names),
            ("categories", pa.struct([("primary", text), ("alternate", pa.list_(text))])),
            ("confidence", pa.float64()),
            ("websites", pa.list_(text)),
            ("phones", pa.list_(text)),
            ("brand", pa.struct([("wikidata", text), ("names", names)])),
            ("addresses", pa.list_(address)),
        ]
    )


def _place(number: int, name: str, lat: float, lon: float, **more: object) -> dict[str, object]:
    return {
        "id": f"08f39696{number:08x}",
        "geometry": struct.pack("<BIdd", 1, 1, lon, lat),
        "bbox": {"xmin": lon, "xmax": lon, "ymin": lat, "ymax": lat},
        "names": {"primary": name, "common": [], "rules": None},
        "categories": {"primary": "cafe", "alternate": ["bakery"]},
        "confidence": 0.9,
        **more,
    }


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    rows = [
        _place(1, "Kaffeehaus Müller", 48.2, 16.37, phones=["+43 1 5551234"], websites=["https://mueller.example"]),
        _place(
            2,
            "Тестовое кафе",
            48.21,
            16.38,
            names={
                "primary": "Тестовое кафе",
                "common": [("en", "Test Café")],
                "rules": [{"variant": "short", "language": None, "value": "TK", "side": None}],
            },
            addresses=[{"freeform": "Ring 1", "locality": "Wien", "postcode": "1010", "region": None, "country": "AT"}],
        ),
        _place(
            3,
            "Filiale 7",
            48.2005,
            16.3705,
            categories={"primary": "pharmacy", "alternate": None},
            brand={"wikidata": "Q1", "names": {"primary": "Salus Apotheke", "common": [], "rules": None}},
        ),
        _place(4, "Nowhere", 48.2, 16.37, geometry=None, bbox=None),
        _place(5, "Boxed", 48.3, 16.4, geometry=None, categories=None),
    ]
    path = tmp_path / "vienna.parquet"
    writer.write_table(pa.Table.from_pylist(rows, schema=_schema()), path)
    return path


def test_places_are_found_by_every_name_and_number(parquet: Path, tmp_path: Path) -> None:
    info = import_overture(parquet, folder=tmp_path / "atlas")
    assert (info.name, info.kind, info.features) == ("vienna", "overture", 4)
    assert "Overture" in info.attribution
    regions = Regions(tmp_path / "atlas")
    best = regions.search_pois("Kaffeehaus Muller")[0]
    assert best.place.id == "overture:vienna:08f3969600000001"
    assert best.place.kind == "amenity=cafe"
    assert best.place.details["phone"] == "+43 1 5551234"
    assert regions.poi(best.place.id) == best.place
    for text, match in (("Test Cafe", "alias"), ("Тестовое кафе", "exact"), ("TK", "alias")):
        hit = regions.search_pois(text)[0]
        assert (hit.place.name, hit.match) == ("Тестовое кафе", match)
        assert hit.place.address == "Ring 1, 1010 Wien, AT"
    assert regions.search_pois("Salus Apotheke")[0].place.name == "Filiale 7"
    assert regions.search_pois("+43 1 5551234")[0].place.name == "Kaffeehaus Müller"
    assert [hit.place.name for hit in regions.nearby(LatLon(48.3, 16.4), 10)] == ["Boxed"]
    (together,) = regions.colocated(["cafe", "pharmacy"], 200)
    assert together.places[1].name == "Filiale 7"


def test_files_that_are_no_overture_places(tmp_path: Path) -> None:
    folder = tmp_path / "atlas"
    cases: dict[str, str] = {"text.parquet": "can't be read as Parquet", "other.parquet": "no column id, names"}
    cases |= {"void.parquet": "holds no places", "missing.parquet": "does not exist", "zero.parquet": "is empty"}
    (tmp_path / "text.parquet").write_bytes(b"PAR1 but not really" * 20)
    (tmp_path / "zero.parquet").write_bytes(b"")
    writer.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    writer.write_table(pa.Table.from_pylist([], schema=_schema()), tmp_path / "void.parquet")
    for name, says in cases.items():
        with pytest.raises(BadInput, match=says):
            import_overture(tmp_path / name, folder=folder)
    assert not folder.exists()
