"""Makers of trajectories, one per synthesis, built from settings on this or another machine."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from geosleuth.agent.methods import method
from geosleuth.atlas import Atlas
from geosleuth.data import geoagent, geovista, spotagent
from geosleuth.data.spotagent import TOOLS, WITHIN_KM, judge, judge_assembled
from geosleuth.data.standins import USUAL_SLIPS, Slips, StandInCaller, StandInObserver, StandInProposer
from geosleuth.data.standins.observer import Slipped, refuse_panorama
from geosleuth.photo import OpenedPhoto, first_view, open_photo
from geosleuth.policies import Policy, make_policy
from geosleuth.world import Scene
from geosleuth.world.design import truth_of
from geosleuth.world.world import Noise, open_world

from .trial import Drawn, FactoryAttempt, FactoryReady, Kind, Maker, TrialResult, drawn_of

STAND_IN = "stand-in"
"""The stand-in's name, accepted in place of a model's."""


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
        tools: the enabled tools, by our names; used by SpotAgent's synthesis only.
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
    tools: tuple[str, ...] = TOOLS

    def settings(self) -> dict[str, Any]:
        """Return the settings as plain values; regions by file name."""
        values = asdict(self)
        values.pop("base_url")
        # Under the option's name: a seed would be taken for the scenes'.
        return {
            "kind": values.pop("kind"),
            "luck": values.pop("seed"),
            **values,
            "regions": [path.name for path in self.regions],
            "tools": list(self.tools),
        }


@dataclass(frozen=True, slots=True)
class FactoryMaking:
    """Builds the attempt of a run, in this process or on another machine."""

    recipe: Recipe

    async def __call__(self) -> FactoryReady:
        """Open the world's map and load the models.

        Raises:
            UserError: the set-up is invalid.
        """
        return FactoryReady(FactoryAttempt(maker_of(self.recipe), self.recipe.settings()))


def maker_of(recipe: Recipe) -> Maker:
    """Return the maker of a recipe.

    Raises:
        UserError: a model's name can't be used, or the world can't be opened.
    """
    return MAKERS[recipe.kind](recipe)


def atlas_of(recipe: Recipe) -> Atlas:
    """Return the map that tools query."""
    if recipe.world is None:
        from geosleuth.atlas import OfflineAtlas
        from geosleuth.atlas.base import ensure_base

        ensure_base()
        return OfflineAtlas()
    from geosleuth.world.world import world_atlas

    return world_atlas(open_world(recipe.world, recipe.regions, noise=recipe.noise))


def model_of(recipe: Recipe, name: str) -> Policy | None:
    """Return the policy of a model's name; None for the stand-in.

    Raises:
        UserError: the name can't be used.
    """
    return None if name == STAND_IN else make_policy(name, base_url=recipe.base_url)


MakerOf = Callable[[Recipe], Maker]


class SpotagentMaker:
    """Runs SpotAgent's synthesis on one scene."""

    def __init__(self, recipe: Recipe) -> None:
        """Open the map and load the models.

        Raises:
            UserError: a model's name can't be used, or the world can't be opened.
        """
        self._recipe = recipe
        self._observer, self._caller = model_of(recipe, recipe.observer), model_of(recipe, recipe.caller)
        self._atlas = atlas_of(recipe)

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            BadInput: it is not a scene.
        """
        recipe = self._recipe
        drawn, photo = await asyncio.to_thread(opened, content)
        scene, slipped, seed, slips = drawn.scene, Slipped(), recipe.seed, recipe.slips
        finding = await spotagent.synthesise(
            photo,
            self._observer
            or StandInObserver(scene, drawn.marks, photo=photo.photo.handle, seed=seed, slips=slips, slipped=slipped),
            self._caller or StandInCaller(scene.id, seed=seed, slips=slips, slipped=slipped),
            atlas=self._atlas,
            tools=recipe.tools,
        )
        truth = truth_of(scene)
        verdict = judge(finding.trajectory, truth.point, within_km=recipe.within_km)
        meta = {**about(scene), "slips": asdict(slipped)}
        return TrialResult(finding, drawn.jpeg, scene.id, scene.split, verdict, truth, meta)

    async def aclose(self) -> None:
        """Close the models."""
        for model in (self._observer, self._caller):
            if model is not None:
                await model.aclose()


class GeovistaMaker:
    """Runs GeoVista's assembly on one scene."""

    def __init__(self, recipe: Recipe) -> None:
        """Open the documents and load the model.

        Raises:
            UserError: the model's name can't be used.
        """
        self._recipe = recipe
        self._model = model_of(recipe, recipe.observer)
        # Documents come from the atlas: a world's made-up places have none.
        self._atlas = atlas_of(replace(recipe, world=None))

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            BadInput: it is not a scene.
        """
        recipe = self._recipe
        drawn, photo = await asyncio.to_thread(opened, content)
        scene, slipped = drawn.scene, Slipped()
        proposer: geovista.Proposer = (
            StandInProposer(
                scene, drawn.marks, photo=photo.photo.handle, seed=recipe.seed, slips=recipe.slips, slipped=slipped
            )
            if self._model is None
            else geovista.ModelProposer(self._model)
        )
        finding = await geovista.assemble(photo, proposer, atlas=self._atlas)
        meta = {**about(scene), "slips": asdict(slipped)}
        verdict = judge_assembled(finding.trajectory)
        return TrialResult(finding, drawn.jpeg, scene.id, scene.split, verdict, truth_of(scene), meta)

    async def aclose(self) -> None:
        """Close the model."""
        if self._model is not None:
            await self._model.aclose()


class GeoagentMaker:
    """Writes GeoAgent's record of one scene, from its truth."""

    def __init__(self, recipe: Recipe) -> None:
        """Store the seed of the wording; nothing is opened."""
        self._seed = recipe.seed

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            BadInput: it is not a scene.
        """
        drawn, photo = await asyncio.to_thread(opened, content)
        scene = drawn.scene
        width = first_view(photo.photo, method(geoagent.METHOD).first_view_pixels).size[0]
        legible = geoagent.seen_at_once(scene, drawn.marks, width)
        chance = random.Random(f"record {self._seed} {scene.id}")  # noqa: S311 - no secret depends on it
        record = geoagent.record_of(legible, geoagent.honest_address(legible), chance)
        finding = await geoagent.recorded(photo, record, by="scene truth")
        meta = {**about(scene), "levels": [bool(name) for name in record.conclusions]}
        verdict = judge_assembled(finding.trajectory)
        return TrialResult(finding, drawn.jpeg, scene.id, scene.split, verdict, truth_of(scene), meta)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def opened(content: bytes) -> tuple[Drawn, OpenedPhoto]:
    """Return a scene and its opened picture.

    Raises:
        BadInput: it is not a scene, or is a panorama.
    """
    drawn = drawn_of(content)
    refuse_panorama(drawn.scene.kind)
    return drawn, open_photo(drawn.jpeg)


def about(scene: Scene) -> Mapping[str, Any]:
    """Return the scene's facts that are stored beside its trajectory."""
    return {
        "finest": scene.finest,
        "needs_zoom": scene.needs_zoom,
        "locatability": scene.locatability,
        "country": scene.spot.country,
        "misleading": sum(clue.misleading for clue in scene.clues),
    }


MAKERS: Mapping[Kind, MakerOf] = {
    "spotagent": SpotagentMaker,
    "geovista": GeovistaMaker,
    "geoagent": GeoagentMaker,
}
