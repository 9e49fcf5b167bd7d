"""The templates of reports, ``templates/*.html.j2``: filled by Jinja2, which escapes all that is not markup already.

What comes out is `Html`, and so is what drawings and smaller pieces are made of: either can stand in the other. As in
`geosleuth.report.markup`, values lose control and direction characters on their way in. Line ends and indentation
of a template are its layout, not the page's.
"""

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from geosleuth.report.markup import Html, clean, name

if TYPE_CHECKING:
    from jinja2 import Environment

_BETWEEN_TAGS = re.compile(r"(?<=[>}])\n\s*|\n\s*(?=[<{])")
_LINE_END = re.compile(r"\n\s*")


def render(template: str, **values: object) -> Html:
    """Fill a template; a value that it asks for and does not get is an error.

    Its name is one of ``templates``, or with its package before a colon, one beside that package's modules.
    """
    return Html(_environment().get_template(f"{template}.html.j2").render(values))


@cache
def _environment() -> "Environment":
    # Reports are not all that commands do: who makes none does not pay for the import.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean_value,
        auto_reload=False,
    )
    made.filters |= {"clean": clean, "name": name, "capital": capital}
    return made


def _source(file_name: str) -> str | None:
    package, colon, own_name = file_name.partition(":")
    path = files(package).joinpath(own_name) if colon else files(__package__).joinpath("templates", file_name)
    if not path.is_file():
        return None
    return _LINE_END.sub(" ", _BETWEEN_TAGS.sub("", path.read_text(encoding="utf-8").strip()))


def _clean_value(value: object) -> object:
    return value if hasattr(value, "__html__") else clean(str(value))


def capital(words: str) -> str:
    """Return the words with a capital at the beginning."""
    return words[:1].upper() + words[1:]
