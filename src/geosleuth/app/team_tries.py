"""``geosleuth team tries``: what several tries and a verifier are worth, on photos whose place is known."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from geosleuth.app.team_compare import Dataset, JsonFlag, Offline, Photos


def tries(
    dataset: Dataset,
    *,
    model: Annotated[str, typer.Option("--model", metavar="SPEC", help="Who makes the tries, such as openai:gpt-5.")],
    base_url: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="URL", help="Where a server of your own listens."),
    ] = None,
    parallel: Annotated[int, typer.Option(min=2, max=64, metavar="N", help="Tries a photo, all at once.")] = 4,
    verifier: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SPEC", help="Who verifies: same, or a model; left out, code does."),
    ] = None,
    chains: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="KIND", help="What a model that verifies reads: whole or facts."),
    ] = None,
    k: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--k", metavar="NUMBERS", help="The K of pass@K, with commas; by default 1, 2, 4 ... N."),
    ] = None,
    method: Annotated[Optional[str], typer.Option(metavar="NAME", help="How the tries go about it.")] = None,  # noqa: UP045
    tools: Annotated[Optional[str], typer.Option(metavar="NAMES", help="Their tools; none for none.")] = None,  # noqa: UP045
    turns: Annotated[Optional[int], typer.Option(min=1, metavar="N", help="Turns of each try.")] = None,  # noqa: UP045
    photos: Photos = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seeds of the tries count up from it.")] = 1,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="A line of JSON for each photo is added here; none is asked twice.")
    ] = Path("tries.jsonl"),
    offline: Offline = False,
    yes: Annotated[bool, typer.Option("--yes", help="Allow photos to be sent to the models.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make several tries at photos whose place is known, let a verifier decide, and say how often each is right.

    Prints verifier@N, the mean of single tries, best@N, pass@K and range@N at 1, 25, 200 and 750 km. A run that is cut
    off goes on where it was: photos that are in --out already are not asked about again.

    Examples:

      geosleuth team tries holdout.csv --model ollama:qwen3-vl --parallel 4

      geosleuth team tries holdout.csv --model openai:gpt-5 --parallel 8 --verifier same --k 1,2,4,8 --out tries.jsonl
    """
    from geosleuth.app import team_tries_work as work
    from geosleuth.pipeline.request import LocateRequest

    request = LocateRequest(
        model=model, base_url=base_url, parallel=parallel, verifier=verifier, chains=chains, method=method,
        tools=tools, turns=turns, seed=seed, offline=offline, yes=yes,
    )  # fmt: skip
    work.measure_tries(dataset, request, k=k, photos=photos, out=out, as_json=as_json)
