"""``geosleuth world serve`` and ``geosleuth world export``: the training environment for other people's libraries."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from geosleuth.app.world import world

__all__ = ["world"]

Data = Annotated[
    str,
    typer.Option("--data", metavar="SET", help="The photos, as for geosleuth bench run: a path, or NAME:PATH."),
]
MethodName = Annotated[str, typer.Option("--method", metavar="NAME", help="Whose words, tools and budget.")]
RewardName = Annotated[
    str, typer.Option("--reward", metavar="NAME", help="What answers earn: a preset's name, or a YAML file.")
]
ToolNames = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--tools", metavar="A,B", help="Only these tools; left out, the method's own that work offline."),
]
Turns = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--turns", min=1, metavar="N", help="In place of the method's own."),
]
Boxes = Annotated[Literal["pixels", "thousandths"], typer.Option("--boxes", help="How models give boxes.")]
WorldSeed = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--world-seed", min=0, metavar="N", help="Ask the map of this world, where its scenes stand."),
]
Limit = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--limit", min=1, metavar="N", help="Only the first photos."),
]


@world.command()
def serve(
    *,
    data: Data,
    method: MethodName = "default",
    reward: RewardName = "ours",
    tools: ToolNames = None,
    turns: Turns = None,
    boxes: Boxes = "pixels",
    world_seed: WorldSeed = None,
    limit: Limit = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, metavar="N", help="0 takes any that is free.")] = 8000,
    sessions: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Clients at once.")] = 16,
) -> None:
    """Serve the training environment to OpenEnv clients, on this machine alone.

    Needs openenv-core, which is no part of geosleuth; without it, one line says how to get it.

    Examples:

      geosleuth world serve --data scenes/set.jsonl --world-seed 1

      geosleuth world serve --data photos.csv --method spotagent --reward spotagent --port 8123
    """
    from geosleuth.app import world_environment_work as work

    words = work.words_of(method=method, reward=reward, tools=tools, turns=turns, boxes=boxes, world_seed=world_seed)
    work.serve(data, words, limit=limit, port=port, sessions=sessions)


@world.command()
def export(
    *,
    library: Annotated[Literal["verl", "verifiers"], typer.Option("--for", help="Whose files to write.")],
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Files of the same names are replaced.")],
    method: MethodName = "default",
    reward: RewardName = "ours",
    tools: ToolNames = None,
    turns: Turns = None,
    boxes: Boxes = "pixels",
    world_seed: WorldSeed = None,
    limit: Limit = None,
) -> None:
    """Write the training environment for verl (tools.yaml, rows.parquet) or verifiers (a task set to install).

    Photos stay where they are and must be files of their own; the files written name their paths.

    Examples:

      geosleuth world export --for verl --data scenes/set.jsonl --world-seed 1 --out verl --boxes thousandths

      geosleuth world export --for verifiers --data scenes/set.jsonl --world-seed 1 --out tasks
    """
    from geosleuth.app import world_environment_work as work

    words = work.words_of(method=method, reward=reward, tools=tools, turns=turns, boxes=boxes, world_seed=world_seed)
    work.export(library, data, words, out=out, limit=limit)
