"""The tables of the field guide: attributes of streets, their values, and how common each value is where.

A table is a plain CSV file that a person can correct: ``data/attributes/NAME.csv`` with the columns place (the ISO 3166
code of a country or of a region in it), value, grade and checked (a key of the list of sources).
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, get_args

from geosleuth.names import country_code
from geosleuth.support.errors import BadInput, DataFault

Grade = Literal["always", "common", "rare", "never"]
Visible = Literal["often", "sometimes", "seldom"]

# Probability that a photo which shows the attribute at all shows a value of this grade. Judgements, not measured.
GRADE_PROBABILITIES: Mapping[Grade, float] = {"always": 0.9, "common": 0.5, "rare": 0.08, "never": 0.003}

# Probability of a value without a grade in a country whose other values were checked.
UNLISTED_PROBABILITY = 0.02

# Source of rows that were written from general knowledge and have not been checked.
UNCHECKED = "unchecked"

# A checklist shows so many forms of a thing at most, of those that so many countries have at least.
MAX_FORMS, MIN_PLACES = 12, 2

_READ = frozenset({
    "language", "special_letters", "web_domain", "phone_prefix", "phone_grouping", "postcode_form", "currency_sign",
    "petrol_brand", "road_number", "road_number_shield", "stop_sign_word", "sun_at_noon", "camera_trace", "pole_marks",
})  # fmt: skip

# Code used in the tables for each province of China, by its current ISO 3166-2 code.
_CHINA: Mapping[str, str] = {
    "BJ": "11", "TJ": "12", "HE": "13", "SX": "14", "NM": "15", "LN": "21", "JL": "22", "HL": "23", "SH": "31",
    "JS": "32", "ZJ": "33", "AH": "34", "FJ": "35", "JX": "36", "SD": "37", "HA": "41", "HB": "42", "HN": "43",
    "GD": "44", "GX": "45", "HI": "46", "CQ": "50", "SC": "51", "GZ": "52", "YN": "53", "XZ": "54", "SN": "61",
    "GS": "62", "QH": "63", "NX": "64", "XJ": "65",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that streets show, such as the centre line.

    Attributes:
        name: its name in tables and arguments.
        label: its name for people.
        question: what a checklist asks.
        group: what it belongs to: road, signs, vehicles, street, buildings, nature, writing, sky, camera.
        visible: how often a street photo shows it.
        complete: whether its table lists all that a country has, so that what is not listed is hardly there.
        heads: words that only name the thing and stand for each other, such as pole and post.
        unless: words that say that another thing is meant.
    """

    name: str
    label: str
    question: str
    group: str
    visible: Visible
    complete: bool
    heads: frozenset[str]
    unless: frozenset[str]


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """One of the forms that an attribute has; ``phrases`` are the words that people describe it with."""

    attribute: str
    name: str
    label: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactSource:
    """Source of checked facts."""

    title: str
    address: str


@dataclass(frozen=True)
class FieldGuide:
    """All tables.

    Attributes:
        attributes: by name, in the order of the checklist.
        values: by attribute and name.
        grades: by attribute, place and value.
        checked: the key of its source, by attribute, place and value.
        sources: by key.
        words: what people say, and the words of tables that it means.
    """

    attributes: Mapping[str, Attribute]
    values: Mapping[str, Mapping[str, AttributeValue]]
    grades: Mapping[str, Mapping[str, Mapping[str, Grade]]]
    checked: Mapping[tuple[str, str, str], str] = field(repr=False)
    sources: Mapping[str, FactSource] = field(repr=False)
    words: Mapping[str, str] = field(repr=False)

    @cached_property
    def places(self) -> frozenset[str]:
        """Every country and region that some table names."""
        return frozenset(place for table in self.grades.values() for place in table)

    def chance(self, attribute: str, place: str, value: str) -> float | None:
        """Return how often a photo of the attribute shows the value there; None where the tables have no row.

        A region without a row of its own is as its country is.
        """
        table = self.grades[attribute]
        known = table.get(place)
        if known is None or (value not in known and "-" in place):
            known = table.get(place.partition("-")[0])
        if known is None:
            return None
        grade = known.get(value)
        return UNLISTED_PROBABILITY if grade is None else GRADE_PROBABILITIES[grade]

    def is_checked(self, attribute: str, place: str, value: str) -> bool:
        """Return whether the row that `chance` reads was looked up somewhere."""
        held = place if value in self.grades[attribute].get(place, {}) else place.partition("-")[0]
        return self.checked.get((attribute, held, value)) != UNCHECKED

    def counts(self) -> Mapping[str, int]:
        """Return how large the tables are, and how many rows are unchecked."""
        regions = sum("-" in place for place in self.places)
        return {
            "attributes": len(self.attributes),
            "values": sum(map(len, self.values.values())),
            "countries and territories": len(self.places) - regions,
            "regions": regions,
            "rows": len(self.checked),
            "unchecked rows": sum(source == UNCHECKED for source in self.checked.values()),
            "sources": len(self.sources) - 1,
        }

    def resolve_code(self, code: str) -> str:
        """Return the code itself if a table has it, else that of its country."""
        return code if code in self.places else code.partition("-")[0]

    def stand_ins(self, codes: Iterable[str]) -> str:
        """Say which countries stand in for regions that no table has; empty where none does."""
        coarser = [f"{self.resolve_code(code)} for {code}" for code in codes if self.resolve_code(code) != code]
        return f"Taken: {', '.join(coarser)}, which the guide has no table of." if coarser else ""

    def describe_regions(self, codes: Iterable[str]) -> str:
        """Say which regions of these codes' countries the tables have, or how places are named."""
        countries = {code.partition("-")[0] for code in codes}
        regions = sorted(place for place in self.places if "-" in place and place.partition("-")[0] in countries)
        return f"It has {', '.join(regions)}." if regions else "Use ISO codes, such as JP or US-TX."

    def attribute_called(self, text: str) -> str | None:
        """Return the attribute that a text names, however joined ("Guard-rails"), or by one word of it ("taxi")."""
        bare = _bare(text)
        spellings = (bare, bare.removesuffix("s"))
        named = [name for name in self.attributes if _bare(name) in spellings]
        named = named or [name for name in self.attributes if not {*name.split("_")}.isdisjoint(spellings)]
        return named[0] if len(named) == 1 else None

    def of_place(self, code: str) -> Mapping[str, Mapping[str, Grade]]:
        """Return the values of a place by the attribute's label, each with its grade, the most common first.

        Raises:
            BadInput: no table has the place.
        """
        found = {
            attribute.label: {
                self.values[name][value].label: grade for value, grade in _sort_grades(self.grades[name][code])
            }
            for name, attribute in self.attributes.items()
            if code in self.grades[name]
        }
        if not found:
            raise BadInput(
                f"The field guide has no place and no attribute {code!r}. Places are countries by name or ISO code, or "
                f"regions such as US-TX. {self.describe_regions([code])} Attributes are {', '.join(self.attributes)}"
            )
        return found

    def of_attribute(self, name: str) -> Mapping[str, Mapping[str, Grade]]:
        """Return the places of each value of an attribute by the value's label, each with its grade."""
        return {
            value.label: dict(_sort_grades({place: row[key] for place, row in self.grades[name].items() if key in row}))
            for key, value in self.values[name].items()
        }


@cache
def field_guide() -> FieldGuide:
    """Return the tables of the package.

    Raises:
        DataFault: one is missing or damaged.
    """
    folder = files(__package__) / "data"
    attributes = {
        row["attribute"]: Attribute(
            row["attribute"],
            row["label"],
            row["question"],
            row["group"],
            _read_choice(row, "visible", Visible),
            row["complete"] == "yes",
            frozenset(row["heads"].split()),
            frozenset(row["unless"].split()),
        )
        for row in _read_table(folder / "attributes.csv")
    }
    values: dict[str, dict[str, AttributeValue]] = {name: {} for name in attributes}
    for row in _read_table(folder / "values.csv"):
        phrases = tuple(phrase.strip() for phrase in row["words"].split(";") if phrase.strip())
        values[row["attribute"]][row["value"]] = AttributeValue(row["attribute"], row["value"], row["label"], phrases)
    sources = {row["key"]: FactSource(row["title"], row["address"]) for row in _read_table(folder / "sources.csv")}
    grades: dict[str, dict[str, dict[str, Grade]]] = {name: {} for name in attributes}
    checked: dict[tuple[str, str, str], str] = {}
    for name in attributes:
        for row in _read_table(folder / "attributes" / f"{name}.csv"):
            grades[name].setdefault(row["place"], {})[row["value"]] = _read_choice(row, "grade", Grade)
            checked[name, row["place"], row["value"]] = row["checked"]
    words = {row["said"]: row["means"] for row in _read_table(folder / "words.csv")}
    return FieldGuide(attributes, values, grades, checked, sources, words)


def checklist() -> list[tuple[Attribute, list[AttributeValue]]]:
    """Return what a checklist asks: what photos show often, each with the forms that several countries have.

    What is read rather than seen, such as phone numbers, is left to the reader of text.
    """
    guide = field_guide()
    found = []
    for name, attribute in guide.attributes.items():
        if attribute.visible == "seldom" or name in _READ:
            continue
        spread = Counter(
            value
            for place, row in guide.grades[name].items()
            for value, grade in row.items()
            if "-" not in place and grade != "never"
        )
        values = [guide.values[name][value] for value, count in spread.most_common(MAX_FORMS) if count >= MIN_PLACES]
        if len(values) > 1:
            found.append((attribute, values))
    return found


def place_code(name: str) -> str:
    """Return the code, as tables write it, of a country or region that is named or written as its ISO code."""
    text = name.strip()
    code = text.upper() if len(text) == 2 or "-" in text[:3] else country_code(text) or text.upper()
    return f"CN-{_CHINA.get(code[3:], code[3:])}" if code.startswith("CN-") else code


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _sort_grades(grades: Mapping[str, Grade]) -> list[tuple[str, Grade]]:
    return sorted(grades.items(), key=lambda pair: (-GRADE_PROBABILITIES[pair[1]], pair[0]))


def _read_table(path: Traversable) -> Iterator[dict[str, str]]:
    try:
        yield from csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    except (OSError, csv.Error) as error:
        raise DataFault(f"a table of the field guide can't be read: {path}") from error


def _read_choice(row: Mapping[str, str], column: str, words: Any) -> Any:
    """Return a word of a column that allows only these, the members of a ``Literal``."""
    if row[column] not in get_args(words):
        raise DataFault(f"the field guide has {row[column]!r} for {column}, not one of {', '.join(get_args(words))}")
    return row[column]
