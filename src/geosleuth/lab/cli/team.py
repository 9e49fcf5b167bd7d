"""``geosleuth team``: several models on one photo."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from geosleuth.cli.options import JsonFlag, Overwrite, PromptsFolder, RunOptions, request_of, takes

Dataset = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET", help="Geotagged photos, a table (CSV, JSONL) with path, lat, lon, or a data set: NAME:PATH."
    ),
]
TeamFile = Annotated[Path, typer.Option("--team", metavar="FILE", help="The team's file, see examples/team.yaml.")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the page of plots here; it is one file and loads nothing."),
]
Replies = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keep replies here, and ask nothing twice; by default beside the team's file."),
]
Photos = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only N photos, drawn by the seed.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The random seed.")]
AtOnce = Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Photos at the same time.")]
Offline = Annotated[bool, typer.Option("--offline", help="Refuse models that are not on this machine's disk.")]
Yes = Annotated[bool, typer.Option("--yes", help="Allow photos to be sent to the team's models.")]

replaying = typer.Typer(add_completion=False)
"""The command by itself; ``geosleuth team`` takes it in."""
team = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of ``compare``."""

    dataset: Dataset
    team: TeamFile
    ways: Annotated[
        str, typer.Option(metavar="NAMES", help="Ways of working, with commas: swarm, strangers, majority, debate ...")
    ] = "all"
    record: Annotated[
        Path | None,
        typer.Option(metavar="DATASET", help="Other photos, to find the member with the best record; else the first."),
    ] = None
    out: Out = None
    replies: Replies = None
    photos: Photos = None
    seed: Seed = 0
    at_once: AtOnce = 4
    prompts: PromptsFolder = None
    offline: Offline = False
    yes: Yes = False
    overwrite: Overwrite = False
    as_json: JsonFlag = False


@takes(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Compare ways of working on photos with known places.

    Prints accuracy at the team's threshold (50 km), tokens, calls and seconds a photo, and tests of the first way
    against each other over the same photos. An interrupted run resumes: replies are kept.

    Examples:

      geosleuth team compare holdout.csv --team team.yaml --ways swarm,majority,debate --record train.csv

      geosleuth team compare holdout.csv --team team.yaml --out ways.html
    """
    from geosleuth.lab.cli.handlers import team_compare as work

    setting = work.Setting(
        options.dataset,
        options.team,
        options.replies,
        options.photos,
        options.seed,
        options.at_once,
        offline=options.offline,
        yes=options.yes,
        prompts=options.prompts,
    )
    work.compare_ways(
        setting, options.ways, options.record, options.out, overwrite=options.overwrite, as_json=options.as_json
    )


@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """The options of ``sweep``."""

    dataset: Dataset
    team: TeamFile
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTING=VALUES",
            help="answerers=1..8, reviewers=1..8, rounds=0,1,3, agents=2..6, answerers=1..4*reviewers=0..3 (a grid), "
            "or personas-against-backbones; may be given several times.",
        ),
    ] = None
    ways: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Ways of working for --vary agents=..., with commas, or all."),
    ] = "swarm"
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page of plots; it is one file and loads nothing.")] = (
        Path("sweep.html")
    )
    replies: Replies = None
    photos: Photos = None
    seed: Seed = 0
    at_once: AtOnce = 4
    prompts: PromptsFolder = None
    offline: Offline = False
    yes: Yes = False
    overwrite: Overwrite = False
    as_json: JsonFlag = False


@takes(SweepOptions)
def sweep(options: SweepOptions) -> None:
    """Vary a swarm's settings one by one, and plot accuracy and tokens over each, on one page.

    An interrupted run resumes: replies are kept.

    Examples:

      geosleuth team sweep holdout.csv --team team.yaml

      geosleuth team sweep holdout.csv --team team.yaml --vary "answerers=1..4*reviewers=0..3"

      geosleuth team sweep holdout.csv --team team.yaml --vary agents=2..6 --ways all
    """  # fmt: skip
    from geosleuth.lab.cli.handlers import team_compare as work

    setting = work.Setting(
        options.dataset,
        options.team,
        options.replies,
        options.photos,
        options.seed,
        options.at_once,
        offline=options.offline,
        yes=options.yes,
        prompts=options.prompts,
    )
    work.sweep_settings(
        setting, options.vary, options.ways, options.out, overwrite=options.overwrite, as_json=options.as_json
    )


class Preset(StrEnum):
    """How the network is taught."""

    quick = "quick"
    paper = "paper"


class LabelKind(StrEnum):
    """What becomes of the rounds about one photo."""

    answered = "answered"
    mean = "mean"
    last = "last"


class Rule(StrEnum):
    """How links change."""

    default = "default"
    printed = "printed"
    released = "released"


class Judged(StrEnum):
    """Which answer decides who is to be elected."""

    own = "own"
    reviewed = "reviewed"


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """The options of ``learn``."""

    dataset: Dataset
    team: TeamFile
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where it is kept; by default its society, or beside the team's file."),
    ] = None
    encoder: Annotated[
        str, typer.Option(metavar="SPEC", help="bundled, an .onnx file, or a folder with a VAE or vision model.")
    ] = "bundled"
    preset: Annotated[
        Preset, typer.Option(help="quick, or all as in the paper: its rounds, its network, its schooling.")
    ] = Preset.quick
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Rounds about each photo (L).")] = 20
    within_km: Annotated[float, typer.Option(min=0.0, metavar="KM", help="How near an answer must be (th).")] = 50.0
    judged: Annotated[
        Judged | None,
        typer.Option(help="Who is to be elected: by own answers (quick), or by reviewed ones (paper)."),
    ] = None
    labels: Annotated[
        LabelKind | None,
        typer.Option(help="What becomes of the rounds: answered (quick), mean, or last (paper)."),
    ] = None
    link_rule: Annotated[
        Rule, typer.Option(help="How links change: default (ours), printed (the paper), released (its code).")
    ] = Rule.default
    ask_anew: Annotated[
        bool, typer.Option("--ask-anew", help="Ask every question again in every round, as the paper does.")
    ] = False
    photos: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Stop asking after N new photos."),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Stop asking after so many tokens, images included."),
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="S", help="Stop asking after so many seconds."),
    ] = None
    at_once: AtOnce = 2
    seed: Seed = 0
    prompts: PromptsFolder = None
    offline: Offline = False
    yes: Yes = False
    as_json: JsonFlag = False


@takes(LearnOptions)
def learn(options: LearnOptions) -> None:
    """Learn whom to trust with which picture, from photos whose place is known.

    An interrupted run resumes: photos learned from before are not asked about again. Several runs may
    learn into one state at once.

    Examples:

      geosleuth team learn streets.csv --team team.yaml

      geosleuth team learn holiday --team team.yaml --photos 100 --max-tokens 2000000
    """
    from geosleuth.lab.cli.handlers import team_learn as work

    work.learn_team(
        work.Wanted(
            options.dataset,
            options.team,
            options.state,
            options.encoder,
            options.preset.value,
            options.rounds,
            options.within_km,
            options.judged and options.judged.value,
            options.labels and options.labels.value,
            options.link_rule.value,
            options.ask_anew,
            options.photos,
            options.max_tokens,
            options.max_seconds,
            options.at_once,
            options.seed,
            options.offline,
            options.yes,
            options.prompts,
        ),
        as_json=options.as_json,
    )


def show(
    state: Annotated[Path, typer.Argument(metavar="STATE", help="What a team has learned, see geosleuth team learn.")],
    *,
    photo: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Show whom the team would trust with this photo."),
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


@replaying.command()
def replay(
    files: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]FILE…", help="Recorded answers, a file an agent: .jsonl or .csv."),
    ],
    *,
    folds: Annotated[int, typer.Option(min=2, max=50, help="How many parts; each is answered from the others.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="What the split depends on.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.jsonl", help="Also write the answers, as records to score."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Learn from all images, and keep what was learned."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Answer with what was learned before; truths are not read."),
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
    from geosleuth.support.console import show, show_json

    named = work.named_files(files)
    work.check_outputs(named, out, save, model, overwrite=overwrite)
    if model is not None:
        applied = work.apply_model(named, model, out)
        if as_json:
            show_json(work.applied_document(applied))
        else:
            show(work.applied_view(applied))
        return
    report = work.measure(named, folds=folds, seed=seed)
    if out is not None:
        work.write_answers(out, report)
    if save is not None:
        work.save_trust(save, report, seed=seed)
    if as_json:
        show_json(work.replay_document(report))
    else:
        show(work.replay_view(report))


@dataclass(frozen=True, kw_only=True)
class TriesOptions(RunOptions):
    """The options of ``tries``: those of a run, and what is measured."""

    dataset: Dataset
    parallel: Annotated[int, typer.Option(min=2, max=64, metavar="N", help="Tries a photo, all at once.")] = 4
    k: Annotated[
        str | None,
        typer.Option("--k", metavar="NUMBERS", help="The K of pass@K, with commas; by default 1, 2, 4 ... N."),
    ] = None
    within: Annotated[
        str | None,
        typer.Option(metavar="KM,KM,…", help="Report these distances; by default 1, 25, 200 and 750 km."),
    ] = None
    photos: Photos = None
    at_once: AtOnce = 1
    seed: Annotated[int, typer.Option(metavar="N", help="Seeds of the tries count up from it.")] = 1
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="A line of JSON for each photo is added here; none is asked twice.")
    ] = Path("tries.jsonl")
    as_json: JsonFlag = False


@takes(TriesOptions)
def tries(options: TriesOptions) -> None:
    """Make several tries at photos with known places, let a verifier decide, and print how often each is right.

    Prints verifier@N, the mean of single tries, best@N, pass@K and range@N at any distances. An interrupted
    run resumes: photos that are in --out already are not asked about again.

    Examples:

      geosleuth team tries holdout.csv --model ollama:qwen3-vl --parallel 4

      geosleuth team tries holdout.csv --model openai:gpt-5 --parallel 8 --verifier same --k 1,2,4,8 --out tries.jsonl
    """
    from .handlers import team_compare as work

    request = request_of(options, RunOptions)
    wanted = work.TriesSetting(k=options.k, within=options.within, photos=options.photos, at_once=options.at_once)
    work.measure_tries(options.dataset, request, wanted, out=options.out, as_json=options.as_json)


for _command in (learn, show, compare, sweep, replay, tries):
    team.command()(_command)
