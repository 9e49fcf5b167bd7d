"""The page's sources: every word comes from the strings file, and the types are those of the server."""

import json
import re
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))

from build_page_types import TYPES, page_types, type_of

SOURCES = Path(__file__).parents[3] / "page" / "src"

# Words between tags, and in the attributes that people read or hear.
WORDS = re.compile(r">\s*([A-Za-z][^<>{}]*[a-z][^<>{}]*)\s*</")
SPOKEN = re.compile(r"""\b(?:aria-label|title|placeholder|alt|label)=["']([^"']*[A-Za-z][^"']*)["']""")
USED = re.compile(r"""\b(?:t|counted|maybe)\(\s*(?:[^()"'`]*\?\s*)?["'`]([^"'`]+)["'`]""")


def sources() -> list[Path]:
    found = [*SOURCES.rglob("*.tsx"), *SOURCES.rglob("*.ts")]
    assert len(found) > 40
    return found


@cache
def strings() -> dict[str, str]:
    loaded: dict[str, str] = json.loads((SOURCES / "strings" / "en.json").read_text())
    return loaded


def test_no_visible_word_is_written_in_the_code() -> None:
    written = {
        f"{path.relative_to(SOURCES)}: {words.strip()}"
        for path in SOURCES.rglob("*.tsx")
        for pattern in (WORDS, SPOKEN)
        for words in pattern.findall(path.read_text())
    }
    assert written == set()


def test_every_string_is_used_and_numbers_have_both_forms() -> None:
    code = "\n".join(path.read_text() for path in sources())
    stems = {key.rsplit(".", 1)[0] for key in strings() if key.endswith((".one", ".other"))}
    assert {f"{stem}.{form}" for stem in stems for form in ("one", "other")} <= set(strings())
    # Keys that are made from data, such as the name of a state, are known by how they begin.
    made = {found.split("${")[0] for found in re.findall(r"`([\w.]+\.\$\{[^`]*)`", code)}
    unused = {
        key
        for key in strings()
        if f'"{key}"' not in code
        and not (key.endswith((".one", ".other")) and f'"{key.rsplit(".", 1)[0]}"' in code)
        and not any(key.startswith(start) for start in made)
    }
    assert unused == set()


def test_nothing_is_set_as_markup() -> None:
    for path in sources():
        assert not re.search(
            r"dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write|\beval\(", path.read_text()
        ), path


def test_no_file_has_grown_past_reading() -> None:
    long = {str(path.relative_to(SOURCES)): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in long.items() if lines > 300} == {}


def test_types_are_those_that_the_server_promises() -> None:
    assert TYPES.read_text(encoding="utf-8") == page_types(), "the types are out of date: run `make page`"


def test_types_are_made_of_every_form_of_schema() -> None:
    box = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    maybe = {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]}
    whole = {"type": "object", "properties": {"box": box, "more": maybe}, "required": ["box"]}
    assert type_of(whole) == "{ box: [number, number]; more?: Thing | null }"
    assert type_of({"type": "array", "items": {"enum": ["a", "b"]}}) == '("a" | "b")[]'
    assert type_of({"type": "object", "additionalProperties": {"type": "number"}}) == "Record<string, number>"
