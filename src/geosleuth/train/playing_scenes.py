"""One scene played in the agent's own loop: several tries, a verifier in code, and how far off each of them was."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from geosleuth.agent import Trajectory, run
from geosleuth.agent.locating import open_case
from geosleuth.agent.setup import AgentSetup, Question, Resources
from geosleuth.agent.trajectory import write_trajectory
from geosleuth.answer import Answer
from geosleuth.geo import distance_km
from geosleuth.policies import Policy, Sampling, Wire
from geosleuth.score import Truth
from geosleuth.team.parallel import EmbeddedVerifier, Try, draw_tries, embedded_method
from geosleuth.tools import Case, Toolset
from geosleuth.world import Scene, Split, World, design_scene, open_world, truth_of
from geosleuth.world.environment import Reading, Setting, pose_scene, setting_of

MakeSetting = Callable[[], Setting]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Which scenes are played, and how: plain data, for this process and for others.

    Attributes:
        setting: the words of `geosleuth.world.environment.setting_of`, or a function of a module that makes a setting.
            Its method, tools, atlas, budget and reward count; answers are always replies, as in any run.
        seed: of the scenes.
        split: which places and designs may occur.
        world: the seed of the world where the scenes stand.
        reading: what read_text reads with.
        tries: how many tries at each scene.
        verified: whether the verifier in code decides among two or more of them.
        sampling: how replies are drawn; greedily if left out.
        wire: in place of the method's own.
        with_tools: False switches all tools off, and the policy is told of none.
        keep: a folder that gets every trajectory, as ``scene-N.tryM.jsonl``.
        kept: a folder of pictures that were drawn before; those that are not there yet are drawn and put there.
    """

    setting: Mapping[str, Any] | MakeSetting = field(hash=False)
    seed: int = 7
    split: Split = "held-out"
    world: int = 1
    reading: Reading = "clue boxes"
    tries: int = 1
    verified: bool = True
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.0))
    wire: Wire | None = None
    with_tools: bool = True
    keep: Path | None = None
    kept: Path | None = None

    def opened(self) -> tuple[World, Setting]:
        """The world, and the setting with its map; what is not there yet is made, which takes up to a minute.

        Raises:
            BadInput: a word can't be used.
        """
        if callable(self.setting):
            setting = self.setting()
        else:
            setting = setting_of({**self.setting, "world": self.world, "answer_by": "reply"})
        return open_world(self.world), setting if self.with_tools else replace(setting, toolset=Toolset([]))


@dataclass(frozen=True, slots=True)
class PlayedTry:
    """What came of one try.

    ``distance_km`` is None where there is no point. ``answered`` says whether the policy answered itself: the best
    candidate of the pool may stand in for it. ``calls`` were carried out; ``tools`` counts all that were made, and
    ``failures`` those that gave nothing, by why.
    """

    distance_km: float | None
    reward: float
    answered: bool
    reason: str
    turns: int = 0
    calls: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class PlayedScene:
    """A scene, what there is to know of it, and its tries; ``verified`` is the verifier's answer, where one was asked.

    Attributes:
        number: which scene of its seed.
        id: the scene's own.
        needs_zoom: something that tells is too small for a first view.
        misleading: some writing points elsewhere.
        locatability: on the scale of `geosleuth.bench.makers`.
        finest: the finest level that an honest, legible clue reaches.
    """

    number: int
    id: str
    needs_zoom: bool
    misleading: bool
    locatability: float
    finest: str | None
    country: str
    tries: tuple[PlayedTry, ...]
    verified: PlayedTry | None = None

    def to_dict(self) -> dict[str, Any]:
        """As a line of JSON holds it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> "PlayedScene":
        """The scene of a line.

        Raises:
            TypeError: the line holds something else.
            KeyError: it lacks something.
        """
        verified = line.get("verified")
        tries = tuple(PlayedTry(**one) for one in line["tries"])
        return cls(**{**line, "tries": tries, "verified": None if verified is None else PlayedTry(**verified)})


class SceneTable:
    """Where scenes are played: the world and the setting of a stage, opened once."""

    def __init__(self, stage: Stage) -> None:
        """Open the world.

        Raises:
            BadInput: a word of the stage can't be used.
        """
        self.stage = stage
        self.world, self.setting = stage.opened()
        self._drawing = asyncio.Lock()

    async def play(self, number: int, policy: Policy, over: Callable[[], None] = lambda: None) -> PlayedScene:
        """Design, draw and play one scene; ``over`` is called as each of its tries ends."""
        stage, setting = self.stage, self.setting
        async with self._drawing:
            scene, case, views = await asyncio.to_thread(self._posed, number)
        tries = await draw_tries(
            case,
            stage.tries,
            AgentSetup(
                method=setting.method,
                policy=policy,
                toolset=setting.toolset,
                budget=setting.budget,
                sampling=stage.sampling,
                wire=stage.wire,
            ),
            done=lambda _try: over(),
            question=Question(views=views, force_answer=setting.force_answer),
        )
        told = [one.trajectory for one in tries if one.trajectory is not None]
        asked = stage.verified and stage.tries > 1 and told
        verified = await self._verified(case, views, told) if asked else None
        self._keep(number, tries, verified)
        truth = truth_of(scene)
        return PlayedScene(
            number,
            scene.id,
            scene.needs_zoom,
            any(clue.misleading and clue.lines for clue in scene.clues),
            scene.locatability,
            scene.finest,
            scene.spot.country,
            tuple(self._scored(one.trajectory, truth, one.error) for one in tries),
            None if verified is None else self._scored(verified, truth),
        )

    def _posed(self, number: int) -> tuple[Scene, Case, tuple[str, ...]]:
        stage = self.stage
        scene = design_scene(self.world, stage.seed, number, split=stage.split)
        posed = pose_scene(scene, reading=stage.reading, kept=stage.kept)
        return scene, *open_case(posed.photos, self.setting.method, Resources(self.setting.atlas, reader=posed.reader))

    async def _verified(self, case: Case, views: tuple[str, ...], tries: Sequence[Trajectory]) -> Trajectory:
        """What the verifier in code makes of the tries, as `geosleuth.team.parallel.locate_in_parallel` asks it."""
        from geosleuth.tools.catalogue import all_tools

        how = embedded_method(len(tries))
        return await run(
            replace(case, album=case.album.copy()),
            AgentSetup(method=how, policy=EmbeddedVerifier(tries), toolset=how.toolset(all_tools()), budget=how.budget),
            question=Question(views=views, force_answer=self.setting.force_answer),
        )

    def _scored(self, trajectory: Trajectory | None, truth: Truth, error: Exception | None = None) -> PlayedTry:
        trouble = None if error is None else f"{type(error).__name__}: {error}"[:300]
        if trajectory is None:
            return PlayedTry(None, self.setting.reward.least, answered=False, reason="error", trouble=trouble)
        answer, ended, spent = trajectory.answer or Answer(), trajectory.ended, trajectory.spent
        seen = trajectory.observations
        return PlayedTry(
            None if answer.point is None else distance_km(answer.point, truth.point),
            self.setting.earned(answer, truth),
            trajectory.answered is not None and trajectory.answered.by == "policy",
            ended.reason if ended else "error",
            spent.turns,
            spent.calls,
            dict(Counter(one.failure for one in seen if one.failure is not None)),
            dict(Counter(one.name for one in seen)),
            spent.usage.input_tokens,
            spent.usage.output_tokens,
            round(spent.seconds, 3),
            trouble or (ended.trouble if ended else None),
        )

    def _keep(self, number: int, tries: Sequence[Try], verified: Trajectory | None) -> None:
        if self.stage.keep is None:
            return
        named = [(f"try{one.number}", one.trajectory) for one in tries]
        for name, trajectory in (*named, ("verifier", verified)):
            path = self.stage.keep / f"scene-{number}.{name}.jsonl"
            if trajectory is not None:
                path.unlink(missing_ok=True)
                write_trajectory(path, trajectory)
