"""Stand-ins for models: rules that see a scene's clue boxes and err at stated rates. They look at no pixels.

They make trajectories where no model is available. Their tool calls are real, and their names say that they are
stand-ins.
"""

from .caller import StandInCaller, StandInProposer
from .observer import NO_SLIPS, USUAL_SLIPS, Slips, StandInObserver, misread

__all__ = [
    "NO_SLIPS",
    "USUAL_SLIPS",
    "Slips",
    "StandInCaller",
    "StandInObserver",
    "StandInProposer",
    "misread",
]
