"""GeoNames dumps: taken in whole or by country, hostile ones without harm, and found again by any of their names."""

import gzip
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from geosleuth.atlas.gazetteers import Gazetteers, import_geonames
from geosleuth.atlas.gazetteers.geonames import MAX_RATIO
from geosleuth.geo import Box, LatLon
from geosleuth.support.errors import BadInput


def row(
    number: object, name: str, at: tuple[object, object], code: str = "P.PPL", country: str = "HU", **more: str
) -> str:
    """A line of a dump; ``more`` has other names, people and height."""
    group, _, feature = code.partition(".")
    fields = [str(number), name, more.get("ascii", ""), more.get("others", ""), str(at[0]), str(at[1]), group, feature,
              country, "", more.get("admin1", ""), "", "", "", more.get("people", "0"), more.get("height", ""), "",
              "UTC", "2026-01-01"]  # fmt: skip
    return "\t".join(fields)


ROWS = (
    row(1, "Balaton", (46.83, 17.73), "H.LK", others="Lake Balaton,Plattensee,Блатно језеро,バラトン湖"),
    row(2, "Mátra", (47.87, 19.97), "T.MTS", others="Matra Mountains"),
    row(3, "Kékestető", (47.872, 20.008), "T.MT", height="1014"),
    row(4, "Springfield", (39.80, -89.64), country="US", people="114000", admin1="IL"),
    row(5, "Springfield", (42.10, -72.59), country="US", people="155000", admin1="MA"),
    row(6, "Springfield", (-25.1, 30.1), country="ZA"),
    row(7, "Glacier Bay", (58.5, -136.0), "H.BAY", country="US"),
    row(8, "桂山岛", (22.13, 113.83), "T.ISL", country="CN", others="Guishan Island"),
)


def dump(folder: Path, rows: Sequence[str], name: str = "made.txt") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Gazetteers:
    folder = tmp_path_factory.mktemp("gazetteers")
    import_geonames(dump(folder, ROWS), folder=folder)
    return Gazetteers(folder)


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ("Balaton", 1),
        ("lake balaton", 1),
        ("PLATTENSEE", 1),
        ("Блатно језеро", 1),
        ("バラトン湖", 1),
        ("Platensee", 1),
        ("P1attenzee", 1),
        ("Matra", 2),
        ("Kekesteto", 3),
        ("Glacier Bay", 7),
        ("桂山岛", 8),
        ("guishan island", 8),
    ],
)
def test_a_feature_is_found_by_each_of_its_names(found: Gazetteers, asked: str, number: int) -> None:
    assert found.search(asked)[0].place.id == f"geonames:{number}"


def test_a_name_that_nothing_bears_is_not_found(found: Gazetteers) -> None:
    for asked in ("Glace", "Guisando", "Ballston Spa", "Zzyzx", "", "?!", "x" * 5000):
        assert found.search(asked) == []


def test_the_best_known_namesake_is_first_and_an_area_decides(found: Gazetteers) -> None:
    assert [hit.place.id for hit in found.search("Springfield")] == ["geonames:5", "geonames:4", "geonames:6"]
    assert [hit.place.id for hit in found.search("Springfield", within=Box(-30, 25, -20, 35))] == ["geonames:6"]
    assert found.search("Springfield", near=LatLon(39.8, -89.6))[0].place.id == "geonames:4"
    place = found.search("Springfield")[0].place
    assert (place.country, place.region, place.address) == (
        "US",
        "Massachusetts",
        "Springfield, Massachusetts, United States",
    )


def test_a_map_labels_the_best_known_features_wherever_they_lie(tmp_path: Path) -> None:
    western = [row(at, f"Hill {at}", (46.01, 7.0 + at / 100), "T.PK") for at in range(1, 10)]
    eastern = row(99, "Matterhorn", (46.01, 7.9), "T.PK", others="Cervino,Mont Cervin")
    import_geonames(dump(tmp_path, [*western, eastern]), folder=tmp_path)
    labels = Gazetteers(tmp_path).labels(Box(46.0, 7.0, 46.04, 8.0), limit=3)
    assert len(labels) == 3
    assert labels[0].name == "Matterhorn"


def test_a_category_narrows_search_and_nearby(found: Gazetteers) -> None:
    assert found.search("Matra", category="lake") == []
    assert found.search("Matra", category="mountain range")[0].place.kind == "range"
    around = found.nearby(LatLon(47.87, 20.0), 20_000)
    assert [hit.place.name for hit in around] == ["Kékestető", "Mátra"]
    assert around[0].distance_km == pytest.approx(0.64, abs=0.1)
    assert [hit.place.name for hit in found.nearby(LatLon(47.87, 20.0), 20_000, category="peak")] == ["Kékestető"]
    assert found.place("geonames:3") == around[0].place
    assert around[0].place.details == {"elevation": "1014"}


def test_hostile_rows_are_counted_and_the_rest_is_kept(tmp_path: Path) -> None:
    bad = [
        "", "no tabs", "\t" * 18, row("x", "A", (1, 1)), row(-5, "A", (1, 1)), row(10**15, "A", (1, 1)),
        row(20, " ", (1, 1)), row(21, "A", (91, 0)), row(22, "A", (0, 181)), row(23, "A", ("nan", "inf")),
        row(24, "A", ("1e999", 0)), row(26, "A" * 70_000, (1, 1)),
    ]  # fmt: skip
    odd = [
        row(30, "N" * 5000, (1, 1)),
        row(31, "Nul\0\x1b[31m", (1, 1), others=",,, ,\u202e,"),
        row(32, "Ok", (1, 1), people="-7", height="deep", country="usa!"),
        row(33, "'; DROP TABLE name; --", (1, 1), others=",".join(f"n{at}" for at in range(5000))),
    ]
    path = dump(tmp_path, [*ROWS, *bad, *odd, ROWS[0]])
    with path.open("ab") as stream:
        stream.write(b"\xff\xfe\x00 not text\n")
    info = import_geonames(path, folder=tmp_path)
    assert info.features == len(ROWS) + len(odd)
    assert info.refused == len(bad)  # an empty line does not count, the line that is no text does
    gazetteers = Gazetteers(tmp_path)
    assert gazetteers.search("drop table name")[0].place.id == "geonames:33"
    assert "\x1b" not in gazetteers.search("Ok")[0].place.name
    assert gazetteers.search("Balaton")[0].place.id == "geonames:1"


def test_only_the_countries_that_were_asked_for(tmp_path: Path) -> None:
    info = import_geonames(dump(tmp_path, ROWS), folder=tmp_path, countries=["Hungary", "CN"])
    assert (info.features, info.refused, info.kind) == (4, 0, "geonames")
    with pytest.raises(BadInput):
        import_geonames(dump(tmp_path, ROWS), folder=tmp_path, countries=["Nowhereland"])


def test_zip_and_gzip_hold_the_same(tmp_path: Path) -> None:
    path = dump(tmp_path, ROWS)
    packed = tmp_path / "HU.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "columns")
        archive.write(path, "HU.txt")
    (tmp_path / "made.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    for file in (packed, tmp_path / "made.txt.gz"):
        assert import_geonames(file, folder=tmp_path).features == len(ROWS)


def test_a_bomb_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    target = tmp_path / "out"
    line = row(1, "A", (1, 1), others="a" * 900) + "\n"
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("bomb.txt", "w") as member:
        for _ in range(30_000):
            member.write(line.encode())
    assert 30_000 * len(line) > MAX_RATIO * bomb.stat().st_size
    with pytest.raises(BadInput, match="unpacks to far more"):
        import_geonames(bomb, folder=target)
    assert [path for path in target.iterdir() if path.name != "bomb.zip"] == []


def test_files_that_are_no_dump_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 no more")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.txt", "x")
        archive.writestr("b.txt", "x")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"\n".join(map(str.encode, ROWS)))[:-20])
    (tmp_path / "prose.txt").write_text("Once upon a time.\n", encoding="utf-8")
    for name in ("broken.zip", "two.zip", "cut.txt.gz", "prose.txt", "missing.txt"):
        with pytest.raises(BadInput) as refused:
            import_geonames(tmp_path / name, folder=tmp_path / "out")
        assert "\n" not in str(refused.value)


def test_adding_again_replaces_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    path = dump(tmp_path, ROWS)
    import_geonames(path, "mine", folder=folder)
    path.write_text("no row\n", encoding="utf-8")
    with pytest.raises(BadInput):
        import_geonames(path, "mine", folder=folder)
    assert Gazetteers(folder).search("Balaton")[0].place.id == "geonames:1"
    import_geonames(dump(tmp_path, ROWS[1:]), "mine", folder=folder)
    assert Gazetteers(folder).search("Balaton") == []
    assert [info.name for info in Gazetteers(folder).store.list()] == ["mine"]


def test_more_names_come_from_their_own_table(tmp_path: Path) -> None:
    more = tmp_path / "alternateNamesV2.txt"
    more.write_text(
        "1\t1\tpl\tBłotne Jezioro\t\t\t\t\t\t\n2\t1\tlink\thttps://example.org\t\t\t\t\t\t\n3\t99\ten\tNobody\t\t\t\t\t\t\n"
        "broken\n",
        encoding="utf-8",
    )
    info = import_geonames(dump(tmp_path, ROWS), folder=tmp_path, more_names=more)
    gazetteers = Gazetteers(tmp_path)
    assert gazetteers.search("blotne jezioro")[0].place.id == "geonames:1"
    assert gazetteers.search("Nobody") == []
    assert info.refused == 1
