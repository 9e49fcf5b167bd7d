"""Makers of trajectories from scenes, one for each synthesis."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from geosleuth.data import spotagent
from geosleuth.data.rejection import judge
from geosleuth.data.standins import StandInCaller, StandInObserver
from geosleuth.data.standins.slips import Slipped
from geosleuth.photo import OpenedPhoto, open_photo
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
        scene, slipped = drawn.scene, Slipped()
        slips = {"seed": recipe.seed, "slips": recipe.slips, "slipped": slipped}
        finding = await spotagent.synthesise(
            photo,
            self._observer or StandInObserver(scene, drawn.marks, **slips),
            self._caller or StandInCaller(scene.id, **slips),
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


def opened(content: bytes) -> tuple[Drawn, OpenedPhoto]:
    """A scene with its picture, opened as any photo is.

    Raises:
        BadInput: it is no scene.
    """
    drawn = drawn_of(content)
    return drawn, open_photo(drawn.jpeg, kind="panorama" if drawn.scene.kind == "panorama" else "photo")


def about(scene: Scene) -> Mapping[str, Any]:
    """What is kept of a scene beside what is made of it."""
    return {
        "finest": scene.finest,
        "needs_zoom": scene.needs_zoom,
        "locatability": scene.locatability,
        "country": scene.spot.country,
        "misleading": sum(clue.misleading for clue in scene.clues),
    }


MAKERS: Mapping[Kind, MakerOf] = {"spotagent": SpotagentMaker}
