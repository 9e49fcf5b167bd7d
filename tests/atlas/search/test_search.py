"""Names found although they were misread, cut, reordered or written in another script."""

import random
import sqlite3
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas import search
from geosleuth.atlas import search as index_module
from geosleuth.atlas.search import (
    NameIndex,
    add_names,
    compact_key,
    create_tables,
    exact_key,
    finish,
    latin_key,
    similarity,
)

NAMES = [
    (1, "Boulangerie Pâtisserie Costa", 0),
    (2, "Café de Paris Monte-Carlo", 0),
    (3, "Rue Grimaldi", 0),
    (4, "Kauppatori", 0),
    (4, "Salutorget", 1),
    (5, "ร้านอาหารไทย", 0),
    (6, "Pharmacie Wurz", 0),
    (7, "Hôtel Hermitage", 0),
    (8, "Общежитие", 0),
    (9, "Crédit Mobilier de Monaco", 0),
    (10, "Carrefour", 0),
    (11, "Carrefour Market", 0),
    (12, "Nespresso", 0),
    (12, "+377 97 97 80 00", 2),
]


@pytest.fixture
def index() -> Iterator[NameIndex]:
    conn = sqlite3.connect(":memory:")
    create_tables(conn)
    add_names(conn, NAMES)
    finish(conn)
    yield NameIndex(conn)
    conn.close()


@pytest.mark.parametrize(
    ("query", "owner"),
    [
        ("Boulangerie Patisserie Costa", 1),
        ("BOULANGERlE PATlSSERlE C0STA", 1),
        ("boulangeriepatisseriecosta", 1),
        ("Costa Boulangerie", 1),
        ("ulangerie Patisserie Co", 1),
        ("Cafe de Pari5 Monte Car1o", 2),
        ("Rue Grirnaldi", 3),
        ("Grimaldi", 3),
        ("SALUTORGFT", 4),
        ("ร้านอาหารไทย", 5),
        ("Pharmacle Wutz", 6),
        ("Hotel Herrnitage", 7),
        ("Obshchezhitie", 8),
        ("Credit Mobilier Monaco", 9),
        ("Nesprcsso", 12),
        ("97 97 80 00", 12),
    ],
)
def test_what_was_meant_comes_first(index: NameIndex, query: str, owner: int) -> None:
    assert index.search(query)[0].owner == owner


def test_an_exact_name_beats_a_longer_one_and_says_so(index: NameIndex) -> None:
    hits = index.search("carrefour")
    assert [hit.owner for hit in hits[:2]] == [10, 11]
    assert hits[0].match == "exact"
    assert hits[0].score == 1.0
    assert hits[1].match == "fuzzy"
    assert index.search("Salutorget")[0].match == "alias"


def test_only_the_owners_asked_for_are_found(index: NameIndex) -> None:
    assert {hit.owner for hit in index.search("Carrefour", among=np.array([11]))} == {11}
    assert index.search("Carrefour", among=np.array([], dtype=np.int64)) == []


def test_prefixes_and_exact_look_ups(index: NameIndex) -> None:
    assert [hit.owner for hit in index.prefix("carr")] == [10, 11]
    assert [hit.owner for hit in index.exact("CAFÉ DE PARIS MONTE CARLO")] == [2]
    assert index.prefix("97 97") == []


@pytest.mark.parametrize(
    "query", ["", " ", "?!", "\x00", '" OR 1=1 --', "NEAR(a b)", "a" * 10_000_000, "*", "%", "'; DROP TABLE name; --"]
)
def test_nothing_in_a_query_is_an_order(index: NameIndex, query: str) -> None:
    for hits in (index.search(query), index.exact(query), index.prefix(query)):
        assert all(hit.score <= 1 for hit in hits)
    assert index.search("Carrefour")[0].owner == 10


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_is_a_share_and_one_only_for_equals(a: str, b: str) -> None:
    from geosleuth.atlas.search import exact_key

    alike = similarity(exact_key(a), exact_key(b))
    assert 0 <= alike <= 1
    if exact_key(a).replace(" ", "") != exact_key(b).replace(" ", ""):
        assert alike < 1


def test_keys() -> None:
    assert compact_key("C0RNER Shop") == compact_key("comer sh0p")
    assert latin_key("Москва") == "moskva"
    assert latin_key("Zürich") is None


def test_three_errors_in_random_names_are_forgiven() -> None:
    conn = sqlite3.connect(":memory:")
    create_tables(conn)
    rng = random.Random(3)
    syllables = ["ka", "lo", "mer", "tin", "vas", "po", "ren", "dul", "shi", "gra", "fen", "bor", "qui", "zan"]
    names = [" ".join("".join(rng.choices(syllables, k=3)) for _ in range(rng.choice([1, 2, 3]))) for _ in range(5000)]
    add_names(conn, ((number, name, 0) for number, name in enumerate(names, 1)))
    finish(conn)
    big = NameIndex(conn)
    right = 0
    for number in rng.sample(range(1, 5001), 300):
        letters = list(names[number - 1])
        for _ in range(1 if len(letters) < 10 else 3):
            letters[rng.randrange(len(letters))] = rng.choice("aeioukmnt")
        hits = big.search("".join(letters), limit=5)
        right += names[number - 1] in [names[hit.owner - 1] for hit in hits]
    conn.close()
    assert right >= 285


_WRITTEN = st.lists(st.text(alphabet="abcdilmnorvw015q |'.東京éя", max_size=12).map(exact_key), max_size=40)


def _triples_by_name(names: list[str]) -> set[tuple[str, int]]:
    return {(gram, place) for place, name in enumerate(names) for gram in search.triples(search.squeeze(name))}


@given(_WRITTEN)
def test_triples_of_many_names_are_those_of_each(names: list[str]) -> None:
    codes, places = search.text_triples("".join(f"{name}\n" for name in names))
    found = list(zip(search.spell_triples(codes), places.tolist(), strict=True))
    assert found == sorted(found)
    assert len(set(found)) == len(found)
    assert set(found) == _triples_by_name(names)


def test_triples_of_more_letters_than_fit_one_number_are_the_same() -> None:
    """Half a million letters take 19 bits each, which leaves seven for the name."""
    names = ["".join(map(chr, range(start, start + 1000))) for start in range(0x20000, 0xA0000, 1000)]
    codes, places = search.text_triples("".join(f"{name}\n" for name in names))
    assert set(zip(search.spell_triples(codes), places.tolist(), strict=True)) == _triples_by_name(names)
    assert codes.tolist() == sorted(codes.tolist())


def test_names_in_several_batches_and_from_earlier_versions_are_found_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    names = [(number, "".join(chance.choices("abcde", k=6)), 0) for number in range(1, 3001)]

    def made(batch: int) -> sqlite3.Connection:
        monkeypatch.setattr(index_module, "_BATCH", batch)
        conn = sqlite3.connect(":memory:")
        create_tables(conn)
        add_names(conn, names)
        finish(conn)
        return conn

    at_once, in_parts, earlier = made(10_000), made(7), made(10_000)
    assert at_once.execute("SELECT * FROM gram").fetchall() == in_parts.execute("SELECT * FROM gram").fetchall()
    for gram, packed in earlier.execute("SELECT gram, names FROM gram").fetchall():
        gaps = np.diff(index_module._unpack(packed), prepend=0).astype("<u4")
        earlier.execute("UPDATE gram SET names = ? WHERE gram = ?", (zlib.compress(gaps.tobytes()), gram))
    for query in ("abcdea", "eeddcc", "bad"):
        assert NameIndex(at_once).search(query) == NameIndex(earlier).search(query)
    for conn in (at_once, in_parts, earlier):
        conn.close()
