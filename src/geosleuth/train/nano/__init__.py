"""The nano model: a small vision-language model from random weights, and all that it takes to train it quickly."""

from .model import corpus, make_nano, parameters
from .shards import Encoded, Shard, ShardPool, ShardWriter, encode_chat, final_pixels
from .trainer import IGNORED, Collator, batches

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
