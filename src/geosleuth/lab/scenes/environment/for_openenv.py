"""The environment as an OpenEnv server: reset and step over a WebSocket, one episode per session.

OpenEnv (PyPI: openenv) is imported only here and only when asked for. An action is either calls or a reply:
``{"calls": [{"name": "maps_geocode", "arguments": {"address": "Monaco"}}]}`` or ``{"reply": "..."}``. All calls of an
action are one turn of the budget. An observation has what tools and loop say, and pictures as JPEG in base64. The truth
is in no observation and in no state.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from geosleuth.models import Step
from geosleuth.photo import encode
from geosleuth.support.errors import BadInput
from geosleuth.tools import ImageInfo, ToolCall, native_tools
from geosleuth.tools.surfaces import Background

from .episode import Episode, Poser, Setting, import_needed, pose_photo

PACKAGE = "openenv"
MAX_SESSIONS = 16


def openenv_app(
    setting: Setting, rows: Sequence[Mapping[str, Any]], pose: Poser = pose_photo, *, sessions: int = MAX_SESSIONS
) -> Any:
    """Return a FastAPI application that serves episodes about these rows.

    Args:
        setting: how episodes are played; answers come as replies here.
        rows: what episodes can be about. ``reset(seed=N)`` takes row N modulo their number; without a seed they follow
            each other.
        pose: makes what an episode is about from a row.
        sessions: how many clients may be connected at once.

    Raises:
        UserError: OpenEnv is not installed; the message is the command that installs it.
        BadInput: there are no rows, or the setting wants the answer by a tool.
    """
    if not rows:
        raise BadInput("there is nothing to serve; give at least one row")
    if setting.answer_by != "reply":
        raise BadInput('an OpenEnv server hears replies; make the setting with answer_by="reply"')
    server = import_needed("openenv.core.env_server.http_server", PACKAGE)
    action, observation, environment = _classes(setting, rows, pose)
    # Trainers always reset and step, so OPENENV_MODE is ignored: in its other mode a server has neither.
    return server.create_fastapi_app(
        environment, action, observation, max_concurrent_envs=sessions, mode=server.ServerMode.SIMULATION
    )


def _classes(setting: Setting, rows: Sequence[Mapping[str, Any]], pose: Poser) -> tuple[type, type, type]:
    """Return the action, observation and environment classes; their base classes need OpenEnv installed."""
    types = import_needed("openenv.core.env_server.types", PACKAGE)
    interfaces = import_needed("openenv.core.env_server.interfaces", PACKAGE)
    from pydantic import Field, create_model

    action = create_model(
        "GeoAction",
        __base__=types.Action,
        calls=(list[dict[str, Any]], Field(default_factory=list, description="tool calls: name and arguments each")),
        reply=(str, Field(default="", description="the answer, or words beside calls")),
    )
    observation = create_model(
        "GeoObservation",
        __base__=types.Observation,
        messages=(list[str], Field(default_factory=list, description="what the tools, then the task, say")),
        images=(list[dict[str, Any]], Field(default_factory=list, description="caption and base64 JPEG each")),
        system=(str, Field(default="", description="the system message; only after reset")),
        tools=(list[dict[str, Any]], Field(default_factory=list, description="the tools; only after reset")),
    )
    background, counted = Background(), count()  # sessions are threads: a generator can't be shared among them

    class GeoOpenEnvironment(interfaces.Environment):  # type: ignore[misc,name-defined]
        """One session's episodes."""

        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()
            self._episode: Episode | None = None
            self._id: str | None = None
            self._steps = 0

        def reset(self, seed: int | None = None, episode_id: str | None = None, **_more: Any) -> Any:
            """Begin an episode."""
            self.close()
            row = rows[(next(counted) if seed is None else seed) % len(rows)]
            episode = Episode(pose(row), setting)
            background.run(episode.begin())
            self._episode, self._id, self._steps = episode, episode_id, 0
            return observation(
                messages=[episode.prompt],
                images=_pictures(episode, episode.images),
                system=episode.system,
                tools=native_tools(setting.toolset),
            )

        def step(self, action: Any, timeout_s: float | None = None, **_more: Any) -> Any:  # noqa: ARG002
            """Say the next step of the policy."""
            episode = self._episode
            if episode is None:
                return observation(messages=["reset was not called"], done=True, reward=setting.reward.least)
            self._steps += 1
            result = background.run(episode.step(Step(text=action.reply, calls=parse_client_calls(action.calls))))
            seen = [setting.words(item) for item in result.observations]
            images = [info for item in result.observations for info in item.images]
            return observation(
                messages=[*seen, *result.words],
                images=_pictures(episode, images),
                done=result.over,
                reward=episode.reward() if result.over else None,
            )

        @property
        def state(self) -> Any:
            """State of the episode that a client may know besides its observations."""
            return types.State(episode_id=self._id, step_count=self._steps)

        def close(self) -> None:
            """Let go of the episode."""
            if self._episode is not None:
                background.run(self._episode.close())

    return action, observation, GeoOpenEnvironment


def parse_client_calls(given: Sequence[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    """Return a client's calls; an invalid one becomes a call to an unknown tool."""
    return tuple(
        ToolCall(str(item.get("id", "")), str(item.get("name", "")), item.get("arguments", {})) for item in given
    )


def _pictures(episode: Episode, images: Sequence[ImageInfo]) -> list[dict[str, Any]]:
    return [
        {"caption": info.caption, "jpeg": b64encode(encode(episode.case.album[info.handle])).decode()}
        for info in images
    ]
