"""``geosleuth world``: street scenes drawn from real geography, to train and to measure with."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

world = typer.Typer(
    help="Drawn street scenes in real towns, with their truth: make many, look at one, put some on a sheet.",
    no_args_is_help=True,
)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Another one gives other scenes.")]
WorldSeed = Annotated[
    int, typer.Option("--world-seed", min=0, metavar="N", help="Another one gives other towns, streets and businesses.")
]
SplitName = Annotated[
    Literal["train", "held-out"], typer.Option(help="Which places and designs: the two share neither.")
]
Kind = Annotated[Literal["street", "panorama", "satellite", "mixed"], typer.Option(help="Which kind of picture.")]
Noise = Annotated[
    Literal["none", "chains", "homonyms", "both"],
    typer.Option(help="Which businesses' names stand in several towns."),
]
RegionNames = Annotated[
    list[str],
    typer.Option("--region", metavar="NAME", help="An added region whose real businesses join; may be repeated."),
]


@world.command()
def make(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="A new folder, or one to go on with.")],
    count: Annotated[int, typer.Option(min=1, max=10_000_000, metavar="N", help="How many scenes.")] = 100,
    seed: Seed = 1,
    split: SplitName = "train",
    kind: Kind = "street",
    workers: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, max=256, metavar="N", help="Processes that draw at the same time; left out, one a core."),
    ] = None,
    region: RegionNames = [],  # noqa: B006
    noise: Noise = "both",
    world_seed: WorldSeed = 1,
    as_json: JsonFlag = False,
) -> None:
    """Draw scenes into a folder: pictures, truths, clue boxes, and a card that says what they are.

    FOLDER/set.jsonl is a data set (geosleuth bench run --data FOLDER/set.jsonl), FOLDER/scenes.jsonl has every scene
    whole. Stop it whenever you like: the same command goes on where it was, and a larger --count adds to it.
    The same words give the same bytes, on any machine and with any number of workers.

    Examples:

      geosleuth world make --count 1000 --seed 7 --split held-out --out scenes

      geosleuth world make --count 50 --kind panorama --out panoramas --workers 2
    """
    from geosleuth.app import world_work as work

    work.make(
        out, count=count, seed=seed, split=split, kinds=kind, workers=workers, regions=region, noise=noise,
        world_seed=world_seed, as_json=as_json,
    )  # fmt: skip


@world.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that world make filled.")],
    scene: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(metavar="[ID]", help="A scene of it; left out, what the folder holds."),
    ] = None,
    *,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--out", "-o", metavar="FILE", help="Also write the picture with its clues framed."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there already.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show what a folder holds, or one scene: where it is, every clue and what it says, the address that follows.

    Examples:

      geosleuth world show scenes

      geosleuth world show scenes held-out-7-000012 --out framed.png
    """
    from geosleuth.app import world_work as work

    if scene is None:
        work.show_folder(folder, as_json=as_json)
    else:
        work.show_scene(folder, scene, out, overwrite=overwrite, as_json=as_json)


@world.command()
def sheet(
    folder: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(metavar="[FOLDER]", help="A folder that world make filled; left out, scenes are drawn afresh."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The sheet: .png, .jpg or .webp.")],
    count: Annotated[int, typer.Option(min=1, max=200, metavar="N", help="How many scenes.")] = 24,
    columns: Annotated[int, typer.Option(min=1, max=12, metavar="N", help="How many side by side.")] = 4,
    seed: Seed = 1,
    split: SplitName = "train",
    kind: Kind = "street",
    world_seed: WorldSeed = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there already.")] = False,
) -> None:
    """Put scenes on one sheet, each with its town, country, level and what is odd about it.

    Examples:

      geosleuth world sheet --seed 3 --out sheet.png

      geosleuth world sheet scenes --count 12 --columns 3 --out sheet.png
    """
    from geosleuth.app import world_work as work

    work.sheet(
        folder, out, count=count, columns=columns, seed=seed, split=split, kinds=kind, world_seed=world_seed,
        overwrite=overwrite,
    )  # fmt: skip
