"""``geosleuth world``: street scenes drawn from real geography, to train and to measure with."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import Commands, JsonFlag, JsonOptions, Options, Overwrite, declare_required, flag, option

world = Commands()


class MakeOptions(JsonOptions):
    """The options of ``make``."""

    out: Path = declare_required("A new folder, or one to continue.", "--out", "-o", metavar="FOLDER")
    count: int = option(100, "How many scenes.", min=1, max=10_000_000, metavar="N")
    seed: int = option(1, "Another one gives other scenes.", min=0, metavar="N")
    split: Literal["train", "held-out"] = option("train", "Which places and designs: the two share neither.")
    kind: Literal["street", "panorama", "mixed"] = option("street", "Which kind of picture.")
    workers: int | None = option(
        None, "Processes that draw at the same time; left out, one a core.", min=1, max=256, metavar="N"
    )
    region: list[str] = option([], "An added region whose real businesses join; may be repeated.", metavar="NAME")
    noise: Literal["none", "chains", "homonyms", "both"] = option(
        "both", "Which businesses' names stand in several towns."
    )
    web_pages: bool = flag("Businesses have pages on a made-up web, and a quarter of scenes needs one.")
    world_seed: int = option(1, "Another one gives other towns, streets and businesses.", min=0, metavar="N")


@world.command()
def make(options: MakeOptions) -> None:
    """Draw scenes into a folder: pictures, truths, clue boxes, and a card that says what they are.

    FOLDER/set.jsonl is a data set (geosleuth bench run --data FOLDER/set.jsonl), FOLDER/scenes.jsonl has every scene
    whole. Stop it whenever you like: the same command resumes, and a larger --count adds to it.
    The same words give the same bytes, on any machine and with any number of workers.

    Examples:

      geosleuth world make --count 1000 --seed 7 --split held-out --out scenes

      geosleuth world make --count 50 --kind panorama --out panoramas --workers 2
    """
    from geosleuth.lab.cli.handlers import world as work

    work.make(options)


@world.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that world make filled.")],
    scene: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A scene of it; left out, what the folder holds.")
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Also write the picture with its clues framed.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Show what a folder holds, or one scene: where it is, every clue and what it says, the address that follows.

    Examples:

      geosleuth world show scenes

      geosleuth world show scenes held-out-7-000012 --out framed.png
    """
    from geosleuth.lab.cli.handlers import world as work

    if scene is None:
        work.show_folder(folder, as_json=as_json)
    else:
        work.show_scene(folder, scene, out, overwrite=overwrite, as_json=as_json)


class EnvironmentOptions(Options):
    """Parts of a training environment."""

    data: str = declare_required("The photos, as for geosleuth bench run: a path, or NAME:PATH.", metavar="SET")
    method: str = option("default", "Whose words, tools and budget.", metavar="NAME")
    reward: str = option("ours", "What answers earn: a preset's name, or a YAML file.", metavar="NAME")
    tools: str | None = option(None, "Only these tools; left out, the method's own that work offline.", metavar="A,B")
    turns: int | None = option(None, "In place of the method's own.", min=1, metavar="N")
    boxes: Literal["pixels", "thousandths", "fractions"] = option("pixels", "How models give boxes.")
    world_seed: int | None = option(None, "Ask the map of this world, where its scenes stand.", min=0, metavar="N")
    limit: int | None = option(None, "Only N photos, drawn at random and always the same.", min=1, metavar="N")
    allow_test: bool = flag("Take test parts of data sets too; what is written keeps that mark.")


class WorldServeOptions(EnvironmentOptions):
    """The options of ``serve``."""

    port: int = option(8000, "0 takes any that is free.", min=0, max=65_535, metavar="N")
    sessions: int = option(16, "Clients at once.", min=1, max=1024, metavar="N")


@world.command()
def serve(options: WorldServeOptions) -> None:
    """Serve the training environment to OpenEnv clients, on this machine alone.

    Needs openenv, which is no part of geosleuth; without it, one line says how to get it.

    Examples:

      geosleuth world serve --data scenes/set.jsonl --world-seed 1

      geosleuth world serve --data photos.csv --method spotagent --reward spotagent --port 8123
    """
    from geosleuth.lab.cli.handlers import world as work

    work.serve(options)


class ExportOptions(EnvironmentOptions):
    """The options of ``export``."""

    library: Literal["verl", "verifiers"] = declare_required("Whose files to write.", "--for")
    out: Path = declare_required("Files of the same names are replaced.", "--out", "-o", metavar="FOLDER")
    as_json: JsonFlag = False


@world.command()
def export(options: ExportOptions) -> None:
    """Write the training environment for verl (tools.yaml, rows.parquet) or verifiers (a task set to install).

    Photos stay where they are and must be files of their own; the files written name their paths.

    Examples:

      geosleuth world export --for verl --data scenes/set.jsonl --world-seed 1 --out verl --boxes thousandths

      geosleuth world export --for verifiers --data scenes/set.jsonl --world-seed 1 --out tasks
    """
    from geosleuth.lab.cli.handlers import world as work

    work.export(options)
