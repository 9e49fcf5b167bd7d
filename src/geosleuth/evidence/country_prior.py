"""Prior over countries, before anything is seen, shared by all clues and the posterior.

Most of it is shared out by wealth, as the gross domestic product to the power of 0.8, and by roads: people take
photos where they can afford to, and from roads. The countries of 1,150 photos of a public collection are likelier
under it than under people and roads (by 0.43 nats a photo), and so are those of 934 others (0.39). A smaller part is
shared out by the fourth root of the people, which tells countries apart by a factor of forty at most: visitors take
photos of small countries too, and things that carry a country's name or number are seen abroad more often than its
few people would make one think. So no island is ruled out beforehand, and none is proven by two things on one bus.

Tables of facts count people ("so many speak Dutch in Belgium"). `as_seen` turns such counts into P(country | clue)
under this prior, so that a clue divided by the prior is just how common the clue is in each country.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from geosleuth.atlas.facts import all_countries
from geosleuth.geo import EARTH_RADIUS_KM, FloatArray

WEALTH_SHARE = 0.75
WEALTH_POWER = 0.8
ROAD_SHARE = 0.1
VISITOR_SHARE = 0.15
# Gross domestic product per inhabitant assumed where no figure is known.
MIN_WEALTH_USD = 1000.0

# Population assumed for a country without residents: expeditions and visitors take photos, too.
MIN_PEOPLE = 1000

# Countries in which hardly anybody may take and share photos, and the factor that reduces their share.
RESTRICTED_COUNTRIES: Mapping[str, float] = {"KP": 0.1}

# People per kilometre of road, used to estimate the length of roads where no figure is known.
PEOPLE_PER_ROAD_KM = 100

TOWN_PEOPLE_PER_KM2 = 3000.0
# Radius of the town assumed around a place that has a name; its density is the atlas's figure for towns.
TOWN_RADIUS_KM = 8.0

# Minimum chance of a place that some clue points at. Misleading clues come together (a van carries its shop's name,
# street and number abroad), so two of them meet more often than two random places do.
MIN_CHANCE = 1e-5

EARTH_KM2 = 4 * np.pi * EARTH_RADIUS_KM**2


@cache
def country_prior() -> Mapping[str, float]:
    """The share of each country among photos of unknown origin, by ISO code; adds up to 1."""
    known = all_countries()
    people = {code: max(country.population, MIN_PEOPLE) for code, country in known.items()}
    roads = {code: country.road_km or people[code] / PEOPLE_PER_ROAD_KM for code, country in known.items()}
    wealth = {code: (known[code].gdp_usd or count * MIN_WEALTH_USD) ** WEALTH_POWER for code, count in people.items()}
    visitors = {code: float(count) ** 0.25 for code, count in people.items()}
    parts = ((WEALTH_SHARE, wealth), (ROAD_SHARE, roads), (VISITOR_SHARE, visitors))
    totals = [(share / sum(counts.values()), counts) for share, counts in parts]
    return normalize(
        {
            code: RESTRICTED_COUNTRIES.get(code, 1.0) * sum(each * counts[code] for each, counts in totals)
            for code in known
        }
    )


def as_seen(people_shares: Mapping[str, float]) -> dict[str, float]:
    """P(country | clue) under the prior, from shares that count people; the likeliest first, adds up to 1."""
    known = all_countries()
    return normalize(
        {
            code: share / max(known[code].population, MIN_PEOPLE) * country_prior()[code]
            for code, share in people_shares.items()
            if code in known
        }
    )


def by_how_common(commonness: Mapping[str, float]) -> dict[str, float]:
    """P(country | clue) under the prior, from how common the clue is in each country (any scale); adds up to 1."""
    prior = country_prior()
    return normalize({code: prior[code] * share for code, share in commonness.items() if code in prior})


def normalize(weights: Mapping[str, float]) -> dict[str, float]:
    """Return weights as shares that add up to 1, the largest first; empty if nothing has weight."""
    total = sum(weight for weight in weights.values() if weight > 0)
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {code: weight / total for code, weight in ranked if weight > 0} if total > 0 else {}


@dataclass(frozen=True, slots=True)
class WorldPrior:
    """The prior as arrays, one entry for each country in the order of ``codes``; a last entry stands for no country."""

    codes: tuple[str, ...]
    share: FloatArray
    people: FloatArray
    people_per_km2: FloatArray

    def chance(self, countries: npt.NDArray[np.int64], radius_km: FloatArray) -> FloatArray:
        """P(a photo of unknown origin was taken in a disc of this radius around any given name, shop or street).

        ``countries`` are indices into ``codes``, -1 for none. Names stand where people live: the first
        `TOWN_RADIUS_KM` of a disc are taken to be as dense as a town (or as the country, where that is denser), what
        lies beyond as dense as the country. A disc never holds more people than its country has, and its chance is
        never below `MIN_CHANCE`.
        """
        inner = np.pi * np.minimum(radius_km, TOWN_RADIUS_KM) ** 2
        outer = np.pi * np.maximum(radius_km**2 - TOWN_RADIUS_KM**2, 0.0)
        density = self.people_per_km2[countries]
        people = inner * np.maximum(density, TOWN_PEOPLE_PER_KM2) + outer * density
        share: FloatArray = self.share[countries] * np.minimum(1.0, people / self.people[countries])
        return np.maximum(share, MIN_CHANCE)


@cache
def world_prior() -> WorldPrior:
    """`country_prior` with what is needed to ask for smaller places."""
    known, shares = all_countries(), country_prior()
    codes = tuple(sorted(shares))
    people = np.array([max(known[code].population, MIN_PEOPLE) for code in codes], dtype=np.float64)
    area = np.array([max(known[code].area_km2 or 0.0, 1.0) for code in codes])
    # At sea and on ground whose country is unknown, the whole Earth's surface shares the world's people.
    people, area = np.append(people, people.sum()), np.append(area, EARTH_KM2)
    return WorldPrior(codes, np.array([*(shares[code] for code in codes), 1.0]), people, people / area)
