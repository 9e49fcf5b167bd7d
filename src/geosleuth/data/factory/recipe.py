"""From settings to a maker, here or on another machine: all that decides what is made, and nothing else."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.atlas import Atlas
from geosleuth.data.rejection import WITHIN_KM
from geosleuth.data.spotagent import TOOLS
from geosleuth.data.standins import USUAL_SLIPS, Slips
from geosleuth.policies import Policy, make_policy
from geosleuth.world.world import Noise, open_world

from .attempt import FactoryAttempt, FactoryReady
from .model import Kind, Maker

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
    from . import makers

    return makers.MAKERS[recipe.kind](recipe)


def atlas_of(recipe: Recipe) -> Atlas:
    """The map that tools ask."""
    if recipe.world is None:
        from geosleuth.atlas import OfflineAtlas
        from geosleuth.atlas.base import ensure_base

        ensure_base()
        return OfflineAtlas()
    from geosleuth.world.layer import world_atlas

    return world_atlas(open_world(recipe.world, recipe.regions, noise=recipe.noise))


def model_of(recipe: Recipe, name: str) -> Policy | None:
    """The policy of a model's name; None for the stand-in.

    Raises:
        UserError: the name can't be used.
    """
    return None if name == STAND_IN else make_policy(name, base_url=recipe.base_url)


MakerOf = Callable[[Recipe], Maker]
