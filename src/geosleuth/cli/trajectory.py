"""``geosleuth trajectory``: look at a recorded run, go through it again, hand it to others."""

from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import Commands, JsonFlag

trajectory = Commands()

Recording = Annotated[Path, typer.Argument(metavar="FILE", help="A trajectory file (JSON lines).")]
Photos = Annotated[
    list[Path] | None,
    typer.Option("--photo", metavar="PHOTO", help="A photo of the run, in the order they were given then; repeat it."),
]


_DIALECTS = "openai, tagged, sharegpt, trl or ms-swift"


@trajectory.command()
def show(
    file: Recording,
    *,
    whole: Annotated[bool, typer.Option("--whole", help="Shorten nothing.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a run turn by turn: thoughts, calls, results, candidates, answer, and what it cost.

    Example: geosleuth trajectory show run.jsonl
    """
    from geosleuth.cli.handlers import trajectory as work

    work.show_run(file, whole=whole, as_json=as_json)


@trajectory.command()
def export(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Trajectory files, one record each.")],
    *,
    to: Annotated[str, typer.Option(metavar="DIALECT", help=f"{_DIALECTS}, or PACKAGE:NAME of a plug-in.")],
    out: Annotated[Path, typer.Option(metavar="OUT", help="The file to write, one JSON record a line.")],
    photo: Photos = None,
    images: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the images below this folder; by default beside OUT.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="OUT may be replaced.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write runs in a dialect that trainers and other programs read. With --photo, their images too.

    Examples:

      geosleuth trajectory export run-1.jsonl run-2.jsonl --to trl --out train.jsonl

      geosleuth trajectory export run.jsonl --to sharegpt --out train.jsonl --photo photo.jpg
    """
    from geosleuth.cli.handlers import trajectory as work

    work.export_runs(files, to, out, photo or [], images, overwrite=overwrite, as_json=as_json)


@trajectory.command()
def replay(file: Recording, *, photo: Photos = None, as_json: JsonFlag = False) -> None:
    """Go through a run again and say whether the same happens; exit code 1 where it does not.

    The recorded results are used, or, where the photos are given, the tools themselves.

    Examples:

      geosleuth trajectory replay run.jsonl

      geosleuth trajectory replay run.jsonl --photo photo.jpg
    """
    from geosleuth.cli.handlers import trajectory as work

    work.replay_run(file, photo or [], as_json=as_json)
