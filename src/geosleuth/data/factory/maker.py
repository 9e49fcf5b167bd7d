"""From settings to a maker of trajectories, here or on another machine; one maker for each synthesis."""

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

from .trial import Drawn, FactoryAttempt, FactoryReady, Kind, Maker, Worked, drawn_of

STAND_IN = "stand-in"
"""The name of the embedded stand-in where a model's name may stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How trajectories are made.

    Attributes:
        kind: which synthesis.
        seed: of the makers' own chances; scenes have theirs.
        world: the seed of the world whose map is asked; None asks the plain atlas.
        noise: which names repeat in several towns of that world.
        regions: added regions whose real businesses join it.
        observer: who describes pictures, or proposes, or normalises: a model's name, or "stand-in".
        caller: who reads descriptions and calls tools.
        base_url: where both models are served, if not at the usual place.
        slips: how often stand-ins go wrong.
        within_km: how far off an answer may be to be kept; only SpotAgent's synthesis asks.
        tools: those that are switched on, by our names; only SpotAgent's synthesis has a choice.
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
        """All of it as plain values; of regions their file names alone."""
        told = asdict(self)
        told.pop("base_url")
        # By the option's name: a seed would be taken for the scenes'.
        return {
            "kind": told.pop("kind"),
            "luck": told.pop("seed"),
            **told,
            "regions": [path.name for path in self.regions],
            "tools": list(self.tools),
        }


@dataclass(frozen=True, slots=True)
class FactoryMaking:
    """Makes the attempt of a run, in this process or in one on another machine."""

    recipe: Recipe

    async def __call__(self) -> FactoryReady:
        """Open the world's map and load whoever is asked.

        Raises:
            UserError: something must be mended here.
        """
        return FactoryReady(FactoryAttempt(maker_of(self.recipe), self.recipe.settings()))


def maker_of(recipe: Recipe) -> Maker:
    """Who makes what the recipe says.

    Raises:
        UserError: a model's name can't be used, or the world can't be opened.
    """
    return MAKERS[recipe.kind](recipe)


def atlas_of(recipe: Recipe) -> Atlas:
    """The map that tools ask."""
    if recipe.world is None:
        from geosleuth.atlas import OfflineAtlas
        from geosleuth.atlas.base import ensure_base

        ensure_base()
        return OfflineAtlas()
    from geosleuth.world.world import world_atlas

    return world_atlas(open_world(recipe.world, recipe.regions, noise=recipe.noise))


def model_of(recipe: Recipe, name: str) -> Policy | None:
    """The policy of a model's name; None for the stand-in.

    Raises:
        UserError: the name can't be used.
    """
    return None if name == STAND_IN else make_policy(name, base_url=recipe.base_url)


MakerOf = Callable[[Recipe], Maker]


class SpotagentMaker:
    """SpotAgent's synthesis of one scene."""

    def __init__(self, recipe: Recipe) -> None:
        """Open the map and get the models ready.

        Raises:
            UserError: a model's name can't be used, or the world can't be opened.
        """
        self._recipe = recipe
        self._observer, self._caller = model_of(recipe, recipe.observer), model_of(recipe, recipe.caller)
        self._atlas = atlas_of(recipe)

    async def __call__(self, content: bytes) -> Worked:
        """Make one.

        Raises:
            BadInput: it is no scene.
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
        return Worked(finding, drawn.jpeg, scene.id, scene.split, verdict, truth, meta)

    async def aclose(self) -> None:
        """Let go of the models."""
        for model in (self._observer, self._caller):
            if model is not None:
                await model.aclose()


class GeovistaMaker:
    """GeoVista's assembly of one scene."""

    def __init__(self, recipe: Recipe) -> None:
        """Open the map's documents and get the model ready.

        Raises:
            UserError: the model's name can't be used.
        """
        self._recipe = recipe
        self._model = model_of(recipe, recipe.observer)
        # Documents are the atlas's own: what is made up in a world has none.
        self._atlas = atlas_of(replace(recipe, world=None))

    async def __call__(self, content: bytes) -> Worked:
        """Make one.

        Raises:
            BadInput: it is no scene.
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
        return Worked(finding, drawn.jpeg, scene.id, scene.split, verdict, truth_of(scene), meta)

    async def aclose(self) -> None:
        """Let go of the model."""
        if self._model is not None:
            await self._model.aclose()


class GeoagentMaker:
    """GeoAgent's record of one scene, from its truth."""

    def __init__(self, recipe: Recipe) -> None:
        """Take the seed of the wording; nothing is opened."""
        self._seed = recipe.seed

    async def __call__(self, content: bytes) -> Worked:
        """Make one.

        Raises:
            BadInput: it is no scene.
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
        return Worked(finding, drawn.jpeg, scene.id, scene.split, verdict, truth_of(scene), meta)

    async def aclose(self) -> None:
        """Nothing to let go of."""


def opened(content: bytes) -> tuple[Drawn, OpenedPhoto]:
    """A scene with its picture, opened as any photo is.

    Raises:
        BadInput: it is no scene, or a panorama.
    """
    drawn = drawn_of(content)
    refuse_panorama(drawn.scene.kind)
    return drawn, open_photo(drawn.jpeg)


def about(scene: Scene) -> Mapping[str, Any]:
    """What is kept of a scene beside what is made of it."""
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
