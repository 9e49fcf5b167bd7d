"""Postcodes of made-up streets: in the form of the country, and of the right region where that is known."""

import random

from .lands.postcodes import POSTCODES, beginnings, options_for
from .towns import WorldTown


def postcode_of(town: WorldTown, street: int, seed: int) -> str | None:
    """The postcode of one of a town's streets; None where the land has none, or none that can be made up.

    The table of lands knows the codes of some towns' centres. Elsewhere figures are drawn, so that they are of the
    right region where regions are known by their codes; the rest is nobody's.
    """
    mask = POSTCODES.get(town.country)
    if mask is None or len(town.postcode) >= len(mask):
        return town.postcode or None
    of_town = random.Random(f"post {town.geonames}")  # noqa: S311 - no secret depends on it
    of_street = random.Random(f"post {seed} {town.geonames} {street}")  # noqa: S311 - no secret depends on it
    known = beginnings()
    begins = known.get(str(town.geonames)) or known.get(town.region_code, ())
    if town.postcode:
        begins = (town.postcode,)
    elif not begins and town.country in known:
        return None  # whatever is drawn would speak of some other region
    code = of_town.choice(begins) if begins else ""
    fixed = max(len(code), (len(mask) + 1) // 2)
    for place in range(len(code), len(mask)):
        options = options_for(mask[place])
        chance = of_town if place < fixed else of_street
        code += chance.choice(options[1:] if place == 0 and mask[place] == "#" else options)
    return code
