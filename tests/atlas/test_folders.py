"""What is worked out once and kept on disk: the same afterwards, made anew where it can't be read."""

from pathlib import Path

import numpy as np
import pytest

from geosleuth.atlas.borders.grid import kept_layer, read_layer
from geosleuth.atlas.facts import brands
from geosleuth.atlas.facts.countries import read_json
from geosleuth.atlas.folders import KeptFiles
from geosleuth.clues import heartlands, languages, town_names, vocabulary
from geosleuth.names.country_names import cities_by_country


def test_kept_once_and_made_anew_where_it_can_not_be_read(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        return b"7"

    folder = KeptFiles(tmp_path, "figures-2")
    (tmp_path / "figures-1").mkdir()
    (tmp_path / "others-1").mkdir()
    assert [folder.load("a", make, int) for _ in range(3)] == [7, 7, 7]
    assert len(made) == 1
    (tmp_path / "figures-2" / "a").write_bytes(b"seven")
    assert folder.load("a", make, int) == 7
    assert (tmp_path / "figures-2" / "a").read_bytes() == b"7"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures-2", "others-1"]


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    arrays = [np.arange(7, dtype=np.uint16), np.array(["de", "zh"]), np.zeros((0, 3)), np.array([[1.5, -2.0]])]
    folder = KeptFiles(tmp_path, "figures-1")
    for _ in range(2):
        for found, array in zip(folder.arrays("some", lambda: arrays), arrays, strict=True):
            assert found.dtype == array.dtype
            assert np.array_equal(found, array)
    (tmp_path / "figures-1" / "some").write_bytes(b"\x00" * 20)
    assert len(folder.arrays("some", lambda: arrays)) == 4


def test_a_folder_that_can_not_be_written_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    folder = KeptFiles(tmp_path / "in-the-way", "figures-2")
    assert folder.load("a", lambda: b"7", int) == 7


def test_towns_and_languages_are_the_same_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    langid = pytest.importorskip("py3langid.langid")
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    fresh = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    for _ in range(2):  # the first time writes what the second reads
        for kept, made in zip(town_names._towns.__wrapped__(), town_names._put_together(), strict=True):
            assert {name: town_names._people(kept.get(name) or "") for name in made} == made
        cities = heartlands._cities.__wrapped__()
        assert list(cities) == list(cities_by_country())
        assert cities["MC"][2].tolist() == [city.population for city in cities_by_country()["MC"]]
        kept = languages._statistics.__wrapped__()
        assert kept.labels == fresh.labels
        for text in ("la boulangerie du coin", "добро пожаловать", "Fußgängerzone", "ยินดีต้อนรับ", ""):
            assert kept.rank(text) == fresh.rank(text)
    kinds = sorted(path.name.partition("-")[0] for path in (tmp_path / "cache" / "prepared").iterdir())
    assert kinds == ["cities", "languages", "towns"]


def test_tables_are_the_same_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    layer = read_layer()
    for _ in range(2):
        assert vocabulary._table.__wrapped__() == vocabulary._put_together()
        assert languages._table.__wrapped__() == languages._put_together()
        kept = kept_layer()
        assert kept.regions == layer.regions
        for name in ("coarse", "blocks", "numbers"):
            assert np.array_equal(getattr(kept, name), getattr(layer, name))
        for name in ("x", "y", "starts", "left", "right"):
            assert np.array_equal(getattr(kept.arcs, name), getattr(layer.arcs, name))
        index, table = brands._index.__wrapped__(), read_json("brands.json.gz")
        assert len(index) == len(table["brands"])
        for number, row in [*enumerate(table["brands"])][::500]:
            name, kinds, on_signs, others, wikidata, places, worldwide, _ = row
            found = index.brand(number)
            assert (found.name, " ".join(found.kinds), found.wikidata or "") == (name, kinds, wikidata)
            listed = frozenset(table["places"][places].split())
            assert (found.except_countries if worldwide else found.countries) == listed
            assert all(2 * number in index.numbers(one) for one in on_signs.split("|"))
            assert all(2 * number + 1 in index.numbers(one) for one in others.split("|") if one)
    kinds = sorted(path.name.partition("-")[0] for path in (tmp_path / "cache" / "prepared").iterdir())
    assert kinds == ["borders", "brands", "national", "vocabulary"]
