"""What stands beside an answer in a file: which photo, who answered, how, when, and how finely it may be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from geosleuth import __version__
from geosleuth.answer.granularity import Gazetteer, Granularity, cap, cap_sources
from geosleuth.answer.model import Answer

from .circle import Polygons

ESTIMATED = "estimated from the picture by geosleuth"


@dataclass(frozen=True, slots=True)
class Context:
    """Where an answer comes from.

    Attributes:
        sha256: of the photo's file, in hexadecimal.
        file_name: as a person should find it again; None where it is not to be told.
        model: who answered, such as "detective" or "openai:gpt-5".
        method: how, such as "default".
        when: when it was answered, with a time zone.
        tools: the tools that were switched on.
        sources: where the evidence comes from.
        versions: of other things that made the answer, by name, such as an added region.
        granularity: how finely the answer may be told.
        country_code: ISO 3166-1 alpha-2 of the answer's country, where somebody looked it up.
        city: the answer's city, where somebody looked it up: an answer says only its finest place.
        outline: the country that is the whole finding, as polygons; empty where the finding is a circle.
        geosleuth: this program's version.
    """

    sha256: str | None = None
    file_name: str | None = None
    model: str | None = None
    method: str | None = None
    when: datetime | None = None
    tools: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict, hash=False)
    granularity: Granularity = "exact"
    country_code: str | None = None
    city: str | None = None
    outline: Polygons = field(default_factory=list, hash=False, repr=False)
    geosleuth: str = __version__

    @property
    def made_by(self) -> str:
        """Program and model in one line."""
        return f"geosleuth {self.geosleuth}" + (f", model {self.model}" if self.model else "")

    @property
    def when_text(self) -> str | None:
        """The time as ISO 8601, to the second."""
        return None if self.when is None else self.when.isoformat(timespec="seconds")

    def capped(self, granularity: Granularity, *, keep_file_name: bool = False) -> "Context":
        """The context of a capped answer.

        File names, versions and most sources can hold the name of a place: they go. What the answer's country is
        called stays, and its city where that may be told is in the capped answer itself.

        Args:
            granularity: how finely the answer may be told.
            keep_file_name: keep it anyway: the reader has it already, as in a batch's own summary.
        """
        if granularity == "exact":
            return replace(self, granularity=granularity)
        return replace(
            self,
            file_name=self.file_name if keep_file_name else None,
            sources=cap_sources(self.sources, granularity),
            versions={},
            granularity=granularity,
            city=None,
        )


class Entry(NamedTuple):
    """An answer and where it comes from."""

    answer: Answer
    context: Context


async def capped_entry(
    answer: Answer,
    context: Context,
    granularity: Granularity,
    gazetteer: Gazetteer | None = None,
    *,
    keep_file_name: bool = False,
) -> Entry:
    """Answer and context with nothing in them finer than allowed."""
    capped = await cap(answer, granularity, gazetteer)
    return Entry(capped, context.capped(granularity, keep_file_name=keep_file_name))
