"""``geosleuth prior``: learn from your own photos what places look like, test that, and ask it about a photo."""

import os
from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import Commands, JsonFlag, Overwrite, PhotoFile

prior = Commands()

Source = Annotated[
    Path, typer.Argument(metavar="FOLDER|CSV", help="Geotagged photos, or a table with columns path, lat, lon.")
]


@prior.command()
def learn(
    source: Source,
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prior; by default the one that locate uses.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="As for `index`; by default dinov2 where it is installed, else bundled."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn what places look like. An interrupted run resumes.

    Examples:

      geosleuth prior learn holiday

      geosleuth prior learn streets.csv --out streets.prior

      geosleuth prior learn streets.csv --encoder bundled --out light.prior
    """
    # Several threads wait for each other by spinning, which on a busy machine takes many times as long as one alone.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from geosleuth.cli.handlers import prior as work

    work.learn_prior(source, out, encoder, overwrite=overwrite, as_json=as_json)


@prior.command("test")
def measure(
    source: Source,
    *,
    prior: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prior; by default the one that locate uses.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Test a prior on photos of other places, beside the nearest neighbour and a plain linear model.

    Example: geosleuth prior test other-places.csv --prior streets.prior
    """
    from geosleuth.cli.handlers import prior as work

    work.measure_prior(source, prior, as_json=as_json)


@prior.command()
def look(
    photo: PhotoFile,
    *,
    prior: Annotated[
        str | None, typer.Option(metavar="FILE|geoclip:FOLDER", help="The prior; by default the one that locate uses.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say where a photo may have been taken by its look alone.

    Example: geosleuth prior look photo.jpg
    """
    from geosleuth.cli.handlers import prior as work

    work.show_look(photo, prior, as_json=as_json)
