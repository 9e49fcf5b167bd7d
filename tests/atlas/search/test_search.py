"""Names found although they were misread, cut, reordered or written in another script."""

import random
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, groupby
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geosleuth.atlas import search
from geosleuth.atlas.regions import geometry, pbf, region_names
from geosleuth.atlas.regions.region_file import run_script
from geosleuth.atlas.regions.region_names import RegionNames, search_names
from geosleuth.atlas.search import exact_key, latin_key, similarity, squeeze

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


def indexed(names: Iterable[tuple[int, str, int]], keys_at_once: int = 100_000) -> sqlite3.Connection:
    """The index of a region with these owners, names and roles."""
    conn = sqlite3.connect(":memory:")
    run_script(conn, region_names.TABLES)
    rows = [
        (region_names.get_length_class(key), key, owner, max(role, 1) if latin else role, text)
        for owner, text, role in names
        for key, latin in region_names.make_keys(text)
    ]
    same = [list(group) for _, group in groupby(sorted(rows), key=itemgetter(0, 1))]
    parts = (chain.from_iterable(same[at : at + keys_at_once]) for at in range(0, len(same), keys_at_once))
    region_names.write_names(conn, map(region_names.build_spellings, parts))
    return conn


@pytest.fixture
def index() -> Iterator[RegionNames]:
    conn = indexed(NAMES)
    yield RegionNames(conn, {})
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
def test_what_was_meant_comes_first(index: RegionNames, query: str, owner: int) -> None:
    assert index.search(query)[0].owner == owner


def test_an_exact_name_beats_a_longer_one_and_says_so(index: RegionNames) -> None:
    hits = index.search("carrefour")
    assert [hit.owner for hit in hits[:2]] == [10, 11]
    assert hits[0].match == "exact"
    assert hits[0].score == 1.0
    assert hits[1].match == "fuzzy"
    assert index.search("Salutorget")[0].match == "alias"


def test_only_the_owners_asked_for_are_found(index: RegionNames) -> None:
    assert {hit.owner for hit in index.search("Carrefour", keep=lambda owners: owners == 11)} == {11}
    assert index.search("Carrefour", keep=lambda owners: np.zeros(len(owners), dtype=bool)) == []


def test_several_indexes_are_searched_as_one(index: RegionNames) -> None:
    parts = [indexed(NAMES[:7]), indexed(NAMES[7:])]
    indexes = [RegionNames(conn, {}) for conn in parts]
    for query in ("Carrefour", "Rue Grirnaldi", "Obshchezhitie", "97 97 80 00", "Cafe de Pari5 Monte Car1o"):
        together = search_names(indexes, query, limit=20)
        best, one = together[0], index.search(query)[0]
        assert (best[1].owner, best[1].match) == (one.owner, one.match)
        assert best[0] == (one.owner > 5)
        assert best[1].score == pytest.approx(one.score)
    only_first = [lambda owners: owners == 10, lambda owners: owners == 11]
    assert [(number, hit.owner) for number, hit in search_names(indexes, "Carrefour", limit=9, keeps=only_first)] == [
        (1, 11)
    ]
    for conn in parts:
        conn.close()


def test_it_is_said_which_of_several_indexes_is_damaged() -> None:
    parts = [indexed(NAMES), indexed(NAMES)]
    parts[1].execute("UPDATE gram SET spellings = x'01ffffffffff'")
    indexes = [RegionNames(conn, {}) for conn in parts]
    blamed: list[int] = []

    @contextmanager
    def reading(number: int) -> Iterator[None]:
        try:
            yield
        except LookupError:
            blamed.append(number)
            raise

    with pytest.raises(LookupError):
        search_names(indexes, "Kauppatorl", limit=5, reading=reading)
    assert blamed == [1]
    for conn in parts:
        conn.close()


def test_prefixes_and_exact_look_ups(index: RegionNames) -> None:
    assert [hit.owner for hit in index.prefix("carr")] == [10, 11]
    assert [hit.owner for hit in index.exact("CAFÉ DE PARIS MONTE CARLO")] == [2]
    assert index.prefix("97 97") == []


@pytest.mark.parametrize(
    "query", ["", " ", "?!", "\x00", '" OR 1=1 --', "NEAR(a b)", "a" * 10_000_000, "*", "%", "'; DROP TABLE name; --"]
)
def test_nothing_in_a_query_is_an_order(index: RegionNames, query: str) -> None:
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
    assert squeeze(exact_key("C0RNER Shop")) == squeeze(exact_key("comer sh0p"))
    assert latin_key("Москва") == "moskva"
    assert latin_key("Zürich") is None


def test_three_errors_in_random_names_are_forgiven() -> None:
    rng = random.Random(3)
    syllables = ["ka", "lo", "mer", "tin", "vas", "po", "ren", "dul", "shi", "gra", "fen", "bor", "qui", "zan"]
    names = [" ".join("".join(rng.choices(syllables, k=3)) for _ in range(rng.choice([1, 2, 3]))) for _ in range(5000)]
    conn = indexed((number, name, 0) for number, name in enumerate(names, 1))
    big = RegionNames(conn, {})
    right = 0
    for number in rng.sample(range(1, 5001), 300):
        letters = list(names[number - 1])
        for _ in range(1 if len(letters) < 10 else 3):
            letters[rng.randrange(len(letters))] = rng.choice("aeioukmnt")
        hits = big.search("".join(letters), limit=5)
        right += names[number - 1] in [names[hit.owner - 1] for hit in hits]
    conn.close()
    assert right >= 285


def _made_up(count: int) -> list[tuple[int, str, int]]:
    chance = random.Random(3)
    return [(number, "".join(chance.choices("abcde", k=chance.randint(3, 30))), 0) for number in range(1, count + 1)]


def test_a_common_triple_is_not_read_to_its_end_and_what_was_meant_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five letters make a hundred and twenty-five triples: each stands in hundreds of names."""
    names = _made_up(3000)
    monkeypatch.setattr(region_names, "_TOGETHER", 20)
    conn = indexed(names)
    index = RegionNames(conn, {})
    read: list[int] = []
    unpacked = geometry.unpack_all

    def counted(packed: Sequence[bytes], firsts: pbf.Ints | None) -> tuple[pbf.Ints, pbf.Ints, pbf.Ints]:
        numbers, runs, counts = unpacked(packed, firsts)
        read.append(len(numbers))
        return numbers, runs, counts

    monkeypatch.setattr(region_names, "unpack_all", counted)
    monkeypatch.setattr(region_names, "_MAX_READ", 3000)
    monkeypatch.setattr(region_names, "_MAX_READ", 3000)
    right = 0
    long = [name for _, name, _ in names if len(name) > 15][:100]
    for name in long:
        read.clear()
        misread = f"{name[:7]}x{name[8:]}"
        right += index.search(misread, limit=5)[0].text.casefold() == name
        assert sum(read) <= 3000
    conn.close()
    assert right >= 97


def test_very_long_misread_names_are_found() -> None:
    """The weights of its triples come to more than the constant that counts them, unless that is adapted."""
    chance = random.Random(8)
    long = ["".join(chance.choices("bdfghjkmnprtuvwxyz", k=letters)) for letters in range(90, 160, 10)]
    names = [(number, "".join(chance.choices("abe", k=8)), 0) for number in range(1, 20_001)]
    names += [(number, name, 0) for number, name in enumerate(long, start=len(names) + 1)]

    class Names(search.NameIndex):
        def _read_names(self, ids: Sequence[int]) -> Iterable[tuple[int, int, str, int, str]]:
            return [(number, number, names[number - 1][1], 0, names[number - 1][1]) for number in ids]

    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE gram (gram TEXT PRIMARY KEY, names BLOB)")
        conn.execute('CREATE TABLE name_column ("column" TEXT PRIMARY KEY, bytes BLOB)')
        owners = np.array([owner for owner, _, _ in names], dtype=np.uint32)
        search.write_grams(conn, [(owners, "".join(f"{name}\n" for _, name, _ in names))])
        index = Names(conn, {})
        assert [[hit.text for hit in index.search(name[:40] + name[41:], limit=1)] for name in long] == [
            [name] for name in long
        ]
