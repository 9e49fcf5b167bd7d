"""The environment as TRL's ``GRPOTrainer(environment_factory=...)`` takes it: a class whose methods are the tools.

TRL makes a few objects and uses each for one rollout after the other: ``reset`` with the columns of the row, calls of
methods as the model makes them, ``get_reward`` at the end. What ``reset`` returns goes behind the last user message. An
environment never sees the model's words, so the answer comes by the tool `answer`; `hear_replies` brings in answers
that were given as plain replies.
"""

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from geosleuth.agent import Task, Trajectory
from geosleuth.models import Step
from geosleuth.tools import Case, Observation, Output, ToolCall, Toolset, tool
from geosleuth.tools.surfaces import Background, EnvironmentBase, tool_methods

from .episode import BROKE, Episode, Poser, Setting, StepResult, adapt_method, pose_photo, refuse_call

ANSWER_TOOL = "answer"
TAKEN = "The answer was taken; the task is over."
ONLY_THE_ANSWER = "The tool answer still works."


@tool(ANSWER_TOOL, aliases=("final_answer", "submit_answer"), renames={"text": "reply", "answer": "reply"})
async def answer(_case: Case, reply: str) -> Output:
    """Give the final answer, which ends the task.

    Args:
        reply: the whole answer, in the form that was asked for.
    """
    return Output(reply)


_ANSWERING = Toolset([answer])


class GeoEnvironment(EnvironmentBase):
    """One rollout after the other; `build_environment_class` makes classes of this that have the tools as methods.

    Every call counts as a turn of the budget: TRL does not say which calls came in one reply. No call
    raises for anything the model wrote. What other methods than tools there are is hidden from TRL by an underscore.
    """

    _setting: ClassVar[Setting]
    _pose: ClassVar[Callable[..., Any]]
    _background: ClassVar[Background]
    _episode: Episode | None = None
    _let_go: Callable[[], Any] | None = None

    @property
    def trajectory(self) -> Trajectory:
        """All that happened in this rollout."""
        return self._running().trajectory

    @property
    def over(self) -> bool:
        """Whether this rollout has ended."""
        return self._running().over

    @property
    def trouble(self) -> Exception | None:
        """The bug of ours that broke this rollout, if any; the model saw a plain message."""
        return self._running().trouble

    def reset(self, **columns: Any) -> list[dict[str, Any]]:
        """Begin a new rollout; the question and the photos as parts of a message.

        Raises:
            BadInput: the row can't be used.
        """
        if self._let_go is not None:
            self._let_go()
        episode = Episode(self._pose(columns), self._setting)
        self._let_go = weakref.finalize(self, episode.drop)
        self._background.run(episode.begin())
        self._episode, self.case, self.observations = episode, episode.case, ()
        return opening_parts(episode)

    def get_reward(self) -> float:
        """Return the reward; a rollout without an answer is closed, and its best candidate is used."""
        episode = self._running()
        self._background.run(episode.close())
        return episode.reward()

    def _carry_out(self, call: ToolCall) -> Observation:
        episode = self._running()
        try:
            if call.name == ANSWER_TOOL and self._setting.answer_by == "tool":
                return self._give_answer(call)
            result = self._say(Step(calls=(call,)))
        except ImportError:  # a library is missing: no model does that
            raise
        except Exception as error:  # noqa: BLE001  (a model must not be able to stop a training run; kept in `trouble`)
            episode.trouble = error
            return refuse_call(call, BROKE)
        seen = result.observations[0]
        return replace(seen, text="\n\n".join((seen.text, *self._besides(result))))

    def _give_answer(self, call: ToolCall) -> Observation:
        """Give the answer: for the loop, the tool `answer` is a reply without a call."""
        if self._running().over:
            return refuse_call(call, TAKEN)
        (seen,) = self._background.run(_ANSWERING.run([call], self._running().case))
        if seen.failure is not None:
            return seen
        result = self._say(Step(text=seen.text))
        if result.over:
            return Observation(call.id, call.name, TAKEN)
        return Observation(call.id, call.name, "\n\n".join(result.words), failure="refused")

    def _besides(self, result: StepResult) -> Sequence[str]:
        if not result.words:
            return ()
        return (*result.words, ONLY_THE_ANSWER) if self._setting.answer_by == "tool" else result.words

    def _say(self, step: Step) -> StepResult:
        return self._background.run(self._running().step(step))

    def _running(self) -> Episode:
        if self._episode is None:
            raise RuntimeError("reset was not called")
        return self._episode


def build_environment_class(setting: Setting, pose: Poser = pose_photo) -> type[GeoEnvironment]:
    """Return a class to pass as ``environment_factory``: its methods are the setting's tools.

    Args:
        setting: how episodes are played.
        pose: makes what an episode is about from the columns of a row, see `geosleuth.lab.scenes.environment.episode`.
    """
    tools = [*setting.toolset, *((answer,) if setting.answer_by == "tool" else ())]
    members: dict[str, Any] = {
        "__doc__": "The tools of a run, as methods.",
        "_setting": setting,
        "_pose": staticmethod(pose),
        "_background": Background(),
    }
    return type("GeoEnvironment", (GeoEnvironment,), members | tool_methods(tools, words=setting.words))


def opening_parts(episode: Episode) -> list[dict[str, Any]]:
    """Return each photo behind its caption, then the question: in the order in which later runs show them."""
    parts: list[dict[str, Any]] = []
    for info in episode.images:
        image = episode.case.album[info.handle].image
        parts += [{"type": "text", "text": info.caption}, {"type": "image", "image": image}]
    return [*parts, {"type": "text", "text": episode.prompt}]


def build_prompt_column(setting: Setting) -> list[dict[str, Any]]:
    """Return the column ``prompt`` of every row: the system message, and the user message that ``reset`` fills."""
    task = Task((), force_answer=setting.force_answer)
    system = adapt_method(setting).system(task, setting.toolset.names)
    return [{"role": "system", "content": system}, {"role": "user", "content": ""}]


def hear_replies(
    completions: Sequence[Any], environments: Iterable[GeoEnvironment], **_columns: Any
) -> list[float | None]:
    """Pass the model's last reply to every environment before scoring; as a reward function it gives none.

    Pass it as ``reward_funcs`` where answers are plain replies. It comes before ``get_reward`` because TRL asks the
    environments last. It returns None for every rollout, which TRL leaves out of the sum.
    """
    heard: list[float | None] = []
    for completion, environment in zip(completions, environments, strict=True):
        step = last_words(completion)
        if step is not None and not environment.over:
            environment._say(step)  # noqa: SLF001  (a public method would be a tool)
        heard.append(None)
    return heard


def last_words(completion: Any) -> Step | None:
    """Return the reply that a completion ends with; None if it ends otherwise, such as with a call."""
    last = completion[-1] if isinstance(completion, Sequence) and not isinstance(completion, str) and completion else {}
    if not isinstance(last, Mapping) or last.get("role") != "assistant" or last.get("tool_calls"):
        return Step(text=completion) if isinstance(completion, str) else None
    content = last.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    return Step(text=content, thinking=str(last.get("reasoning_content") or ""))
