"""How houses and roads look, by country: a small table written by hand, enough to tell broad styles apart."""

from dataclasses import dataclass
from typing import Literal

from geosleuth.world.model import Line, Roof, Wall


def codes(text: str) -> frozenset[str]:
    """ISO codes that stand in a row."""
    return frozenset(text.split())


Poles = Literal["wood", "concrete", "metal", "none"]


@dataclass(frozen=True, slots=True)
class Style:
    """A way to build, shared by neighbouring countries; the first of each list is the commonest."""

    words: str
    countries: str
    walls: tuple[Wall, ...]
    wall_colours: tuple[str, ...]
    roofs: tuple[Roof, ...]
    roof_colours: tuple[str, ...]
    storeys: tuple[int, int]
    poles: Poles = "none"
    wires: bool = False


STYLES = (
    Style(
        "plastered houses under steep tiled roofs, without overhead wires", "DE AT CH LU LI",
        ("plaster", "plaster", "stone"),
        ("#efe6d0", "#f3dfb8", "#e8d9c9", "#d9dccb", "#f0ece4", "#dfc6a5"), ("gable", "hip"),
        ("#8a3f2c", "#71392b", "#5b4238"), (3, 5),
    ),
    Style(
        "timber and plaster in red, ochre and white, with metal or tiled gables", "SE NO FI DK IS EE LV LT",
        ("timber", "plaster", "brick"), ("#a23b2a", "#e6c56b", "#eef0ec", "#c9d3d6", "#8f9f7d", "#d8b48a"),
        ("gable", "hip"), ("#3e4347", "#5a3a32", "#77797a"), (2, 4),
    ),
    Style(
        "brick terraces with slate gables and chimneys", "GB IE", ("brick", "brick", "stone"),
        ("#8e4b38", "#a35f45", "#b79a7c", "#7a4436", "#c7b9a1"), ("gable",), ("#4a4d55", "#5b5653"), (2, 3), "wood",
        wires=True,
    ),
    Style(
        "narrow brick fronts with stepped or steep gables", "NL BE", ("brick", "brick", "plaster"),
        ("#7d3f30", "#96523f", "#b0714f", "#e8e2d5", "#5f3a32"), ("gable",), ("#a34a2f", "#4b4a4d"), (2, 4),
    ),
    Style(
        "pale stone and plaster with grey mansard roofs and shutters", "FR MC", ("stone", "plaster"),
        ("#e9dfc8", "#ded0b4", "#f1ead9", "#d8cbb6"), ("hip", "gable"), ("#5b6168", "#9a5a40"), (3, 5),
    ),
    Style(
        "ochre and white plaster under low roofs of round tiles", "IT ES PT GR HR SI MT CY AD",
        ("plaster", "plaster", "stone"),
        ("#e7b778", "#d99a63", "#f2e3c6", "#f7f3ea", "#c97f5a", "#eed9a9"), ("hip", "terrace", "flat"),
        ("#b5643c", "#c77a4d", "#a8552f"), (2, 5),
    ),
    Style(
        "painted plaster and slabs of concrete", "PL CZ SK HU RO BG RS UA RU KZ BY MD",
        ("plaster", "concrete", "brick"), ("#e4d3a8", "#c8cfb6", "#d6c3b5", "#bfc4c6", "#e8e0d0", "#c9a27c"),
        ("gable", "hip", "flat"), ("#7e3b2c", "#5a4b45", "#6f7375"), (2, 5), "concrete", wires=True,
    ),
    Style(
        "low wooden and brick fronts with wires on wooden poles", "US CA", ("timber", "brick", "metal"),
        ("#e9e7e0", "#b9c3c9", "#9a5240", "#d7cba9", "#7f8d7a", "#c2a58b"), ("flat", "gable"),
        ("#4d4a48", "#6b5a4e", "#777b7d"), (1, 3), "wood", wires=True,
    ),
    Style(
        "low, brightly painted fronts with flat roofs and wires on concrete poles",
        "BR AR CL PE CO MX UY EC BO PY GT CR PA DO CU", ("plaster", "concrete", "plaster"),
        ("#e8a33d", "#3f8fa6", "#c9473d", "#f1ead8", "#6aa35a", "#d97fa0", "#f3d36b"), ("flat", "terrace"),
        ("#a2593c", "#8d8d8a"), (1, 3), "concrete", wires=True,
    ),
    Style(
        "narrow concrete and tiled houses under many wires on concrete poles", "JP KR TW",
        ("tiles", "concrete", "tiles"),
        ("#d9d6cc", "#c8c2b6", "#b9a993", "#e6e3dc", "#a7adb0"), ("flat", "gable"), ("#4a5560", "#3c4750", "#7a7f80"),
        (2, 5), "concrete", wires=True,
    ),
    Style(
        "tall tiled and concrete blocks with balconies", "CN HK SG MO", ("tiles", "concrete", "concrete"),
        ("#d8cfc0", "#c5b9a8", "#e0dcd3", "#b2a79b"), ("flat",), ("#7f8285", "#8f8a83"), (4, 7),
    ),
    Style(
        "narrow shop houses of painted concrete under bundles of wires", "TH VN MY ID PH MM KH LA LK",
        ("concrete", "plaster", "tiles"),
        ("#e9d9b0", "#9cc3b0", "#e3b0a0", "#f2efe6", "#b4cbe0", "#d7c26a"), ("terrace", "flat", "hip"),
        ("#9b4a34", "#7f8486", "#3f6b5a"), (2, 4), "concrete", wires=True,
    ),
    Style(
        "flat-roofed concrete and painted plaster with hanging wires", "IN PK BD NP", ("plaster", "concrete", "brick"),
        ("#e5b46c", "#7fb3b0", "#d98a7a", "#efe7d2", "#a9b979", "#c9a3c0"), ("flat", "terrace"), ("#9a948a", "#8a7a6b"),
        (2, 4), "concrete", wires=True,
    ),
    Style(
        "flat-roofed houses in the colours of sand", "EG SA AE IR MA DZ TN JO IQ OM QA KW",
        ("plaster", "adobe", "concrete"), ("#d9c19a", "#e6d6b8", "#c9a77c", "#efe6d2", "#b98f68"), ("flat", "terrace"),
        ("#b9a382", "#a8937a"), (2, 4), "metal", wires=True,
    ),
    Style(
        "plaster and pale stone blocks with flat roofs and balconies", "IL TR LB SY", ("stone", "plaster", "concrete"),
        ("#e2d7bd", "#d3c3a1", "#ece6d8", "#cdb491"), ("flat", "hip"), ("#a9583a", "#9a9489"), (3, 5), "concrete",
    ),
    Style(
        "tuff and plaster with balconies under metal roofs", "GE AM AZ", ("stone", "plaster", "brick"),
        ("#b98873", "#c9a48c", "#d8cbb5", "#9d6f60"), ("hip", "flat"), ("#7b4435", "#6d7073"), (2, 5), "metal",
        wires=True,
    ),
    Style(
        "low painted shops under sheets of corrugated metal", "KE TZ NG ET GH UG RW SN CI CM",
        ("plaster", "metal", "adobe"), ("#d9b184", "#6fa3b8", "#c96a4f", "#e9e1cf", "#8fae6b", "#e3c14f"),
        ("gable", "flat"), ("#9a5f45", "#8c9092"), (1, 2), "wood", wires=True,
    ),
    Style(
        "low brick and weatherboard under corrugated iron and verandas", "AU NZ ZA", ("timber", "brick", "plaster"),
        ("#e8e2d2", "#a65f45", "#c4d0cf", "#d9c79c", "#8a9a8b"), ("gable", "hip"), ("#7d8488", "#8a4436", "#4c5a55"),
        (1, 2), "wood", wires=True,
    ),
)  # fmt: skip


def style_of(country: str) -> Style:
    """The way to build in a country; Central Europe's where it is not known."""
    return next((style for style in STYLES if country in style.countries.split()), STYLES[0])


_YELLOW_CENTRE = codes("US CA MX BR AR CO PE NO KR CN TW TH VN PH SA IR EC")
_DOUBLE_CENTRE = codes("US CA BR CN KR TW CO")
_YELLOW_EDGE = codes("ZA IL IE AE SA KE NA BW")
_NO_EDGE = codes("GB NL JP IN VN ID NP BD KE TZ NG ET")


def centre_line(country: str) -> tuple[Line, bool]:
    """The colour of the line down the middle of a larger road, and whether it is a pair."""
    return ("yellow" if country in _YELLOW_CENTRE else "white"), country in _DOUBLE_CENTRE


def edge_line(country: str) -> Line:
    """The colour of the line along the edge of a larger road."""
    return "yellow" if country in _YELLOW_EDGE else "none" if country in _NO_EDGE else "white"
