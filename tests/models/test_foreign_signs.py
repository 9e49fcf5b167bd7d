"""Signs with true names of places whose map is not installed: the right country, or no answer at 0.5 or more.

``foreign_signs.tsv`` holds a kind, the country, and the lines of each sign, written from general knowledge.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from geosleuth.answer import Answer
from geosleuth.atlas import OfflineAtlas
from geosleuth.names import country_code
from geosleuth.photo.text import detect_script
from homes import add_region
from sign_reader import locate_lines

ROOT = Path(__file__).resolve().parents[2]
CONFIDENT = 0.5
# How many signs of a kind may be placed in a wrong country at 0.5 or more.
MAY_MISS = {"sight": 0, "town": 0, "distance": 0, "street": 2, "word": 0}


def read_signs(kind: str) -> Iterator[tuple[str, list[str]]]:
    for row in (Path(__file__).parent / "foreign_signs.tsv").read_text(encoding="utf-8").splitlines():
        its_kind, country, lines = row.split("\t")
        if its_kind == kind:
            yield country, lines.split("|")


@pytest.fixture(scope="module")
def monaco(tmp_path_factory: pytest.TempPathFactory) -> OfflineAtlas:
    folder = tmp_path_factory.mktemp("regions")
    add_region(ROOT / "examples" / "regions" / "monaco.osm.pbf", folder)
    return OfflineAtlas(folder)


def is_wrong(answer: Answer, country: str) -> bool:
    named = answer.address.country.conclusion
    return named is not None and (answer.probability or 0.0) >= CONFIDENT and country_code(named) != country


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(MAY_MISS))
def test_a_sign_from_elsewhere_is_right_or_unsure_beside_an_installed_map(kind: str, monaco: OfflineAtlas) -> None:
    wrong = []
    for country, lines in read_signs(kind):
        upright = kind == "word" and all(detect_script(letter) in ("Hani", "Hira", "Kana") for letter in "".join(lines))
        if is_wrong(locate_lines(lines, monaco, upright=upright).answer, country):
            wrong.append(lines)
    assert len(wrong) <= MAY_MISS[kind], wrong


def test_the_louvre_is_in_paris_with_a_map_of_monaco(monaco: OfflineAtlas) -> None:
    lines = ["Palais du LOUVRE", "Musée du LOUVRE", "LES ARTS DÉCORATIFS", "Théâtre du PALAIS-ROYAL", "Mairie du 1er"]
    answer = locate_lines(lines, monaco).answer
    assert country_code(str(answer.address.country.conclusion)) == "FR"


@pytest.mark.parametrize("lines", [["Menton", "Alpes-Maritimes"], ["Nice", "Alpes-Maritimes"], ["Alpes-Maritimes"]])
def test_a_sign_from_beside_an_installed_map_is_not_drawn_into_it(lines: list[str], monaco: OfflineAtlas) -> None:
    assert country_code(str(locate_lines(lines, monaco).answer.address.country.conclusion)) == "FR"


def test_a_column_is_one_word(monaco: OfflineAtlas) -> None:
    column = locate_lines(["静神社"], monaco, upright=True).answer
    assert column.address.country.conclusion == "Japan"
    alone = locate_lines(["社"], monaco, upright=True).answer
    assert (alone.probability or 0.0) < CONFIDENT
