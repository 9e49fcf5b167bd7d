"""What a clue says about countries, in one shape for every kind of clue."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

COUNTRIES_OF_THE_WORLD = 250
"""How many codes a clue chooses from; only the scale of `Evidence.specificity` hangs on it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The countries that a clue speaks for.

    ``shares`` holds ISO 3166-1 alpha-2 codes, the likeliest first, with weights that add up to 1; it is empty where the
    clue says nothing. ``basis`` tells what the weights rest on. ``caution`` names what may mislead, None if nothing is
    known to.
    """

    kind: str
    clue: str
    shares: Mapping[str, float] = field(hash=False)
    note: str
    basis: str = "equal shares"
    caution: str | None = None
    regions: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # first-level region by country, where it shows

    @property
    def countries(self) -> tuple[str, ...]:
        """ISO codes, the likeliest first."""
        return tuple(self.shares)

    @property
    def specificity(self) -> float:
        """1 where one country is left, 0 where the clue leaves the world as it was; by the entropy of the shares."""
        if not self.shares:
            return 0.0
        entropy = -sum(share * math.log(share) for share in self.shares.values() if share > 0)
        return min(1.0, max(0.0, 1 - entropy / math.log(COUNTRIES_OF_THE_WORLD)))

    def __bool__(self) -> bool:
        return bool(self.shares)


def equal_shares(codes: Iterable[str]) -> dict[str, float]:
    """One country as likely as the other."""
    unique = sorted(set(codes))
    return {code: 1 / len(unique) for code in unique}


def weighted_shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Shares in proportion to weights, the largest first; countries without weight are left out."""
    total = sum(weight for weight in weights.values() if weight > 0)
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    return {code: weight / total for code, weight in ranked if weight > 0}
