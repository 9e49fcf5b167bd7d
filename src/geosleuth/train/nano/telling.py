"""What signs tell together: lessons without picture or map that go from the lines of a scene to its country.

Which money, ending, script or word belongs to which country is learned from many scenes. Here a scene is only designed,
not drawn or played, so that there can be many more of them.
"""

import random
from collections.abc import Iterator

from geosleuth.world.design import design_scene
from geosleuth.world.model import Scene
from geosleuth.world.world import World

from .lessons import Chat, Lesson, asked, guess

SCENES = 3
"""How many scenes one chat asks about."""


def tellings(world: World, seed: int, number: int, chance: random.Random, count: int) -> Iterator[Lesson]:
    """Chats about scenes that are the number's own.

    Args:
        world: where scenes are set; only its towns to train on.
        seed: of the scenes.
        number: whose scenes.
        chance: decides in which order lines stand.
        count: how many chats.
    """
    for at in range(number * count, (number + 1) * count):
        messages: Chat = []
        for which in range(at * SCENES, (at + 1) * SCENES):
            scene = design_scene(world, seed, which, split="train")
            lines = lines_in_sight(scene)
            if lines:
                chance.shuffle(lines)
                listed = "\n".join(f'{place}. "{line}"' for place, line in enumerate(lines, 1))
                messages += [asked(f"What do the signs tell?\n{listed}"), guess(world, scene)]
        if messages:
            yield Lesson("telling", messages)


def lines_in_sight(scene: Scene) -> list[str]:
    """What stands on signs that are not hidden, misleading ones too: one learns to tell them by what stands beside."""
    return [line for clue in scene.clues if clue.visibility != "hidden" for line in clue.lines]
