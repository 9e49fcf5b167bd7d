"""``geosleuth team``: several models on one photo."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import (
    Commands,
    JsonFlag,
    JsonOptions,
    Overwrite,
    PromptsFolder,
    WritingOptions,
    flag,
    option,
)

Dataset = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET", help="Geotagged photos, a table (CSV, JSONL) with path, lat, lon, or a data set: NAME:PATH."
    ),
]
TeamFile = Annotated[Path, typer.Option("--team", metavar="FILE", help="The team's file, see examples/team.yaml.")]
Photos = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only N photos, drawn by the seed.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The random seed.")]
AtOnce = Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Photos at the same time.")]
Offline = Annotated[bool, typer.Option("--offline", help="Refuse models that are not on this machine's disk.")]
Yes = Annotated[bool, typer.Option("--yes", help="Allow photos to be sent to the team's models.")]

team = Commands()


class CompareOptions(WritingOptions):
    """The options of ``compare``."""

    dataset: Dataset
    team: TeamFile
    ways: str | None = option(
        None,
        "Ways of working, with commas: swarm, strangers, majority, debate ...",
        metavar="NAMES",
        show_default="all, or swarm with --vary",
    )
    vary: list[str] | None = option(
        None,
        "Vary the swarm instead: answerers=1..8, reviewers=1..8, rounds=0,1,3, agents=2..6 (with --ways), "
        "answerers=1..4*reviewers=0..3 (a grid), personas-against-backbones, or usual; may be given several times.",
        metavar="SETTING=VALUES",
    )
    record: Path | None = option(
        None, "Other photos, to find the member with the best record; else the first.", metavar="DATASET"
    )
    out: Path | None = option(None, "Write the page of plots here; it is one file and loads nothing.", metavar="FILE")
    replies: Path | None = option(
        None, "Keep replies here, and ask nothing twice; by default beside the team.", metavar="FILE"
    )
    photos: Photos = None
    seed: Seed = 0
    at_once: AtOnce = 4
    prompts: PromptsFolder = None
    offline: Offline = False
    yes: Yes = False


@team.command()
def compare(options: CompareOptions) -> None:
    """Compare ways of working, or settings of the swarm, on photos with known places.

    Prints accuracy at the team's threshold (50 km), tokens, calls and seconds a photo, and tests of the first way
    against each other over the same photos. An interrupted run resumes: replies are kept.

    Examples:

      geosleuth team compare holdout.csv --team team.yaml --ways swarm,majority,debate --record train.csv

      geosleuth team compare holdout.csv --team team.yaml --vary usual --out sweep.html

      geosleuth team compare holdout.csv --team team.yaml --vary agents=2..6 --ways all
    """
    from geosleuth.lab.cli.handlers.team_compare import compare_team

    compare_team(options)


class LearnOptions(JsonOptions):
    """The options of ``learn``."""

    dataset: Dataset
    team: TeamFile
    state: Path | None = option(
        None, "Where it is kept; by default its society, or beside the team's file.", metavar="FILE"
    )
    encoder: str = option("bundled", "bundled, an .onnx file, or a folder with a VAE or vision model.", metavar="SPEC")
    preset: Literal["quick", "paper"] = option(
        "quick", "quick, or all as in the paper: its rounds, its network, its schooling."
    )
    rounds: int = option(20, "Rounds about each photo (L).", min=1, metavar="N")
    within_km: float = option(50.0, "How near an answer must be (th).", min=0.0, metavar="KM")
    judged: Literal["own", "reviewed"] | None = option(
        None, "Who is to be elected: by own answers (quick), or by reviewed ones (paper)."
    )
    labels: Literal["answered", "mean", "last"] | None = option(
        None, "What becomes of the rounds: answered (quick), mean, or last (paper)."
    )
    link_rule: Literal["default", "printed", "released"] = option(
        "default", "How links change: default (ours), printed (the paper), released (its code)."
    )
    ask_anew: bool = flag("Ask every question again in every round, as the paper does.")
    photos: int | None = option(None, "Stop asking after N new photos.", min=1, metavar="N")
    max_tokens: int | None = option(None, "Stop asking after so many tokens, images included.", min=1, metavar="N")
    max_seconds: float | None = option(None, "Stop asking after so many seconds.", min=0.0, metavar="S")
    at_once: AtOnce = 2
    seed: Seed = 0
    prompts: PromptsFolder = None
    offline: Offline = False
    yes: Yes = False


@team.command()
def learn(options: LearnOptions) -> None:
    """Learn whom to trust with which picture, from photos whose place is known.

    An interrupted run resumes: photos learned from before are not asked about again. Several runs may
    learn into one state at once.

    Examples:

      geosleuth team learn streets.csv --team team.yaml

      geosleuth team learn holiday --team team.yaml --photos 100 --max-tokens 2000000
    """
    from geosleuth.lab.cli.handlers.team_learn import learn_team

    learn_team(options)


@team.command()
def show(
    state: Annotated[Path, typer.Argument(metavar="STATE", help="What a team has learned, see geosleuth team learn.")],
    *,
    photo: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Show whom the team would trust with this photo.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw it here: .html (a page that loads nothing), .svg or .json."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a drawing that is there already.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show the social network of a team: who is elected, and whom each asks for a review.

    Examples:

      geosleuth team show team.db

      geosleuth team show team.db --photo photo.jpg --out team.html
    """
    from geosleuth.lab.cli.handlers import team_learn as work

    work.show_team(state, photo, out, overwrite=overwrite, as_json=as_json)


@team.command()
def replay(
    files: Annotated[
        list[str], typer.Argument(metavar="[NAME=]FILE…", help="Recorded answers, a file an agent: .jsonl or .csv.")
    ],
    *,
    folds: Annotated[int, typer.Option(min=2, max=50, help="How many parts; each is answered from the others.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="What the split depends on.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.jsonl", help="Also write the answers, as records to score."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Learn from all images, and keep what was learned.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Answer with what was learned before; truths are not read.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn from recorded answers whom to trust when, and measure it on images it never saw.

    Each file is an agent whose answers are known. Every image is answered by what was learned from the other parts;
    images of one name, or taken within 100 m of each other, are never split. Beside it stand the best agent, a plain
    vote, smileGeo's election and the oracle.

    Examples:

      geosleuth team replay gpt5.jsonl o3.jsonl qwen.jsonl --out answers.jsonl

      geosleuth team replay first=a/run.jsonl second=b/run.jsonl --folds 10 --json

      geosleuth team replay gpt5.jsonl o3.jsonl --save trust.json

      geosleuth team replay gpt5=new/a.jsonl o3=new/b.jsonl --model trust.json --out answers.jsonl
    """
    # Several threads sum in another order, so figures would depend on the machine; one is also faster here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from geosleuth.lab.cli.handlers import team_replay as work
    from geosleuth.support.console import show_result

    named = work.parse_named_files(files)
    work.check_outputs(named, out, save, model, overwrite=overwrite)
    if model is not None:
        applied = work.apply_model(named, model, out)
        show_result(work.build_applied_document(applied), work.render_applied(applied), as_json=as_json)
        return
    report = work.measure(named, folds=folds, seed=seed)
    if out is not None:
        work.write_answers(out, report)
    if save is not None:
        work.save_trust(save, report, seed=seed)
    show_result(work.replay_document(report), work.replay_view(report), as_json=as_json)


@team.command()
def tries(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of geosleuth bench run --parallel N.")],
    *,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", metavar="K", help="The K of pass@K, may be given several times; by default 1, 2, 4 ... N."),
    ] = None,
    within: Annotated[
        str | None, typer.Option(metavar="KM,KM,…", help="Report these distances; by default 1, 25, 200 and 750 km.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Print how often the tries of a benchmark run are right, and its verifier.

    Prints the mean of single tries, pass@K, best@N, range@N and verifier@N.

    Examples:

      geosleuth bench run --data holdout.csv --model ollama:qwen3-vl --parallel 4 --verifier same --out runs/tries/

      geosleuth team tries runs/tries/ --k 1 --k 4
    """
    from geosleuth.lab.cli.handlers.bench import thresholds_km
    from geosleuth.lab.cli.handlers.team_compare import TRIES_KM, show_tries

    show_tries(run, k or (), TRIES_KM if within is None else thresholds_km(within), as_json=as_json)
