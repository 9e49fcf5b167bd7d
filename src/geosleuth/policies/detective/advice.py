"""What would make an answer better, with the command where there is one."""

from collections.abc import Mapping

from geosleuth.clues import ClueKind
from geosleuth.clues.naming import kind_said
from geosleuth.geo import LatLon, distance_km
from geosleuth.names import country_name
from geosleuth.tools.viewer import quoted

from .reasoning import Reasoning

ADD_REGION = "geosleuth atlas add FILE.osm.pbf"
CONNECT = "Connect a vision model"
"""How the advice begins where no place could be named."""

WITH_A_MODEL = "geosleuth locate photo.jpg --model ollama:qwen3-vl"
_ON_THE_GROUND = frozenset({"street", "business", "station", "landmark"})
_ADDED = ("osm:", "overture:")
_SHOWN_NAMES = 2
_SHOWN_SIGHTS = 3
_TELLING_SIGHTS: tuple[tuple[str, frozenset[ClueKind]], ...] = (
    ("a street name", frozenset({"street"})),
    ("a shop sign", frozenset({"business", "brand"})),
    ("a telephone number", frozenset({"phone"})),
    ("a road sign", frozenset({"distance_sign", "road_number", "speed"})),
    ("the name of a stop", frozenset({"station"})),
)
"""What tells most of a place, and the kinds of clues that say it was read already."""

_NEAR_KM = 15.0


def would_help(reasoning: Reasoning) -> str:
    """One or two sentences on what would narrow the answer down; empty where it is as fine as can be."""
    decision = reasoning.decision
    if not reasoning.found.clues or decision.level == "none":
        return f"{CONNECT} ({WITH_A_MODEL}), or say what you see or know: --seen, --hint, --within."
    if decision.level == "spot":
        return ""
    names = unplaced_names(reasoning)
    if names and decision.country and not on_added_map(reasoning):
        shown = " and ".join(quoted(name, 40) for name in names[:_SHOWN_NAMES])
        stand = "stand" if len(names) > 1 else "stands"
        return (
            f"What would help: {shown} {stand} on no map of this machine; a map of {country_name(decision.country)} or "
            f"of the right part of it may know more. Get an OpenStreetMap extract and run: {ADD_REGION}"
        )
    read = {clue.kind for clue in reasoning.found.clues}
    wanted = [words for words, kinds in _TELLING_SIGHTS if not read & kinds][:_SHOWN_SIGHTS]
    if not wanted:
        return "What would help: another photo from there."
    listed = f"{', '.join(wanted[:-1])} or {wanted[-1]}" if len(wanted) > 1 else wanted[0]
    return f"What would help: another photo from there, with {listed} in it."


def on_added_map(reasoning: Reasoning) -> bool:
    """Whether a region that was added covers the place, as far as the outcomes show."""
    point = reasoning.decision.point
    # A country is larger than the regions that people add.
    whole = reasoning.decision.level == "country"
    reach_km = _NEAR_KM if whole else max(reasoning.decision.radius_km or 0.0, _NEAR_KM)
    for one in reasoning.notebook.done:
        for row in (*(one.data.get("results") or ()), *(one.data.get("places") or ())):
            added = isinstance(row, Mapping) and str(row.get("id", "")).startswith(_ADDED)
            if added and point is not None and distance_km(point, LatLon(row["lat"], row["lon"])) <= reach_km:
                return True
    return False


def unplaced_names(reasoning: Reasoning) -> list[str]:
    """Names of shops, streets and stops that were looked up and found in no region that was added."""
    placed = {
        str(one.arguments.get(key))
        for tool, key in (("poi_keyword_search", "keyword"), ("maps_geocode", "address"))
        for one in reasoning.notebook.of(tool)
        if any(
            str(row.get("id", "")).startswith(_ADDED) and row.get("match") != "fuzzy"
            for row in one.data.get("results", ())
        )
    }
    return [
        one.text
        for one in reasoning.lookups
        if one.kind in _ON_THE_GROUND and one.text not in placed and _is_a_name(one.text)
    ]


def _is_a_name(text: str) -> bool:
    """Whether a text is surely a name: one word may be any, and figures are none."""
    return kind_said(text) is not None or len([word for word in text.split() if word.isalpha()]) > 1
