"""``geosleuth setup``: which model is asked from now on."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from geosleuth.cli.options import JsonFlag, RunOptions, takes


@dataclass(frozen=True, kw_only=True)
class SetupOptions(RunOptions):
    """The options of ``setup``: its own, and those that a profile keeps."""

    names_new_profile: ClassVar[bool] = True

    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Use this model; none is the detective. Without it, models are listed."),
    ] = None
    pull: Annotated[
        bool,
        typer.Option("--pull", help="Have Ollama on this machine fetch a small open vision model, and use it."),
    ] = False
    untried: Annotated[bool, typer.Option("--untried", help="Do not try the model on an example photo first.")] = False
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Save the options given as this profile; those of a paper's, or of the profile before, stay.",
        ),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False
    as_json: JsonFlag = False


@takes(SetupOptions)
def setup(options: SetupOptions) -> None:
    """Find models within reach, try one on an example photo, and make it the default.

    Servers on this machine are asked for their models, and nobody else. Photos go to a host only after a yes.
    With --profile, method, maps, searches, verifier and budgets are kept under a name; keys never are.

    Examples:

      geosleuth setup

      geosleuth setup --model ollama:qwen3.5:4b --yes

      geosleuth setup --pull

      geosleuth setup --model none

      geosleuth setup --profile twm --model server:qwen3-vl --base-url http://127.0.0.1:8000/v1 --yes
    """
    from geosleuth.cli.handlers.setup import set_up

    set_up(options)
