"""Eyes: networks that turn a picture into a row of numbers, alike for pictures that look alike.

One comes with the package and needs nothing but onnxruntime; others are read from disk. Nothing is loaded before the
first picture is looked at.
"""

from .choose import load_encoder
from .encoder import Encoder, Features
from .network import Eyes, OnnxEncoder
from .preparing import Preparation
from .tower import TowerEncoder

__all__ = ["Encoder", "Eyes", "Features", "OnnxEncoder", "Preparation", "TowerEncoder", "load_encoder"]
