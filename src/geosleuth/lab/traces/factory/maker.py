"""Makers of trajectories, one per synthesis, built from settings on this or another machine."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from geosleuth.agent import Method
from geosleuth.agent.locate import Finding
from geosleuth.agent.methods import method
from geosleuth.agent.policy_card import scale_of_policy
from geosleuth.agent.prompt_files import Prompts, with_prompts
from geosleuth.atlas import Atlas
from geosleuth.atlas.online.access import Recording
from geosleuth.lab.scenes.world import Noise, open_world
from geosleuth.lab.traces import geoagent, geovista, spotagent
from geosleuth.lab.traces.recorded_models import RecordedPolicy
from geosleuth.lab.traces.scripted import (
    USUAL_SLIPS,
    Slipped,
    Slips,
    StandInCaller,
    StandInObserver,
    StandInProposer,
)
from geosleuth.lab.traces.spotagent import WITHIN_KM, Verdict, judge, judge_assembled
from geosleuth.models import Policy, make_policy
from geosleuth.models.box_scale import find_box_scale
from geosleuth.photo import BoxScale, first_view
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.searches import online_maps, web_search
from geosleuth.tools import WebSearch
from geosleuth.tools.toolset import all_tools

from .trial import FactoryReady, Kind, Maker, Subject, TrialResult, load_subject

# Name of the stand-in, accepted in place of a model's name.
STAND_IN = "stand-in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Online services that tools may ask, as `geosleuth.pipeline.request.LocateRequest` names them.

    Attributes:
        web_search: where web searches go; None is the atlas's documents.
        maps: map services, the offline atlas behind them; None is that alone.
        maps_url: addresses of the user's own servers of these.
        allow: the hosts that may be asked.
    """

    web_search: str | None = None
    maps: str | None = None
    maps_url: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    def request(self) -> LocateRequest:
        """Return the request that opens them."""
        return LocateRequest(web_search=self.web_search, maps=self.maps, maps_url=self.maps_url, allow=self.allow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings of a synthesis.

    Attributes:
        kind: the synthesis.
        seed: of the makers' random choices; scenes have their own.
        world: the seed of the world whose map is queried; None for the plain atlas.
        noise: which names repeat in several towns of that world.
        regions: installed regions whose real businesses join it.
        observer: describes pictures, or proposes, or normalises: a model's name, or "stand-in".
        caller: reads descriptions and calls tools.
        base_url: the endpoint of both models, if not the default.
        slips: the error rates of stand-ins.
        within_km: the largest error of a kept answer; used by SpotAgent's synthesis only.
        tools: the enabled tools, by our names, in place of the method's own; used by SpotAgent's synthesis only.
        prompts: the user's own words for the method; None for ours.
        reasons: whether a call without its three reasons speaks against a trajectory, see `judge`.
        pages: the world has pages that web searches find.
        services: online services that tools ask; None for none.
        record: keeps every answer of services and models; part of no setting, since it changes no result.
    """

    kind: Kind
    seed: int = 0
    world: int | None = 1
    noise: Noise = "both"
    regions: tuple[Path, ...] = ()
    observer: str = STAND_IN
    caller: str = STAND_IN
    base_url: str | None = field(default=None, repr=False)
    slips: Slips = USUAL_SLIPS
    within_km: float = WITHIN_KM
    tools: tuple[str, ...] | None = None
    prompts: Prompts | None = None
    reasons: bool = True
    pages: bool = False
    services: Services | None = None
    record: Recording | None = field(default=None, repr=False)

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain values; regions by file name, later options only where they are used."""
        values = asdict(self)
        for name in ("base_url", "record", "prompts"):
            values.pop(name)
        for name, usual in (("reasons", True), ("pages", False), ("services", None)):
            if values[name] == usual:
                values.pop(name)
        if self.services is not None:
            values["services"] = {"web_search": self.services.web_search, "maps": self.services.maps}
        # Under the option's name: a seed would be taken for the scenes'.
        return {
            "kind": values.pop("kind"),
            "luck": values.pop("seed"),
            **values,
            "regions": [path.name for path in self.regions],
            "tools": list(self.tools or self.way().tools),
            **({"prompts": self.prompts.sha256} if self.prompts else {}),
        }

    def way(self) -> Method:
        """Return the method, in the user's words where there are some."""
        own = method(self.kind)
        return own if self.prompts is None else with_prompts(own, self.prompts)


@dataclass(frozen=True, slots=True)
class FactoryMaking:
    """Builds the attempt of a run, in this process or on another machine."""

    recipe: Recipe

    async def __call__(self) -> FactoryReady:
        """Open the world's map and load the models.

        Raises:
            UserError: the set-up is invalid.
        """
        maker = create_maker(self.recipe)
        if load := getattr(maker, "load", None):
            await load()
        return FactoryReady(maker, self.recipe.settings())


def create_maker(recipe: Recipe) -> Maker:
    """Return the maker of a recipe.

    Raises:
        UserError: a model's name can't be used, or the world can't be opened.
    """
    return MAKERS[recipe.kind](recipe)


def open_atlas(recipe: Recipe) -> Atlas:
    """Return the map that tools query.

    Raises:
        UserError: a service can't be used, or the world can't be opened.
    """
    maps = online_maps(recipe.services.request(), recipe.record) if recipe.services else None
    if maps is not None:
        return maps
    if recipe.world is None:
        from geosleuth.atlas import OfflineAtlas
        from geosleuth.atlas.base import ensure_base

        ensure_base()
        return OfflineAtlas()
    from geosleuth.lab.scenes.world import world_atlas

    return world_atlas(open_world(recipe.world, recipe.regions, noise=recipe.noise, pages=recipe.pages))


def open_web(recipe: Recipe) -> WebSearch | None:
    """Return where web searches go; None for the atlas's documents.

    Raises:
        UserError: the service can't be used.
    """
    return web_search(recipe.services.request(), recipe.record) if recipe.services else None


async def close_all(*parts: object) -> None:
    """Close the models and services among these."""
    for part in parts:
        if close := getattr(part, "aclose", None):
            await close()


def open_model(recipe: Recipe, name: str) -> Policy | None:
    """Return the policy of a model's name; None for the stand-in.

    Raises:
        UserError: the name can't be used.
    """
    if name == STAND_IN:
        return None
    if recipe.record is not None:
        return RecordedPolicy(name, lambda: make_policy(name, base_url=recipe.base_url), recipe.record)
    return make_policy(name, base_url=recipe.base_url)


MakerOf = Callable[[Recipe], Maker]


async def find_model_box_scale(recipe: Recipe, policy: Policy | None) -> BoxScale:
    """Return in what the model that looks at pictures gives boxes; stand-ins give them in pixels."""
    if policy is None:
        return "pixels"
    guess, toolset = find_box_scale(recipe.observer), recipe.way().toolset(all_tools())
    if isinstance(policy, RecordedPolicy):
        return await policy.box_scale(toolset, guess)
    return await scale_of_policy(policy, toolset, guess)


class _AskingMaker:
    """Base of the syntheses that ask models: a vision model, a map and a web."""

    def __init__(self, recipe: Recipe, atlas: Atlas) -> None:
        self._recipe, self._observer = recipe, open_model(recipe, recipe.observer)
        self._atlas, self._web = atlas, open_web(recipe)
        self._boxes: BoxScale = "pixels"

    async def load(self) -> None:
        """Find out in what the model that looks gives boxes."""
        self._boxes = await find_model_box_scale(self._recipe, self._observer)

    async def aclose(self) -> None:
        """Close the models and services."""
        await close_all(self._observer, self._atlas, self._web)


class SpotagentMaker(_AskingMaker):
    """Runs SpotAgent's synthesis on one scene or photo."""

    def __init__(self, recipe: Recipe) -> None:
        """Open the map and load the models.

        Raises:
            UserError: a model's name can't be used, or the world can't be opened.
        """
        super().__init__(recipe, open_atlas(recipe))
        self._caller = open_model(recipe, recipe.caller)

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            BadInput: it is neither scene nor photo.
        """
        recipe, slipped = self._recipe, Slipped()
        about = await asyncio.to_thread(load_subject, content)
        finding = await spotagent.synthesise(
            about.photo,
            self._observer or StandInObserver(about.scene, **_build_stand_in_arguments(about, recipe), slipped=slipped),
            self._caller
            or StandInCaller(about.id, seed=recipe.seed, slips=recipe.slips, slipped=slipped, searches=recipe.pages),
            atlas=self._atlas,
            web=self._web,
            way=recipe.way(),
            tools=recipe.tools,
            boxes=self._boxes,
        )
        verdict = judge(finding.trajectory, about.truth.point, within_km=recipe.within_km, reasons=recipe.reasons)
        return _result(about, finding, verdict, {"slips": asdict(slipped)})

    async def aclose(self) -> None:
        """Close the models and services."""
        await close_all(self._caller)
        await super().aclose()


class GeovistaMaker(_AskingMaker):
    """Runs GeoVista's assembly on one scene or photo."""

    def __init__(self, recipe: Recipe) -> None:
        """Open the documents and load the model.

        Raises:
            UserError: the model's name can't be used.
        """
        # Documents come from the atlas: without pages, a world's made-up places have none.
        super().__init__(recipe, open_atlas(recipe if recipe.pages else replace(recipe, world=None)))

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            BadInput: it is neither scene nor photo.
        """
        recipe, slipped = self._recipe, Slipped()
        about = await asyncio.to_thread(load_subject, content)
        proposer: geovista.Proposer = (
            StandInProposer(
                about.scene, **_build_stand_in_arguments(about, recipe), slipped=slipped, searches=recipe.pages
            )
            if self._observer is None
            else geovista.ModelProposer(self._observer, self._boxes)
        )
        finding = await geovista.assemble(about.photo, proposer, atlas=self._atlas, web=self._web, way=recipe.way())
        return _result(about, finding, judge_assembled(finding.trajectory), {"slips": asdict(slipped)})


class GeoagentMaker:
    """Writes GeoAgent's record of one scene, from its truth."""

    def __init__(self, recipe: Recipe) -> None:
        """Store the seed of the wording and the method; nothing is opened."""
        self._seed, self._way = recipe.seed, recipe.way()

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            BadInput: it is not a scene.
        """
        about = await asyncio.to_thread(load_subject, content)
        scene, marks = about.scene, about.drawn.marks if about.drawn else ()
        width = first_view(about.photo.photo, self._way.first_view_pixels).size[0]
        legible = geoagent.keep_visible_clues(scene, marks, width)
        chance = random.Random(f"record {self._seed} {scene.id}")  # noqa: S311 - no secret depends on it
        record = geoagent.build_record(legible, geoagent.honest_address(legible), chance)
        finding = await geoagent.run_record(about.photo, record, by="scene truth", way=self._way)
        levels = {"levels": [bool(name) for name in record.conclusions]}
        return _result(about, finding, judge_assembled(finding.trajectory), levels)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def _build_stand_in_arguments(about: Subject, recipe: Recipe) -> dict[str, Any]:
    marks = about.drawn.marks if about.drawn else ()
    return {"marks": marks, "photo": about.photo.photo.handle, "seed": recipe.seed, "slips": recipe.slips}


def _result(about: Subject, finding: Finding, verdict: Verdict, meta: Mapping[str, Any]) -> TrialResult:
    return TrialResult(finding, about.content, about.id, about.split, verdict, about.truth, {**about.about(), **meta})


MAKERS: Mapping[Kind, MakerOf] = {
    "spotagent": SpotagentMaker,
    "geovista": GeovistaMaker,
    "geoagent": GeoagentMaker,
}
