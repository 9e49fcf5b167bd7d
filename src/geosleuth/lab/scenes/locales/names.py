"""Names of towns and streets, postcodes and area codes by country, where a language alone does not decide them."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from .tables import parts, read_packed_pairs, read_table

_USUAL_TOWN_COUNT: Final = 12
_COLUMNS: Final = (
    "code", "town_count", "postcode", "coaches", "surnames", "only_in_regions", "not_in_regions", "exonyms",
    "street_forms", "street_stems", "streets",
)  # fmt: skip

# GeoNames numbers of settlements whose streets would extend into another country.
BORDER_SETTLEMENTS: Final = frozenset({
    186180, 303750, 318668, 324944, 345818, 634093, 1255211, 1267758, 1268855, 1295301, 1808588, 2461874, 2521456,
    2660108, 2661810, 2737523, 2783820, 2814791, 2847639, 2885679, 3014034, 3077882, 3460232, 3464705, 3665016, 3671325,
    3924895, 3925227, 4676740, 5312913, 6087892, 8199378, 8199394, 11905975, 13405906, 13527308, 13527315, 13527316,
    13527318,
})  # fmt: skip

_CYRILLIC: Final = {
    "Dž": "Џ", "Lj": "Љ", "Nj": "Њ", "dž": "џ", "lj": "љ", "nj": "њ",
    **dict(zip("ABVGDĐEŽZIJKLMNOPRSTĆUFHCČŠ", "АБВГДЂЕЖЗИЈКЛМНОПРСТЋУФХЦЧШ", strict=True)),
    **dict(zip("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш", strict=True)),
}  # fmt: skip

FIGURES: Final = "0123456789"
FIRST_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_LETTERS: Final = "ABCEGHJKLMNPRTVXY"  # none that any of the countries leaves out


@dataclass(frozen=True, slots=True)
class NamedCountry:
    """Facts about a country that hold in all its languages.

    In ``postcode`` a ``#`` is a figure, an ``@`` a letter; it is empty where codes need a table of places (the United
    Kingdom, Ireland, Peru), or there are none. ``only_in_regions`` and ``not_in_regions`` are first-level regions, by
    GeoNames' code, for countries where the signs of some are in another language than the land's table. ``exonyms``
    are the atlas's names with those on signs. Streets are as those of a `Language`; empty where they go by that.
    """

    town_count: int = _USUAL_TOWN_COUNT
    postcode: str = ""
    coaches: str = ""
    surnames: tuple[str, ...] = ()
    only_in_regions: frozenset[str] = frozenset()
    not_in_regions: frozenset[str] = frozenset()
    exonyms: tuple[tuple[str, str], ...] = ()
    street_forms: tuple[str, ...] = ()
    street_stems: tuple[str, ...] = ()
    streets: tuple[str, ...] = ()

    def name_on_signs(self, name: str) -> str:
        """Return how a town with this name in the atlas writes itself."""
        return dict(self.exonyms).get(name, name)


def _parse_country_row(row: dict[str, str]) -> NamedCountry:
    exonyms = [pair.partition("=") for pair in parts(row["exonyms"])]
    return NamedCountry(
        int(row["town_count"] or _USUAL_TOWN_COUNT), row["postcode"], row["coaches"], parts(row["surnames"]),
        frozenset(parts(row["only_in_regions"])), frozenset(parts(row["not_in_regions"])),
        tuple((name, on_signs) for name, _, on_signs in exonyms),
        parts(row["street_forms"]), parts(row["street_stems"]), parts(row["streets"]),
    )  # fmt: skip


COUNTRIES: Final = {row["code"]: _parse_country_row(row) for row in read_table("countries.tsv", _COLUMNS)}


def get_country(code: str) -> NamedCountry:
    """Return what holds for a country; for one without a row, what is usual."""
    return COUNTRIES.get(code, NamedCountry())


def in_cyrillic(name: str) -> str:
    """Return a Serbian name in Serbia's other alphabet."""
    for latin, cyrillic in _CYRILLIC.items():
        name = name.replace(latin, cyrillic)
    return name


def apply_spelling(text: str, country: str) -> str:
    """Return a text as the country spells its language: Switzerland has no ß."""
    return text.replace("ß", "ss") if country == "CH" else text


@cache
def areas() -> dict[str, str]:
    """Return area codes by GeoNames number ("2950159") and by region ("BR.27")."""
    return read_packed_pairs("areas.tsv.gz")


def list_mask_options(sign: str) -> str:
    """Return what may stand at a place of a mask."""
    return FIGURES if sign == "#" else _LETTERS if sign == "@" else sign


@cache
def beginnings() -> dict[str, tuple[str, ...]]:
    """Return the prefixes of codes by region ("FR.11") or GeoNames number; by country where codes show regions.

    ``scripts/build_postcode_beginnings.py`` makes the packed table from what the atlas knows; the plain one has some
    countries whose regions the atlas does not know so.
    """
    written = {row["region"]: row["beginnings"] for row in read_table("beginnings.tsv", ("region", "beginnings"))}
    return {code: tuple(found.split()) for code, found in (read_packed_pairs("postcodes.tsv.gz") | written).items()}
