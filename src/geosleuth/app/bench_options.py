"""How answers are read and measured, as options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Parser = Annotated[
    Literal["lenient", "strict"],
    typer.Option(help="How replies are read: as a person would, or only exact JSON as the papers' tables were made."),
]
Distance = Annotated[
    Literal["geodesic", "great-circle"],
    typer.Option(help="On the WGS-84 ellipsoid, or on a sphere of 6371 km radius."),
]
Thresholds = Annotated[
    Optional[str],  # noqa: UP045  -- the option's type is read at run time
    typer.Option("--within", metavar="KM,KM,…", help="Report these distances instead of the ten usual ones."),
]
Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="Records: .jsonl or .csv; see docs/records.md.")]
