"""The nano model: a small vision-language model from random weights, and all that it takes to train it quickly."""

from .collating import IGNORED, Collator, batches
from .encoding import Encoded, encode_chat, final_pixels
from .model import make_nano, parameters
from .shards import Shard, ShardPool, ShardWriter
from .words_for_tokens import corpus

__all__ = [
    "IGNORED",
    "Collator",
    "Encoded",
    "Shard",
    "ShardPool",
    "ShardWriter",
    "batches",
    "corpus",
    "encode_chat",
    "final_pixels",
    "make_nano",
    "parameters",
]
