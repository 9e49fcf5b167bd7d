"""Stand-ins for models: rules that see a scene's clue boxes and make mistakes at stated rates. They look at no pixel.

They serve to make trajectories where no model is at hand. Whatever they call is called for real, and their names say
that they are stand-ins.
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
