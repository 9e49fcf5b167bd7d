"""The judge by rule on reasonings of designed scenes: their own lead to their places, those of others don't."""

import numpy as np

from geosleuth.answer import Address, Level
from geosleuth.atlas import OfflineAtlas
from geosleuth.lab.scenes import Business, World, WorldTown, build_address
from geosleuth.lab.scenes.consistency import RuleReader, map_search
from geosleuth.lab.score.rewards import agreements, judge_consistency, without_conclusions
from geosleuth.lab.score.rewards.conclusions import collect_conclusions
from geosleuth.names import country_name
from worlds import scenes


def test_shuffling_reasonings_between_replies_collapses_the_reward(world: World) -> None:
    addresses = [address for scene in scenes(world, 24, seed=7) if (address := build_address(scene)).country.conclusion]
    derived = RuleReader().derive([without_conclusions(address) for address in addresses])
    own = [collect_conclusions(address) for address in addresses]
    weights = np.array([0.1, 0.6, 0.3])
    honest = (agreements(own, derived) @ weights).mean()
    shuffled = [(agreements(own, derived[shift:] + derived[:shift]) @ weights).mean() for shift in (1, 5, 11)]
    assert agreements(own, derived)[:, 0].mean() >= 0.6
    assert honest >= 0.1
    assert max(shuffled) <= 0.15 * honest


def known_businesses(world: World) -> list[tuple[WorldTown, Business]]:
    """One business that no other is called like, for each of some towns."""
    own = ((town, one) for town in world.towns[:10] for one in world.businesses(town)[:20])
    single = {town.name: (town, one) for town, one in own if one.phone and not (one.chain or one.homonym)}
    return list(single.values())


def reply(town: WorldTown, business: Business) -> Address:
    """A reply that reads a telephone number and a shop front."""
    return Address(
        Level(country_name(town.country), (f"phone: {business.phone}",)),
        precise=Level(f"{business.name}, {town.name}", (f"business: {business.name}",)),
    )


def test_a_map_leads_from_a_shop_to_its_town(few_towns: World, few_on_the_map: OfflineAtlas) -> None:
    addresses = [reply(town, business) for town, business in known_businesses(few_towns)]
    assert len(addresses) >= 6
    with_map, without = RuleReader(map_search(few_on_the_map)), RuleReader()
    assert judge_consistency(addresses, with_map, keep_evidence=True)[0][:, 2].mean() >= 0.7
    # The shop's name is a part of the conclusion: by default it goes, and the map has nothing to look for.
    strict = judge_consistency(addresses, with_map)[0]
    assert np.array_equal(strict, judge_consistency(addresses, without)[0])
