"""The environment as a task set for verifiers 0.4 on: tasks, a tool server per rollout, a reward.

Only verifiers imports this module, by way of the small package that `write_verifiers` makes: its loader takes task sets
by the name of a package. The truth is in no task: tasks are sent to tool servers and written into traces. The reward
reads it from the rows beside the package.
"""

import inspect
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from geosleuth.agent import Trajectory
from geosleuth.answer import Address, Answer
from geosleuth.lab.score import Truth
from geosleuth.models import Step
from geosleuth.photo import encode, open_photo
from geosleuth.support.errors import BadInput
from geosleuth.tools import ToolCall
from geosleuth.tools.surfaces import mcp_result, tool_methods

from .episode import Episode, Posed, Setting, build_setting, import_needed, truth_of_row
from .verifiers_package import PLAYED, ROWS

vf: Any = import_needed("verifiers.v1", "verifiers")

__all__ = ["GeoTaskset"]


class GeoData(vf.TaskData):  # type: ignore[misc]
    """A task: the question, and where tools find the photo and how they are played."""

    folder: str
    photo: str


class GeoToolsConfig(vf.ToolsetConfig):  # type: ignore[misc]
    """Placement of the tool server: beside the environment, since it needs the photos."""


class GeoTools(vf.Toolset[GeoToolsConfig, vf.State]):  # type: ignore[misc]
    """One rollout's tools, over MCP. Every call is a turn of the budget."""

    TOOL_PREFIX = None

    async def setup_task(self, task: GeoData) -> None:
        """Open the photo; its truth is not here."""
        self._setting = load_setting(task.folder)
        self._episode = Episode(Posed((open_photo(task.photo),)), self._setting)
        await self._episode.begin()

    @property
    def trajectory(self) -> Trajectory:
        """Events of the episode so far."""
        return self._episode.trajectory

    def register(self, mcp: Any) -> None:
        """Add the tools of the setting."""
        for name, method in tool_methods(self._setting.toolset).items():
            description = next(item.description for item in self._setting.toolset if item.name == name)
            mcp.add_tool(self._calling(name, method), name=name, description=description, structured_output=False)

    def _calling(self, name: str, method: Any) -> Any:
        async def call(**arguments: Any) -> Any:
            given = {key: value for key, value in arguments.items() if value is not None}
            step = await self._episode.step(Step(calls=(ToolCall("", name, given),)))
            seen = step.observations[0]
            result = await mcp_result(seen, self._episode.case)
            result.content.extend(import_needed("mcp.types", "mcp").TextContent(text=text) for text in step.words)
            return result

        own = inspect.signature(method)
        call.__name__ = name
        call.__annotations__ = dict(method.__annotations__)
        call.__signature__ = own.replace(parameters=list(own.parameters.values())[1:])  # type: ignore[attr-defined]
        return call


class GeoTaskConfig(vf.TaskConfig):  # type: ignore[misc]
    """Placement of a task's tools."""

    tools: GeoToolsConfig = GeoToolsConfig()


class GeoTask(vf.Task[GeoData, vf.State, GeoTaskConfig]):  # type: ignore[misc]
    """Task of locating one photo."""

    @classmethod
    def toolsets(cls, config: GeoTaskConfig) -> list[Any]:
        """Return the tools of one rollout."""
        return [GeoTools(config.tools)]

    @vf.reward  # type: ignore[untyped-decorator]
    async def place(self, trace: Any) -> float:
        """Return what the last reply earns."""
        setting = load_setting(self.data.folder)
        return setting.score_answer(setting.method.read_answer(trace.last_reply), self._truth())

    async def validate(self, runtime: Any) -> bool:  # noqa: ARG002  (verifiers' own signature)
        """Return whether the truth itself earns more than no answer: what `vf-validate` asks of each task."""
        truth, earned = self._truth(), load_setting(self.data.folder).score_answer
        told = Answer(truth.point, Address.create(truth.country, truth.region, truth.city))
        return earned(told, truth) > earned(Answer(), truth)

    def _truth(self) -> Truth:
        return truth_of_row(load_rows(self.data.folder)[int(self.data.name)])


class GeoTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Rows to play."""

    task: GeoTaskConfig = GeoTaskConfig()
    folder: str = ""
    """The folder that `geosleuth world export` wrote; the package's own if left out."""


class GeoTaskset(vf.Taskset[GeoTask, GeoTasksetConfig]):  # type: ignore[misc]
    """A task for every row."""

    OWN_FOLDER = ""

    def load(self) -> Iterator[GeoTask]:
        """Yield the tasks, in the order of the rows."""
        folder = self.config.folder or self.OWN_FOLDER
        for number, row in enumerate(load_rows(folder)):
            yield GeoTask(_data(number, row, folder), self.config.task)


def _data(number: int, row: Mapping[str, Any], folder: str) -> GeoData:
    episode = Episode(Posed((open_photo(row["photo"]),)), load_setting(folder))
    parts: list[Any] = [vf.TextContentPart(text=episode.prompt)]
    for info in episode.images:
        url = _data_url(encode(episode.case.album[info.handle]))
        parts += [vf.TextContentPart(text=info.caption), vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(url=url))]
    prompt = [vf.UserMessage(content=parts)]
    return GeoData(name=str(number), prompt=prompt, system_prompt=episode.system, folder=folder, photo=row["photo"])


def _data_url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"


@cache
def load_setting(folder: str) -> Setting:
    """Return how the tasks of a folder are played.

    Raises:
        BadInput: it is no folder that `write_verifiers` wrote.
    """
    return build_setting(json.loads(_read_folder_file(folder, PLAYED)))


@cache
def load_rows(folder: str) -> list[dict[str, Any]]:
    """Return the rows of a folder, truths included.

    Raises:
        BadInput: it is no folder that `write_verifiers` wrote.
    """
    return [json.loads(line) for line in _read_folder_file(folder, ROWS).splitlines()]


def _read_folder_file(folder: str, name: str) -> str:
    try:
        return (Path(folder) / name).read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{Path(folder) / name}: can't be read; write it with geosleuth world export") from error
