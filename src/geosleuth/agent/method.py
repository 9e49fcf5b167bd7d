"""A method: how one paper, or we, let a model work on a photo. Each preset is one value of this type."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from geosleuth.answer import Answer
from geosleuth.models import Sampling, Step, Wire
from geosleuth.photo import BoxScale
from geosleuth.tools import Tool, Toolset
from geosleuth.tools.calls import MissingTool, Need

from .events import Budget, Task

ContextKind = Literal["whole", "trimmed", "freshest"]

# Estimate of text length before any model counts tokens: about right for English, too generous for Thai.
CHARACTERS_PER_TOKEN = 4


PanoramaShown = Literal["views", "planar"]
"""How a panorama is shown: cut into flat views all the way round, or as the one planar picture that the file holds."""


@dataclass(frozen=True, slots=True)
class Context:
    """Part of the history that a policy sees.

    Attributes:
        kind: "whole" shows all; "trimmed" cuts long results, marking the cut, and drops older pictures; "freshest"
            shows the task and only the newest replies.
        result_tokens: how long one result may be, as shown; None is no limit.
        result_characters: the same in characters, for papers that count so; it goes before tokens.
        images: how many pictures of results are shown at once; None is any number. What a turn brought is shown at
            least once; then the oldest are dropped, several in one step. The photo itself is always shown.
        replies: how many of the newest replies with their results "freshest" shows.
        tokens: how long the whole conversation may be, by the loop's own estimate; None is no limit. Where it is
            longer, the results of the oldest turns give way first, several in one step, and the gap is marked.
    """

    kind: ContextKind = "trimmed"
    result_tokens: int | None = None
    images: int | None = None
    replies: int = 1
    tokens: int | None = None
    result_characters: int | None = None

    @property
    def most_images(self) -> int | None:
        """The most images of results shown at once; None is any number."""
        return None if self.kind == "whole" else self.images

    @property
    def longest_result(self) -> int | None:
        """The most characters of a result that are shown; None is all of them."""
        if self.kind == "whole":
            return None
        if self.result_characters is not None:
            return self.result_characters
        return None if self.result_tokens is None else self.result_tokens * CHARACTERS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class Method:
    """Prompt design, tools, budget, wire format, context and answer format of one way to work.

    ``system`` and ``prompt`` write the words, given the task and the names of the tools that are switched on;
    ``read_answer`` reads the final reply (see ``accepts``). ``reminder`` is what a policy is told that ended without a
    readable answer. ``paper`` names the source and section.

    ``tools`` are those that are on unless the user says otherwise, by our names. ``shown_as`` has the paper's names for
    tools of ours; the words use them, and ``toolset`` lets the tools go by them. ``box_scale`` is how the words ask for
    boxes: a case must be made with the same. With ``quotes_lines`` calls may quote lines of signs by number, see
    `geosleuth.agent.turns`. With ``reads_thinking`` what a policy thought is part of its answer, and is read with it,
    see ``final_words``. With ``wants_guess`` its words ask for a best guess in any case. With ``tells_options`` schemas
    name the options of tools, see `Tool`; papers' tools have none. Without ``states_odds`` its form of answer has no
    odds: they may be asked for afterwards. ``verifier_words``, ``stage_words`` (what members of a team are asked, by
    stage) and ``prompts_sha256`` are those of a user's own words, see `geosleuth.agent.prompt_files`. ``panorama`` says
    how panoramas are shown: cut into flat views, or whole.
    """

    name: str
    summary: str
    paper: str | None
    tools: tuple[str, ...]
    budget: Budget
    wire: Wire
    context: Context
    system: Callable[[Task, tuple[str, ...]], str] = field(repr=False)
    prompt: Callable[[Task, tuple[str, ...]], str] = field(repr=False)
    read_answer: Callable[[str], Answer] = field(repr=False)
    reminder: str = field(repr=False)
    sampling: Sampling = field(default_factory=Sampling)
    first_view_pixels: int = 2_000_000
    box_scale: BoxScale = "pixels"
    shown_as: Mapping[str, str] = field(default_factory=dict, hash=False)
    quotes_lines: bool = False
    reads_thinking: bool = False
    wants_guess: bool = False
    tells_options: bool = False
    states_odds: bool = True
    verifier_words: str | None = field(default=None, repr=False)
    stage_words: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    prompts_sha256: str | None = None
    panorama: PanoramaShown = "views"

    def final_words(self, step: Step) -> str:
        """Return the text for ``read_answer``: a reply's words, after its thinking where that is read too.

        The thinking stands between ``<think>`` tags, however it travelled.
        """
        if not self.reads_thinking or not step.thinking.strip():
            return step.text
        return f"<think>\n{step.thinking}\n</think>\n{step.text}"

    def shown(self, tool: Tool) -> Tool:
        """A tool as policies of this method are shown it: by the paper's name, with or without its options."""
        name = self.shown_as.get(tool.name, tool.name)
        aliases = tuple(alias for alias in (tool.name, *tool.aliases) if alias != name)
        untold = tool.untold if self.tells_options else (*tool.untold, *tool.options)
        return replace(tool, name=name, aliases=aliases, untold=untold)

    def toolset(
        self,
        tools: Toolset,
        names: Iterable[str | Tool] | None = None,
        *,
        have: Collection[Need] | None = None,
    ) -> Toolset:
        """The tools of a run, named as this method names them; the other names stay aliases.

        Args:
            tools: all tools there are.
            names: those to switch on, by any of their names; None is the method's own choice. Names that begin with a
                plus sign, and tools themselves, are added to the others; with nothing but these, to the method's own.
            have: what the run has. Tools of the method's own choice that can't answer without more are left out, and
                are the toolset's ``missing``.

        Raises:
            BadInput: there is no tool of such a name.
        """
        missing: tuple[MissingTool, ...] = ()
        listed = list(names) if names is not None else []
        added = [item for item in listed if not isinstance(item, str) or item.strip().startswith("+")]
        only = [item for item in listed if item not in added]
        if names is None or (added and not only):
            own = tools.select(self.tools)
            own = own if have is None else own.usable(have)
            only, missing = list(own), own.missing
        more = [item.strip().removeprefix("+") if isinstance(item, str) else item for item in added]
        chosen = tools.select([*only, *more])
        lacking = [item for item in missing if chosen.get(item.name) is None]
        return Toolset(
            map(self.shown, chosen), (replace(item, name=self.shown_as.get(item.name, item.name)) for item in lacking)
        )


def accepts(answer: Answer, task: Task) -> bool:
    """Return whether the parsed text is an answer to the task.

    A point or a place is one. So is saying why no place can be told, unless the task wants a best guess in any case.
    """
    if answer.located or answer.address:
        return True
    return answer.explanation is not None and not task.force_answer
