"""Which figures of a run stand together in which chart, and what to know of them."""

from collections.abc import Callable
from dataclasses import dataclass

from geosleuth.text.numbers import threshold

from .metrics import GPU_MEMORY, GPU_UTILISATION, MFU, TOKENS_PER_SECOND, part_of, within_of
from .rollouts import ANSWERED, CALL_RATE, CALLS, FAILURE_RATE

INSTEAD = {"tools/call_frequency": CALLS, "tools/failure_frequency": FAILURE_RATE}
"""Figures of TRL's that charts leave out where ours are there: TRL counts as failed only what reached no tool."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A chart.

    Attributes:
        identifier: one of its own on the page.
        title: above it.
        pick: what a figure is called in it; None leaves the figure out.
        said: below it.
        unit: of the figures, where it is not plain.
        percent: whether they are shares.
        least: with fewer lines the chart is left out.
    """

    identifier: str
    title: str
    pick: Callable[[str], str | None]
    said: str
    unit: str = ""
    percent: bool = False
    least: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """Charts under one heading."""

    identifier: str
    heading: str
    charts: tuple[Spec, ...]


def trl_reward(figure: str) -> str | None:
    """The name of a reward function, as TRL has it."""
    middle = figure.removeprefix("rewards/").removesuffix("/mean")
    return middle if figure == f"rewards/{middle}/mean" else None


def distance_words(figure: str) -> str | None:
    """Which distance an accuracy is about."""
    km = within_of(figure)
    return None if km is None else f"within {threshold(km)}"


SECTIONS = (
    Section(
        "reward",
        "What replies earn",
        (
            Spec(
                "reward-total",
                "Reward",
                {"reward": "mean reward", "reward_std": "its spread"}.get,
                "The mean over the replies of a step, and their standard deviation.",
            ),
            Spec(
                "reward-parts",
                "Parts of the reward",
                part_of,
                "The mean of each part over the replies of a step, before its weight.",
            ),
            Spec("reward-functions", "Reward functions", trl_reward, "The mean of each, as TRL tells it.", least=2),
            Spec(
                "reward-alike",
                "Groups that teach nothing",
                {"frac_reward_zero_std": "replies all alike"}.get,
                "The share of groups whose replies all earn the same: they have no gradient.",
                percent=True,
            ),
        ),
    ),
    Section(
        "accuracy",
        "Where the answers lie",
        (
            Spec(
                "accuracy-within",
                "Accuracy by distance",
                distance_words,
                "The share of replies in training whose point lies within the distance. It is no measure on held-out"
                " photos: geosleuth train evaluate makes that.",
                percent=True,
            ),
        ),
    ),
    Section(
        "tools",
        "How tools are used",
        (
            Spec(
                "tools-calls",
                "Tool calls",
                {CALLS: "calls a reply", "tools/call_frequency": "calls a reply"}.get,
                "Calls of one reply, on average.",
            ),
            Spec(
                "tools-failures",
                "Failed calls",
                {FAILURE_RATE: "failed", "tools/failure_frequency": "failed"}.get,
                "The share of calls that gave nothing: bad, refused and repeated ones, and those that can't be read.",
                percent=True,
            ),
            Spec(
                "tools-used",
                "Replies",
                {CALL_RATE: "call a tool", ANSWERED: "give an answer of their own"}.get,
                "The share of replies that call a tool at all, and of those that end with an answer.",
                percent=True,
            ),
        ),
    ),
    Section(
        "length",
        "How long replies are",
        (
            Spec(
                "length-tokens",
                "Length",
                {
                    "completions/mean_length": "mean",
                    "completions/min_length": "shortest",
                    "completions/max_length": "longest",
                }.get,
                "Tokens of a reply.",
                "tokens",
            ),
            Spec(
                "length-cut",
                "Cut replies",
                {"completions/clipped_ratio": "cut"}.get,
                "The share of replies that were cut before their end.",
                percent=True,
            ),
        ),
    ),
    Section(
        "policy",
        "How far the policy moves",
        (
            Spec(
                "policy-kl",
                "Divergence",
                {"kl": "KL"}.get,
                "From the model that training began with, mean over tokens.",
            ),
            Spec("policy-entropy", "Entropy", {"entropy": "entropy"}.get, "Of the next token, mean over tokens."),
            Spec(
                "policy-clip",
                "Clipped ratios",
                {"clip_ratio/region_mean": "clipped"}.get,
                "The share of tokens whose ratio had left the trusted range.",
                percent=True,
            ),
        ),
    ),
    Section(
        "loss",
        "What is minimised",
        (
            Spec("loss-loss", "Loss", {"loss": "training", "eval_loss": "held out"}.get, "The trainer's own loss."),
            Spec(
                "loss-tokens",
                "Tokens foretold",
                {"mean_token_accuracy": "right tokens"}.get,
                "The share of the assistant's tokens that were the likeliest.",
                percent=True,
            ),
            Spec("loss-gradient", "Gradient", {"grad_norm": "norm"}.get, "Its norm before it is clipped."),
            Spec("loss-rate", "Learning rate", {"learning_rate": "rate"}.get, "As the schedule has it."),
        ),
    ),
    Section(
        "throughput",
        "How fast it goes",
        (
            Spec(
                "throughput-tokens",
                "Tokens a second",
                {TOKENS_PER_SECOND: "tokens a second"}.get,
                "All tokens of a step over the time since the step before.",
            ),
            Spec(
                "throughput-device",
                "The device",
                {GPU_UTILISATION: "GPU busy", MFU: "of its peak (MFU)"}.get,
                "The share of the time in which the GPU was busy, and of its peak that the model's own passes come to.",
                percent=True,
            ),
            Spec("throughput-step", "Time of a step", {"step_time": "seconds"}.get, "As the trainer has it.", "s"),
            Spec("throughput-memory", "GPU memory", {GPU_MEMORY: "held"}.get, "The most that was held.", "GB"),
        ),
    ),
)
