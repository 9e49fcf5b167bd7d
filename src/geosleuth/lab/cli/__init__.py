"""The commands of the laboratory; the command line finds them by their entry point."""

from geosleuth.cli.commands import CommandPanel

PANEL = CommandPanel(
    title="Laboratory: measure, draw scenes, train",
    groups={
        "bench": "Make answers and measure them: run, report, score, compare, and the papers' own rows.",
        "dataset": "Data sets on this disk: what is known of each, what is really there, copies to hand on; "
        "and making them.",
        "team": "Teams of agents: learn whom to trust, look at it, and replay known answers.",
        "traces": "Trajectories to learn from: make, keep, filter and export them for trainers.",
        "train": "Train policies that look, search and answer: recipes, the stages that run them, and what came of it.",
        "world": "Drawn street scenes in real towns, with their truth: make many, look at one, train in them.",
    },
    package=__name__,
)
