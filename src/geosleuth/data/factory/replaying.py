"""Whether a made trajectory can be gone through again: the same steps, the tools called anew, the same observations."""

from geosleuth.agent import Trajectory, first_difference, replay
from geosleuth.agent.locating import open_case
from geosleuth.agent.methods import method
from geosleuth.agent.setup import Resources
from geosleuth.atlas import Atlas
from geosleuth.photo import OpenedPhoto
from geosleuth.tools.catalogue import all_tools


async def replay_difference(trajectory: Trajectory, photo: OpenedPhoto, atlas: Atlas) -> str | None:
    """Where a trajectory parts from its own replay with live tools, in one line; None where it does not."""
    way = method(trajectory.started.method)
    case, _ = open_case([photo], way, Resources(atlas))
    toolset = way.toolset(all_tools(), trajectory.started.tools)
    again = await replay(trajectory, method=way, toolset=toolset, case=case)
    return first_difference(trajectory, again)


async def replays(trajectory: Trajectory, photo: OpenedPhoto, atlas: Atlas) -> bool:
    """Whether the recorded steps lead to the very same observations once more, the tools being called for real."""
    return await replay_difference(trajectory, photo, atlas) is None
