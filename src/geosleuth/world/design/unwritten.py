"""What tells without a word: which side traffic keeps to, lines, poles, walls, plants, hills, shadows."""

from geosleuth.atlas.facts import all_countries, describe_climate
from geosleuth.world.model import Clue, Look, SceneKind, Sky, Sort, Spot

from .styles import style_of

_SUNNY = ("clear", "cloudy")
_FROM_ABOVE = frozenset({"architecture", "vegetation", "terrain", "sun"})


def unwritten_clues(kind: SceneKind, spot: Spot, look: Look, sky: Sky) -> tuple[Clue, ...]:
    """All that such a street shows without words. None of it names one country, so that ``country`` is left open."""
    told: list[tuple[Sort, str]] = []
    if look.centre_line != "none":
        side = sum(facts.driving_side == look.drives_on for facts in all_countries().values())
        told.append(("driving_side", f"Traffic keeps to the {look.drives_on}, as in {side} countries and territories."))
        pair = "A pair of lines" if look.centre_double else "A line"
        edge = "" if look.edge_line == "none" else f", with {look.edge_line} lines at the edges"
        told.append(("road_marking", f"{pair} in {look.centre_line} runs down the middle of the road{edge}."))
    if look.poles != "none":
        wires = "with wires overhead" if look.wires else "without wires"
        told.append(("pole", f"Poles of {look.poles} stand along the street, {wires}."))
    told.append(("architecture", f"The houses are of a style: {style_of(spot.country).words}."))
    if look.plant != "none":
        climate = describe_climate(spot.climate)
        told.append(("vegetation", f"Plants ({look.plant}) fit the climate: {climate}."))
    if look.terrain != "flat":
        there = {"hills": "Hills rise", "mountains": "Mountains rise", "coast": "The sea lies"}[look.terrain]
        told.append(("terrain", f"{there} behind the houses."))
    if sky.weather in _SUNNY:
        told.append(("sun", _shadows(sky)))
    return tuple(
        Clue(id="", sort=sort, level="country", says=says)
        for sort, says in told
        if kind != "satellite" or sort in _FROM_ABOVE
    )


def _shadows(sky: Sky) -> str:
    length = "short" if sky.sun_elevation_deg > 50 else "long" if sky.sun_elevation_deg < 20 else "of middling length"
    return (
        f"Shadows are {length}: the sun stands {sky.sun_elevation_deg:.0f} degrees high, "
        f"{sky.sun_azimuth_deg:.0f} degrees from north."
    )
