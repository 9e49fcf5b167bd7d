"""Makers of trajectories from scenes, one for each synthesis."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from geosleuth.agent.methods import method
from geosleuth.data import geoagent, geovista, spotagent
from geosleuth.data.rejection import judge, judge_assembled
from geosleuth.data.standins import StandInCaller, StandInObserver, StandInProposer
from geosleuth.data.standins.observer import refuse_panorama
from geosleuth.data.standins.slips import Slipped
from geosleuth.photo import OpenedPhoto, first_view, open_photo
from geosleuth.world import Scene
from geosleuth.world.design import truth_of

from .model import Kind, Worked
from .packing import Drawn, drawn_of
from .recipe import MakerOf, Recipe, atlas_of, model_of


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
