"""What every text clue is before it becomes one: something seen, the countries it fits, and how it was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from geosleuth.names import country_name

from .model import Clue, ClueKind, TextSeen
from .reliability import ReliabilityTable, misled_by, reliability

SHOWN_COUNTRIES = 3
LEAST_SHOWN_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """A clue in the making: ``sort`` is its row in the table of reliabilities, ``meaning`` what it is, in words."""

    kind: ClueKind
    sort: str
    seen: str
    meaning: str
    countries: Mapping[str, float] = field(hash=False)
    where: TextSeen
    sources: tuple[str, ...]
    factor: float = 1.0  # how much of the sort's reliability this one deserves

    def clue(self, table: ReliabilityTable | None = None) -> Clue:
        """The clue, with its reliability and its caution."""
        return Clue(
            kind=self.kind,
            seen=self.seen,
            says=f"{self.meaning}: {spoken(self.countries)}" if self.countries else self.meaning,
            reliability=reliability(self.sort, self.where.confidence, table) * self.factor,
            countries=self.countries,
            where=self.where,
            sources=self.sources,
            caution=misled_by(self.sort),
        )


def spoken(countries: Mapping[str, float]) -> str:
    """The likeliest countries in words."""
    ranked = sorted(countries, key=lambda code: (-countries[code], code))
    named = [code for code in ranked[:SHOWN_COUNTRIES] if countries[code] >= LEAST_SHOWN_SHARE] or ranked[:1]
    words = " or ".join(country_name(code) for code in named)
    return words if len(named) == len(countries) else f"{words} and others" if len(named) > 1 else f"mostly {words}"


def distinct(findings: Sequence[Finding]) -> list[Finding]:
    """One of each thing seen: the same sign is read in several crops, and signs repeat themselves."""
    best: dict[tuple[str, str, tuple[str, ...]], Finding] = {}
    for finding in findings:
        # A line may say one thing by its language and another by its wording.
        key = (finding.kind, finding.seen.casefold(), finding.sources)
        kept = best.get(key)
        if kept is None or kept.where.confidence < finding.where.confidence:
            best[key] = finding
    return list(best.values())
