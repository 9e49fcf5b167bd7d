"""What ``geosleuth world serve`` and ``geosleuth world export`` do."""

from itertools import islice
from pathlib import Path
from typing import Any, Literal

import typer

from geosleuth.bench.sets import open_set
from geosleuth.errors import BadInput
from geosleuth.world.environment.setting import setting_of

_HOST = "127.0.0.1"


def words_of(
    *, method: str, reward: str, tools: str | None, turns: int | None, boxes: str, world_seed: int | None
) -> dict[str, Any]:
    """How episodes are played, as files hold it; what was left out is not in it."""
    names = None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]
    # Files that name another file must find it from wherever they are read.
    earns = str(Path(reward).absolute()) if Path(reward).is_file() else reward
    words = {"method": method, "reward": earns, "tools": names, "turns": turns, "box_scale": boxes, "world": world_seed}
    return {name: value for name, value in words.items() if value is not None}


def serve(data: str, words: dict[str, Any], *, limit: int | None, port: int, sessions: int) -> None:
    """Serve until somebody stops it.

    Raises:
        UserError: OpenEnv is not installed, or a word or a photo can't be used.
    """
    from geosleuth.world.environment.for_openenv import openenv_app
    from geosleuth.world.environment.posing import row_of

    rows = [row_of(item) for item in islice(open_set(data), limit)]
    app = openenv_app(setting_of({**words, "answer_by": "reply"}), rows, sessions=sessions)
    import uvicorn

    typer.echo(f"{len(rows)} photos; an OpenEnv client connects to http://{_HOST}:{port} (Ctrl-C stops)", err=True)
    uvicorn.run(app, host=_HOST, port=port, log_level="warning")


def export(
    library: Literal["verl", "verifiers"], data: str, words: dict[str, Any], *, out: Path, limit: int | None
) -> None:
    """Write the files and say what is where.

    Raises:
        UserError: a word or a photo can't be used, or something is not installed.
    """
    from geosleuth.world.environment.for_verl import write_verl
    from geosleuth.world.environment.verifiers_package import write_verifiers

    write = write_verl if library == "verl" else write_verifiers
    try:
        count = write(out, islice(open_set(data), limit), words)
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error
    typer.echo(f"{count} photos written to {out} for {library}", err=True)
