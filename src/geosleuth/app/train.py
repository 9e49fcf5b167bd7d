"""``geosleuth train``: policies from recipes, stage by stage."""

from pathlib import Path
from typing import Annotated, Optional

import typer

train = typer.Typer(
    help="Train policies that look, search and answer: recipes, the stages that run them, and what came of it.",
    no_args_is_help=True,
)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Config = Annotated[
    str,
    typer.Option("--config", "-c", metavar="RECIPE", help="A YAML file, or a name of geosleuth train recipes."),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", "-o", metavar="RUN/", help="The run's folder; one with a run of this recipe is gone on with."
    ),
]
Changes = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Change a value of the recipe: --set optim.learning_rate=1e-5"),
]
NoResume = Annotated[bool, typer.Option("--no-resume", help="Refuse a folder that holds a run already.")]
Seconds = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=1.0, metavar="S", help="Stop after about so long, with a checkpoint to go on from."),
]


@train.command()
def sft(
    *,
    config: Config,
    out: Out,
    changes: Changes = [],  # noqa: B006 -- typer copies it
    no_resume: NoResume = False,
    seconds: Seconds = None,
    as_json: JsonFlag = False,
) -> None:
    """Fine-tune on questions about scenes, or on a store of trajectories.

    What it will take is told before it starts. Stopped or killed, the same command goes on from the last checkpoint.
    The policy ends up in RUN/policy: geosleuth locate photo.jpg --model hf:RUN/policy

    Examples:

      geosleuth train sft --config recipe.yaml --out runs/sft/

      geosleuth train sft --config recipe.yaml --out runs/try/ --set optim.steps=10 --set model.tuned=lora
    """
    from geosleuth.app import train_work as work

    work.run_stage("sft", config, out, changes, resume=not no_resume, seconds=seconds, as_json=as_json)


@train.command()
def coldstart(
    *,
    config: Config,
    out: Out,
    changes: Changes = [],  # noqa: B006 -- typer copies it
    no_resume: NoResume = False,
    seconds: Seconds = None,
    as_json: JsonFlag = False,
) -> None:
    """Learn to use tools from a store of trajectories; only the assistant's own words carry a loss.

    Examples:

      geosleuth train coldstart --config recipe.yaml --out runs/cold/ --set model.path=runs/sft/policy

      geosleuth train coldstart --config recipe.yaml --out runs/cold/ --set data.store=trajectories/
    """
    from geosleuth.app import train_work as work

    work.run_stage("coldstart", config, out, changes, resume=not no_resume, seconds=seconds, as_json=as_json)


@train.command()
def grpo(
    *,
    config: Config,
    out: Out,
    changes: Changes = [],  # noqa: B006 -- typer copies it
    no_resume: NoResume = False,
    seconds: Seconds = None,
    as_json: JsonFlag = False,
) -> None:
    """Reinforce what answers well: groups of replies with tools in the world, or over photos, rewarded by the recipe.

    Examples:

      geosleuth train grpo --config recipe.yaml --out runs/grpo/ --set model.path=runs/cold/policy

      accelerate launch $(command -v geosleuth) train grpo --config recipe.yaml --out runs/grpo/
    """
    from geosleuth.app import train_work as work

    work.run_stage("grpo", config, out, changes, resume=not no_resume, seconds=seconds, as_json=as_json)


@train.command("dry-run")
def dry_run(
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A YAML file, or a name of geosleuth train recipes.")],
    *,
    changes: Changes = [],  # noqa: B006 -- typer copies it
    as_json: JsonFlag = False,
) -> None:
    """Build all of a run but the weights, hold its values against the paper's, and say what it will take.

    Ends with 1 where something can't work or differs from the paper without being marked.

    Examples:

      geosleuth train dry-run spotagent-grpo

      geosleuth train dry-run recipe.yaml --set run.devices=8 --json
    """
    from geosleuth.app import train_work as work

    work.dry_run(recipe, changes, as_json=as_json)


@train.command()
def recipes(
    name: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(metavar="[NAME]", help="One of them: print its YAML, to copy and change."),
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """List the recipes that come with geosleuth: stage, model, whose hyper-parameters. Or print one.

    Examples:

      geosleuth train recipes

      geosleuth train recipes twm-grpo > mine.yaml
    """
    from geosleuth.app import train_work as work

    if name is None:
        work.list_recipes(as_json=as_json)
    else:
        work.show_recipe(name, as_json=as_json)


@train.command()
def show(
    run: Annotated[Path, typer.Argument(metavar="RUN/", help="The folder of a run, under way or finished.")],
    *,
    watch: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--watch", min=1.0, metavar="S", help="Again every S seconds until the run has ended, or nobody trains."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Sum up a run and draw its page, RUN/run.html, anew.

    Examples:

      geosleuth train show runs/grpo/

      geosleuth train show runs/grpo/ --watch 30
    """
    from geosleuth.app import train_show_work as work

    work.show_run(run, watch=watch, as_json=as_json)


@train.command()
def chart(
    source: Annotated[
        Path, typer.Argument(metavar="FILE.json", help="Lines or bars with intervals; see docs/training.md.")
    ],
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.svg", help="The picture; one of that name is replaced.")
    ],
    as_json: JsonFlag = False,
) -> None:
    """Draw results as a picture for documents, in light and dark.

    Examples:

      geosleuth train chart stages.json --out stages.svg
    """
    from geosleuth.app import train_show_work as work

    work.draw_chart(source, out, as_json=as_json)
