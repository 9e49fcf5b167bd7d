"""Members backed by a model: a plain one, an agent with tools, or a persona; and their cost.

Every request runs through the agent's loop, with the member's own tools and limits.
"""

import asyncio
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from geosleuth.agent import Budget, Context, Method, Said, Task, Trajectory, build_conversation, run
from geosleuth.agent.locate import open_case
from geosleuth.agent.method import CHARACTERS_PER_TOKEN
from geosleuth.agent.methods import read_comment
from geosleuth.agent.methods.shared import PLACES_NOT_PEOPLE, boxes, fill, own_names, paragraphs, question, tool_list
from geosleuth.agent.methods.smilegeo import read_answer, smilegeo
from geosleuth.agent.setup import AgentSetup, PhotoQuestion, Resources
from geosleuth.answer import Answer
from geosleuth.models import Message, Observed, Policy, Prompt, Sampling, Step, Wire
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import ServiceFault, UserError
from geosleuth.teams import Reply, Request, image_tokens, text_tokens
from geosleuth.tools import Case, Toolset

from .swarm import with_note

_LOOK_AT_REPLIES = """\
You are shown a photo and what was said about where it was taken. Look at the photo yourself, and judge what was said
by it."""
_FORCED = """\
In this run, give your best guess in every case, with a confidence that is honest, and add "lat" and "lon" to the
location, in decimal degrees, south and west negative."""
# Photos whose views stay in memory: those that the members of one team, or of a few, look at now.
_CASES_KEPT = 8
# Stages whose replies comment on answers and name no place themselves.
_COMMENTING = ("review", "judge")
# What is set aside of a model's context beside words and pictures.
_REPLY_TOKENS, _SYSTEM_TOKENS = 1_000, 600
_CUT = "\n[... cut: the model takes no more ...]\n"
_NO_COMMENT = "That held no comment. Write what you think of the reply, and how sure you are, as it was asked for."


def run_tokens(trajectory: Trajectory, context: Context) -> int:
    """Count the tokens of a run: for each reply its prompt with pictures, and the reply itself.

    Args:
        trajectory: the run.
        context: what its method shows of the history. Tool descriptions are left out: they differ by wire format.
    """
    sizes = {image.handle: image.size for image in trajectory.images}
    total = 0
    for index, event in enumerate(trajectory.events):
        if isinstance(event.body, Said):
            shown = build_conversation(trajectory.events[:index], context=context, tools=(), picture=_refuse_handle)
            total += text_tokens(shown.system) + _message_tokens(event.body.step, sizes)
            total += sum(_message_tokens(message, sizes) for message in shown.messages)
    return total


def _message_tokens(message: Message, sizes: dict[str, tuple[int, int]]) -> int:
    handles: tuple[str, ...] = ()
    match message:
        case Prompt(text=words, images=handles):
            pass
        case Step(text=text, thinking=thinking, calls=calls):
            words = text + thinking + "".join(f"{call.name}{call.arguments}" for call in calls)
        case Observed(observations=observations):
            words = "".join(observation.text for observation in observations)
            handles = tuple(image.handle for observation in observations for image in observation.images)
    return text_tokens(words) + sum(image_tokens(*sizes[handle]) for handle in handles if handle in sizes)


def _refuse_handle(handle: str) -> NoReturn:
    raise LookupError(handle)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Resources that members' tools may query, and the cases that were opened for them."""

    resources: Resources
    _opened: dict[tuple[object, ...], tuple[Case, tuple[str, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False, compare=False)

    async def case(self, photos: tuple[OpenedPhoto, ...], method: Method) -> tuple[Case, tuple[str, ...]]:
        """Return a new case with the photos and the known facts of their views; views are made once."""
        key = (method.first_view_pixels, *(photo.photo.handle for photo in photos))
        async with self._opening:
            if key not in self._opened:
                opened = await asyncio.to_thread(open_case, photos, method, self.resources)
                while len(self._opened) >= _CASES_KEPT:
                    self._opened.pop(next(iter(self._opened)))
                self._opened[key] = opened
            case, views = self._opened[key]
        return replace(case, album=case.album.copy(), box_scale=method.box_scale), views


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMember:
    """A member of a team: a policy that follows a method with some tools.

    ``persona`` precedes the method's system prompt in every stage. ``prompt`` replaces the method's question for an
    independent answer. ``context_tokens`` is how much the model can take: words of the request, which hold what others
    said, are cut in their middle to fit. A policy may be shared: it is not closed here.
    """

    name: str
    policy: Policy
    method: Method
    toolset: Toolset
    around: Surroundings
    persona: str | None = None
    prompt: str | None = None
    budget: Budget | None = None
    sampling: Sampling | None = None
    wire: Wire | None = None
    context_tokens: int | None = None

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that its model sends photos to."""
        return self.policy.hosts

    async def reply(self, request: Request) -> Reply:
        """Reply to a request; errors of the model or the tools give a reply with a failure."""
        began = time.perf_counter()
        method = self._adapt_method(replace(request, words=self._fitting(request)))
        sampling = self.sampling or method.sampling
        try:
            case, views = await self.around.case(request.photos, method)
            trajectory = await run(
                case,
                AgentSetup(
                    method=method,
                    policy=self.policy,
                    toolset=self.toolset,
                    budget=self.budget,
                    sampling=sampling if request.seed is None else replace(sampling, seed=request.seed),
                    wire=self.wire,
                ),
                question=PhotoQuestion(
                    hint=request.hint,
                    area=request.area,
                    views=views,
                    force_answer=request.force_answer and request.stage not in _COMMENTING,
                ),
            )
        except (ServiceFault, UserError) as error:
            return Reply(failure=" ".join(str(error).split())[:500], seconds=time.perf_counter() - began)
        return _reply(trajectory, method, time.perf_counter() - began)

    async def aclose(self) -> None:
        """Do nothing: the policy belongs to its creator."""

    def _fitting(self, request: Request) -> str | None:
        """Return the words of a request or the user's own, cut to what the model takes beside picture and reply."""
        words, own = request.words, self.method.stage_words.get(request.stage)
        if own is not None and request.pieces:
            pieces = request.pieces
            words = with_note(fill(own, {name: partial(pieces.get, name) for name in pieces}))
        if words is None or self.context_tokens is None:
            return words
        most = image_tokens(self.method.first_view_pixels, 1)
        pictures = sum(min(image_tokens(*photo.photo.image.size), most) for photo in request.photos)
        reply = (self.sampling or self.method.sampling).max_tokens or _REPLY_TOKENS
        return cut_middle(words, self.context_tokens - pictures - reply - _SYSTEM_TOKENS)

    def _adapt_method(self, request: Request) -> Method:
        own = self.method
        words = request.words
        if request.stage == "answer":
            asked = words if words is not None else self.prompt
            return replace(
                own,
                system=lambda task, tools: paragraphs(self.persona, own.system(task, tools)),
                prompt=own.prompt if asked is None else lambda task, _tools: question(task, asked),
            )
        comments = request.stage in _COMMENTING
        return replace(
            own,
            system=self._stage_system,
            prompt=lambda task, _tools: question(task, words or ""),
            read_answer=_read_comment if comments else read_answer,
            reminder=_NO_COMMENT if comments else smilegeo().reminder,
            reads_thinking=False,
        )

    def _stage_system(self, task: Task, tools: tuple[str, ...]) -> str:
        shown_as = self.method.shown_as
        return paragraphs(
            self.persona,
            _LOOK_AT_REPLIES,
            tool_list(tools, shown_as),
            boxes(own_names(tools, shown_as), self.method.box_scale),
            PLACES_NOT_PEOPLE,
            _FORCED if task.force_answer else None,
        )


def cut_middle(words: str, tokens: int) -> str:
    """Return words of at most so many tokens. Their middle is cut: the task stands before it, the form after."""
    if text_tokens(words) <= tokens:
        return words
    kept = max(0, int(tokens * CHARACTERS_PER_TOKEN) - len(_CUT))
    return f"{words[: kept // 2]}{_CUT}{words[len(words) - (kept - kept // 2) :]}"


def _read_comment(text: str) -> Answer:
    """Parse a comment as an answer without a place: its text, and the reviewer's confidence."""
    comment = read_comment(text)
    return Answer(probability=comment.probability, explanation=comment.text or None)


def _reply(trajectory: Trajectory, method: Method, seconds: float) -> Reply:
    answered, ended, steps = trajectory.answered, trajectory.ended, trajectory.steps
    answer = answered.answer if answered else Answer()
    failure = None
    if answered is None or answered.by == "nobody":
        failure = (ended.trouble if ended else None) or answer.explanation or "gave no answer"
    return Reply(
        steps[-1].text if steps else "",
        answer,
        run_tokens(trajectory, method.context),
        trajectory.spent.usage,
        seconds,
        failure,
        trajectory,
    )
