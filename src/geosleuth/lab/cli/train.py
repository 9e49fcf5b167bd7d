"""``geosleuth train``: policies from recipes, stage by stage."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import (
    Commands,
    JsonFlag,
    JsonOptions,
    PolicyCardFile,
    PromptsFolder,
    argument,
    declare_required,
    flag,
    option,
)

train = Commands()

Config = Annotated[
    str, typer.Option("--config", "-c", metavar="RECIPE", help="A YAML file, or a name of geosleuth train recipes.")
]
Changes = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Change a value of the recipe: --set optim.learning_rate=1e-5"),
]
AllowTest = Annotated[
    bool, typer.Option("--allow-test", help="Take test parts of data sets too; all later scores are marked.")
]

_SCENES, _PLAY, _REPLIES, _RUNS = "Scenes", "How it is played", "Replies", "Every saved policy of a run"


class StageOptions(JsonOptions):
    """The options of every stage."""

    config: Config
    out: Path = declare_required(
        "The run's folder; a run of this recipe there is resumed.", "--out", "-o", metavar="RUN/"
    )
    changes: Changes = field(default_factory=list)
    no_resume: bool = flag("Refuse a folder that holds a run already.")
    seconds: float | None = option(
        None, "Stop after about so long, with a checkpoint to resume from.", min=1.0, metavar="S"
    )


class GrpoOptions(StageOptions):
    """The options of ``grpo``."""

    allow_test: AllowTest = False


@train.command()
def sft(options: StageOptions) -> None:
    """Fine-tune on questions about scenes, or on a store of trajectories.

    An estimate is printed before it starts. If stopped or killed, the same command resumes from the last checkpoint.
    The policy ends up in RUN/policy: geosleuth locate photo.jpg --model hf:RUN/policy

    Examples:

      geosleuth train sft --config recipe.yaml --out runs/sft/

      geosleuth train sft --config recipe.yaml --out runs/try/ --set optim.steps=10 --set model.tuned=lora
    """
    from geosleuth.lab.cli.handlers import train as work

    work.run_stage("sft", options)


@train.command()
def coldstart(options: StageOptions) -> None:
    """Learn to use tools from a store of trajectories; only the assistant's own words carry a loss.

    Examples:

      geosleuth train coldstart --config recipe.yaml --out runs/cold/ --set model.path=runs/sft/policy

      geosleuth train coldstart --config recipe.yaml --out runs/cold/ --set data.store=trajectories/
    """
    from geosleuth.lab.cli.handlers import train as work

    work.run_stage("coldstart", options)


@train.command()
def grpo(options: GrpoOptions) -> None:
    """Reinforce what answers well: groups of replies with tools in the world, or over photos, rewarded by the recipe.

    Examples:

      geosleuth train grpo --config recipe.yaml --out runs/grpo/ --set model.path=runs/cold/policy

      accelerate launch $(command -v geosleuth) train grpo --config recipe.yaml --out runs/grpo/
    """
    from geosleuth.lab.cli.handlers import train as work

    work.run_stage("grpo", options, allow_test=options.allow_test)


@train.command("dry-run")
def dry_run(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A YAML file, or a name of geosleuth train recipes.")],
    *,
    changes: Changes = [],  # noqa: B006 -- typer copies it
    allow_test: AllowTest = False,
    as_json: JsonFlag = False,
) -> None:
    """Build all of a run but the weights, hold its values against the paper's, and say what it will take.

    Ends with 1 where something can't work or differs from the paper without being marked.

    Examples:

      geosleuth train dry-run spotagent-grpo

      geosleuth train dry-run recipe.yaml --set run.devices=8 --json
    """
    from geosleuth.lab.cli.handlers import train as work

    work.dry_run(recipe, changes, allow_test=allow_test, as_json=as_json)


@train.command()
def recipes(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of them: print its YAML, to copy and change.")
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """List the recipes that come with geosleuth: stage, model, whose hyper-parameters. Or print one.

    Examples:

      geosleuth train recipes

      geosleuth train recipes twm-grpo > mine.yaml
    """
    from geosleuth.lab.cli.handlers import train as work

    if name is None:
        work.list_recipes(as_json=as_json)
    else:
        work.show_recipe(name, as_json=as_json)


@train.command()
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN/", help="The folder of a run, under way or finished.")],
    *,
    watch: Annotated[
        float | None,
        typer.Option(
            "--watch", min=1.0, metavar="S", help="Repeat every S seconds until the run has ended or stopped."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Sum up a run and redraw its page, RUN/run.html.

    Examples:

      geosleuth train show runs/grpo/

      geosleuth train show runs/grpo/ --watch 30
    """
    from geosleuth.lab.cli.handlers import train as work

    work.show_run(run, watch=watch, as_json=as_json)


@train.command()
def tries(
    *,
    config: Config,
    policy: Annotated[
        Path,
        typer.Option("--policy", "-p", metavar="POLICY/", help="Who tries: a folder with weights, such as RUN/policy."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.jsonl", help="Rows that are in it already are left alone.")
    ],
    each: Annotated[int, typer.Option("--tries", "-k", min=2, metavar="K", help="Replies drawn for a row.")] = 8,
    at_once: Annotated[int, typer.Option(min=1, metavar="N", help="Rows of one generation.")] = 8,
    changes: Changes = [],  # noqa: B006 -- typer copies it
    as_json: JsonFlag = False,
) -> None:
    """Let a policy try the rows of a recipe several times, for choosing those that teach something.

    The recipe is one of reinforcement learning; name the file in it as data.tries. The same command resumes.

    Examples:

      geosleuth train tries --config recipe.yaml --policy runs/sft/policy --out tries.jsonl

      geosleuth traces filter tries.jsonl --out filtered/
    """
    from geosleuth.lab.cli.handlers import train as work

    work.make_tries(policy, config, changes, out, tries=each, at_once=at_once, as_json=as_json)


class EvaluateOptions(JsonOptions):
    """The options of ``evaluate``."""

    policy: str = argument("A folder with weights, such as RUN/policy; a RUN/; or: detective", metavar="POLICY/")
    scenes: int = option(1000, "So many, drawn on the spot.", panel=_SCENES, min=1)
    seed: int = option(7, "The seed of the scenes.", panel=_SCENES)
    split: Literal["held-out", "train"] = option("held-out", "Which places and designs.", panel=_SCENES)
    world: int = option(1, "Which world.", panel=_SCENES, metavar="SEED")
    start: int = option(0, "The number of the first scene.", panel=_SCENES, min=0)
    no_tools: bool = flag("Switch all tools off.", panel=_PLAY)
    method: str | None = option(
        None,
        "Whose words, tools and budget.",
        panel=_PLAY,
        metavar="NAME",
        show_default="as the policy was trained; default where nobody knows",
    )
    prompts: PromptsFolder = None
    policy_card: PolicyCardFile = None
    reward: str = option("ours", "What answers are scored by, beside the distance.", panel=_PLAY, metavar="NAME")
    strict: bool = flag("Count only an answer's own point: an answer in words is unlocated.", panel=_PLAY)
    reading: Literal["clue boxes", "pixels"] = option("clue boxes", "What read_text reads with.", panel=_PLAY)
    control: Literal["none", "blank image", "other image", "other tools"] = option(
        "none", "Show or read another scene, to see what the policy needs.", panel=_PLAY
    )
    turns: int | None = option(None, "In place of the method's own.", panel=_PLAY, min=1, metavar="N")
    each: int = option(1, "With several, a verifier decides.", "--tries", "-k", panel=_REPLIES, min=1, metavar="K")
    temperature: float | None = option(
        None, "Of drawing replies.", panel=_REPLIES, min=0.0, show_default="0; 1 for several tries"
    )
    max_new_tokens: int | None = option(None, "How long a reply may get.", panel=_REPLIES, min=1, metavar="N")
    workers: int = option(0, "Processes that draw scenes.", panel=_PLAY, min=0)
    batch: int | None = option(None, "Replies drawn together.", panel=_REPLIES, min=1, metavar="N")
    within: str | None = option(None, "Distances of the table over saved policies.", panel=_RUNS, metavar="KM,KM,…")
    k: str | None = option(None, "The K of pass@K; by default 1, 2, 4 ... N.", panel=_RUNS, metavar="NUMBERS")
    follow: bool = flag("Wait for further policies until the run has ended.", panel=_RUNS)
    keep_best: str | None = option(
        None, "Copy the best policy to RUN/best, by within_25km or another.", panel=_RUNS, metavar="FIGURE"
    )
    data: str | None = option(None, "Photos of a data set instead, the first --scenes.", panel=_SCENES, metavar="SET")
    at_once: int = option(64, "Tries that are under way at once.", panel=_PLAY, min=1, metavar="N")
    out: Path | None = option(
        None, "Store results scene by scene; an interrupted run resumes there.", "--out", "-o", metavar="FOLDER"
    )


@train.command()
def evaluate(options: EvaluateOptions) -> None:
    """Play a policy on held-out scenes of the world and say how near it comes, with 95 % intervals.

    Examples:

      geosleuth train evaluate runs/grpo/policy --scenes 1000 --out evaluations/grpo/

      geosleuth train evaluate runs/grpo/policy --scenes 1000 --no-tools --out evaluations/grpo-no-tools/

      geosleuth train evaluate detective --scenes 100

    The folder of a whole run plays every policy that it saved, with pass@K, best@N and range@N at any distances:

      geosleuth train evaluate runs/grpo/ --scenes 200 --tries 4 --within 1,25,200 --follow --out evaluations/grpo/
    """
    from geosleuth.lab.cli.handlers import train as work

    work.evaluate(options)
