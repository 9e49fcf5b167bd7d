"""How episodes are played: the method with its words and budget, the tools, the world they ask, the reward."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from geosleuth.agent import Budget, Method
from geosleuth.agent.methods import method as method_of
from geosleuth.answer import Answer
from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.errors import BadInput, UserError
from geosleuth.geo import LatLon
from geosleuth.policies.tagged import observation_text
from geosleuth.score import Truth
from geosleuth.score.rewards import Geocoder, Helpers, Reward, read_reward
from geosleuth.tools import Observation, Toolset
from geosleuth.tools.catalogue import all_tools
from geosleuth.tools.needs import OFFLINE
from geosleuth.tools.surfaces import Background
from geosleuth.world.consistency import RuleReader
from geosleuth.world.layer import world_atlas
from geosleuth.world.world import open_world

AnswerBy = Literal["tool", "reply"]
"""How a policy gives its answer: by the tool `answer`, or by a reply without a call."""

_ANSWER_BY_TOOL = (
    "To answer, call the tool answer and give it the whole of your final reply as its text. That ends the task; no "
    "other call comes after it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """All that episodes have in common; make one with `offline_setting`.

    Attributes:
        method: words, form of answer and context.
        toolset: the tools that are on, named as the method names them.
        atlas: the world that tools ask.
        reward: what an answer earns.
        helpers: who is asked for that: a geocoder, an encoder, a judge.
        budget: what one episode may use.
        answer_by: how the answer is given.
        force_answer: whether a best guess is wanted in any case.
    """

    method: Method
    toolset: Toolset
    atlas: Atlas
    reward: Reward
    budget: Budget
    helpers: Helpers = field(default_factory=Helpers)
    answer_by: AnswerBy = "tool"
    force_answer: bool = False
    words: Callable[[Observation], str] = field(default=observation_text, repr=False)

    def earned(self, answer: Answer, truth: Truth) -> float:
        """What an answer earns, between ``reward.least`` and ``reward.most``."""
        return float(self.reward.score([answer], [truth], self.helpers).total[0])


def offline_setting(
    method: str | Method = "default",
    *,
    reward: str | Reward = "ours",
    helpers: Helpers | None = None,
    atlas: Atlas | None = None,
    tools: Iterable[str] | None = None,
    budget: Budget | None = None,
    answer_by: AnswerBy = "tool",
    force_answer: bool = False,
) -> Setting:
    """A setting in which nothing leaves this machine.

    Args:
        method: a preset's name or a method of your own: it brings words, tools and budget.
        reward: what an answer earns: a preset's name, a YAML file, or a reward of your own.
        helpers: who is asked for that; left out, the atlas finds addresses and the judge by rule reads reasonings,
            each only where the reward can't do without.
        atlas: the world that tools ask; the offline atlas with the user's regions if left out.
        tools: those to switch on in place of the method's own, by any of their names; names that begin with a plus
            sign are added, see `Method.toolset`.
        budget: in place of the method's own.
        answer_by: "tool" adds the tool `answer`, by which trainers that show environments only calls learn of it.
        force_answer: a best guess is wanted in any case.

    Raises:
        BadInput: there is no such method, tool or reward, a tool can't work offline, or the reward needs a helper.
    """
    world = atlas or OfflineAtlas()
    earns = read_reward(reward) if isinstance(reward, str) else reward
    asked = helpers or Helpers(
        geocoder=geocoder_of(world) if earns.needs_geocoder else None,
        judge=RuleReader() if earns.needs_judge else None,
    )
    # What it lacks is said now and not after the first episode.
    earns.score([], [], asked)
    chosen = method_of(method) if isinstance(method, str) else method
    names = [one.name for one in all_tools().select(chosen.tools).usable(OFFLINE)]
    if tools is not None:
        listed = list(tools)
        added = bool(listed) and all(name.startswith("+") for name in listed)
        names = [*names, *listed] if added else listed
    toolset = chosen.toolset(all_tools(), names)
    if useless := [one.name for one in toolset if one.lacks(OFFLINE)]:
        raise BadInput(f"{', '.join(useless)} can't work with the offline atlas alone; leave it out")
    return Setting(
        method=chosen,
        toolset=toolset,
        atlas=world,
        reward=earns,
        helpers=asked,
        budget=budget or chosen.budget,
        answer_by=answer_by,
        force_answer=force_answer,
    )


WORDS = ("method", "reward", "tools", "turns", "calls", "answer_by", "box_scale", "force_answer", "world")


def setting_of(words: Mapping[str, Any]) -> Setting:
    """A setting from plain data, as files and commands hold it; whatever is left out is as in `offline_setting`.

    ``turns`` and ``calls`` change the method's budget. ``world`` is the seed of the world whose map tools ask, which is
    made where it is not there yet; without it they ask the atlas with the user's regions.

    Raises:
        BadInput: a word is unknown, or what it says can't be used.
    """
    if unknown := [name for name in words if name not in WORDS]:
        raise BadInput(f"an environment has no setting {unknown[0]!r}; those there are: {', '.join(WORDS)}")
    given = {name: value for name, value in words.items() if value is not None}
    method = method_of(given.pop("method", "default"), box_scale=given.pop("box_scale", "pixels"))
    limits = {name: int(given.pop(name)) for name in ("turns", "calls") if name in given}
    seed = given.pop("world", None)
    atlas = None if seed is None else world_atlas(open_world(int(seed)))
    return offline_setting(method, atlas=atlas, budget=replace(method.budget, **limits), **given)


def geocoder_of(atlas: Atlas) -> Geocoder:
    """Finds addresses for rewards: where the best hit of the atlas lies."""
    background = Background()

    def geocode(text: str) -> LatLon | None:
        try:
            hits = background.run(atlas.geocode(text, limit=1))
        except UserError:
            return None  # what a policy wrote is no address at all
        return hits[0].place.point if hits else None

    return geocode


def worded(setting: Setting) -> Method:
    """The setting's method, its words saying how the answer is given here."""
    method = setting.method
    if setting.answer_by == "reply":
        return method
    return replace(method, system=lambda task, tools: f"{method.system(task, tools)}\n\n{_ANSWER_BY_TOOL}")
