"""Pages of the field guide: all of one place, or all of one attribute."""

from collections.abc import Mapping

from geosleuth.errors import BadInput

from .tables import CHANCE, FieldGuide, Grade


def of_place(guide: FieldGuide, code: str) -> Mapping[str, Mapping[str, Grade]]:
    """Return the values of a place by the attribute's label, each with its grade, the most common first.

    Raises:
        BadInput: no table has the place.
    """
    found = {
        attribute.label: {guide.values[name][value].label: grade for value, grade in _ranked(guide.grades[name][code])}
        for name, attribute in guide.attributes.items()
        if code in guide.grades[name]
    }
    if not found:
        raise BadInput(
            f"The field guide has no place and no attribute {code!r}. Places are countries by name or ISO code, or "
            f"regions such as US-TX; attributes are {', '.join(guide.attributes)}"
        )
    return found


def of_attribute(guide: FieldGuide, name: str) -> Mapping[str, Mapping[str, Grade]]:
    """Return the places of each value of an attribute by the value's label, each with its grade."""
    return {
        value.label: dict(_ranked({place: row[key] for place, row in guide.grades[name].items() if key in row}))
        for key, value in guide.values[name].items()
    }


def _ranked(grades: Mapping[str, Grade]) -> list[tuple[str, Grade]]:
    return sorted(grades.items(), key=lambda pair: (-CHANCE[pair[1]], pair[0]))
