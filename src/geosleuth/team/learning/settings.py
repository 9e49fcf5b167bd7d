"""How learning goes: the numbers of smileGeo, and quicker ones of our own."""

from dataclasses import dataclass
from typing import Final, Literal

from geosleuth.errors import BadInput
from geosleuth.team import AGREE_WITHIN_KM
from geosleuth.team.links import LinkRule

Labels = Literal["last", "mean", "answered"]
"""What a member's label is: its P after the last round; the mean of its P over all rounds; the share of right answers
among those it gave. In all three, one who never answered has one half."""

Judged = Literal["own", "reviewed"]
"""Which answer decides who is to be elected: the one that a member gave on its own, or the one after reviews. Reviews
by an expert make others right as well, and then nobody can tell who the expert is."""


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """How it is found out who is right about one picture.

    Attributes:
        rounds: how often members are drawn (L).
        within_km: how near an answer must lie to be right (th).
        reviewers: how many others look at each answer (R).
        discussion: turns of the discussion in each round; nothing that is learned depends on them.
        judged: which answer decides about P; links are always judged by the answer after reviews.
        labels: what becomes of the rounds.
        link_rule: how links change.
        ask_anew: ask every member anew in every round; otherwise the same question has the same reply.
        seed: what draws depend on, together with the picture.
    """

    rounds: int = 20
    within_km: float = AGREE_WITHIN_KM
    reviewers: int = 2
    discussion: int = 0
    judged: Judged = "own"
    labels: Labels = "answered"
    link_rule: LinkRule = "default"
    ask_anew: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what can't be learned with."""
        if self.rounds < 1:
            raise BadInput("learning needs at least one round; set rounds to 1 or more")
        if not self.within_km >= 0.0:
            raise BadInput("within_km is a distance; set it to 0 or more")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How the network is taught.

    Attributes:
        embedding: how wide the members' embeddings and the encoded pictures are.
        fea: how wide Fea is (d_k).
        hidden: how wide the hidden layer is.
        rate: Adam's learning rate.
        epochs: how often it goes through all pictures, at most.
        batch: pictures a step; 0 takes all at once.
        averaged: the parameters are the mean over so many last epochs; 0 takes the best epoch on held-out pictures.
        patience: stop after so many epochs without a gain on held-out pictures; 0 never stops early.
        held_out: the share of pictures that the network does not learn from.
        distance_weight: the weight of the distance term beside the two squared errors.
        decay: how fast weights that nothing speaks for go back to zero.
        folds: so many further networks, each kept from another part of the pictures, show how far the network's word
            holds on pictures it has not seen; it is drawn towards equal standing as far as it does not. 0 believes all.
        side_px: how large pictures are for a VAE; other eyes have a size of their own.
        seed: what the beginning and the order of pictures depend on.
    """

    embedding: int = 32
    fea: int = 32
    hidden: int = 32
    rate: float = 1e-3
    epochs: int = 300
    batch: int = 64
    averaged: int = 0
    patience: int = 40
    held_out: float = 0.2
    distance_weight: float = 0.1
    decay: float = 1e-2
    folds: int = 4
    side_px: int = 512
    seed: int = 0


PAPER_ROUNDS: Final = LearnSettings(discussion=10, judged="reviewed", labels="last", ask_anew=True)
"""smileGeo's rounds to the letter, but for the rule of links, which is a choice of its own."""

QUICK: Final = TrainSettings()
"""A small network that learns from a few hundred pictures in seconds and stops before it knows them by heart."""

PAPER: Final = TrainSettings(
    embedding=1024, fea=1024, hidden=1024, rate=1e-5, epochs=2500, batch=0, averaged=100, patience=0, held_out=0.0,
    distance_weight=1.0, decay=0.0, folds=0,
)  # fmt: skip
"""smileGeo, appendix C: dimensions 1024, Adam at 1e-5, 2,500 epochs, the last 100 averaged."""
