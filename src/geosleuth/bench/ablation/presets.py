"""The papers' own ablations, each one command: their tool sets in our names, and the rows that they printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from geosleuth.errors import BadInput
from geosleuth.score import PublishedRow, published_rows

from .variants import Variant

_ZOOM, _WEB, _GEOCODE = "image_zoom_in_tool", "search_web", "maps_geocode"
_MAP_TOOLS = ("poi_input_tips", "poi_keyword_search", "poi_detail_query", "static_map_query", "satellite_map_query")


@dataclass(frozen=True, slots=True)
class Preset:
    """A table of a paper: its variants, the first of which the others are held against.

    ``mapping`` has the paper's names for tools and ours. ``systems`` has each variant's row as the paper names it.
    ``notes`` say what must be known before figures are held against the paper's.
    """

    name: str
    title: str
    paper: str
    table: int
    method: str
    mapping: Mapping[str, tuple[str, ...]] = field(hash=False)
    systems: Mapping[str, str] = field(hash=False)
    variants: tuple[Variant, ...]
    thresholds_km: tuple[float, ...]
    notes: tuple[str, ...] = ()

    def row(self, variant: str) -> PublishedRow | None:
        """The paper's row of a variant."""
        rows = published_rows(paper=self.paper, table=self.table)
        return next((row for row in rows if row.system == self.systems.get(variant)), None)

    @property
    def lines(self) -> list[str]:
        """Which of our tools stand for the paper's, a line each, and the notes."""
        named = [f"{theirs}: {', '.join(ours) or 'none'}" for theirs, ours in self.mapping.items()]
        return [*named, *self.notes]


def _tools(*names: str) -> dict[str, str]:
    return {"tools": ",".join(names) or "none"}


SPOTAGENT_TOOLS = Preset(
    name="spotagent-tools",
    title="SpotAgent, table 3: seven tool sets",
    paper="spotagent",
    table=3,
    method="spotagent",
    mapping={"Web Search (WS)": (_WEB,), "Visual Zoom (VZ)": (_ZOOM,), "Geo Coding (GC)": (_GEOCODE,)},
    systems={
        "full": "Full Toolset",
        "web": "Web Search Only",
        "zoom": "Visual Zoom Only",
        "geocode": "Geo Coding Only",
        "web+zoom": "WS & VZ",
        "geocode+zoom": "GC & VZ",
        "web+geocode": "WS & GC",
    },
    variants=(
        Variant("full", _tools(_ZOOM, _WEB, _GEOCODE)),
        Variant("web", _tools(_WEB)),
        Variant("zoom", _tools(_ZOOM)),
        Variant("geocode", _tools(_GEOCODE)),
        Variant("web+zoom", _tools(_WEB, _ZOOM)),
        Variant("geocode+zoom", _tools(_GEOCODE, _ZOOM)),
        Variant("web+geocode", _tools(_WEB, _GEOCODE)),
    ),
    thresholds_km=(1.0, 25.0, 200.0, 750.0, 2500.0),
    notes=("the paper's rows are of its own trained model on Im2GPS3k, with Tavily behind its web search",),
)

TWM_TOOLS = Preset(
    name="twm-tools",
    title="Thinking with Map, table 5: tool types",
    paper="twm",
    table=5,
    method="twm",
    mapping={"no tool": (), "image_zoom_tool": (_ZOOM,), "web_search_tool": (_WEB,), "map_tool": _MAP_TOOLS},
    systems={
        "none": "Qwen3-VL-30B-A3B",
        "zoom": "+ image_zoom_tool",
        "web": "+ web_search_tool",
        "map": "+ map_tool",
    },
    variants=(
        Variant("none", _tools()),
        Variant("zoom", _tools(_ZOOM)),
        Variant("web", _tools(_WEB)),
        Variant("map", _tools(*_MAP_TOOLS)),
    ),
    thresholds_km=(0.5, 2.0, 10.0, 25.0, 200.0, 750.0),
    notes=(
        "the paper adds each type of tool alone, but its map_tool figures are those of its whole system, which can "
        "zoom too; here map is the five map tools without zoom",
    ),
)

PRESETS: Mapping[str, Preset] = {one.name: one for one in (SPOTAGENT_TOOLS, TWM_TOOLS)}


def preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        BadInput: there is none; the message lists those there are.
    """
    found = PRESETS.get(name.strip().lower())
    if found is None:
        raise BadInput(f"there is no preset {name[:40]!r}; there are: {', '.join(PRESETS)}")
    return found
