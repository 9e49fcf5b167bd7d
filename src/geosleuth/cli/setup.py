"""``geosleuth setup``: which model is asked from now on."""

from typing import ClassVar

from geosleuth.cli.options import JsonFlag, RunOptions, flag, option


class SetupOptions(RunOptions):
    """The options of ``setup``: its own, and those that a profile keeps."""

    names_new_profile: ClassVar[bool] = True

    model: str | None = option(
        None, "Use this model; none is the detective. Without it, models are listed.", metavar="NAME"
    )
    pull: bool = flag("Have Ollama on this machine fetch a small open vision model, and use it.")
    untried: bool = flag("Do not try the model on an example photo first.")
    profile: str | None = option(
        None,
        "Save the options given as this profile; those of a paper's, or of the profile before, stay.",
        metavar="NAME",
    )
    yes: bool = flag("Ask nothing.", "--yes", "-y")
    as_json: JsonFlag = False


def setup(options: SetupOptions) -> None:
    """Find models within reach, try one on an example photo, and make it the default.

    Servers on this machine are asked for their models, and no other servers. Photos go to a host only after a yes.
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
