"""The network that looks at a picture and says whom to trust with it, and the file that holds what it has learned.

Nothing here can hold or read a truth: what was learned from is in tables of the same file that these connections are
not allowed to read.
"""

from .encoding import Projection
from .forward import Dimensions, Parameters, Prediction, forward
from .society import TrainedSociety
from .state import Weights, is_state_of
from .vae import VaeEncoder, load_picture_encoder

__all__ = [
    "Dimensions",
    "Parameters",
    "Prediction",
    "Projection",
    "TrainedSociety",
    "VaeEncoder",
    "Weights",
    "forward",
    "is_state_of",
    "load_picture_encoder",
]
