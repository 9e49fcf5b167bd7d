"""Loads the task set with verifiers' own loader, calls its tools over MCP, lets it score; prints what came of it."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])
vf: Any = import_module("verifiers.v1")
ANSWER = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco"}'


async def used(task: Any) -> dict[str, Any]:
    """The tool server of one rollout, asked by an MCP client."""
    client: Any = import_module("mcp").Client
    server = import_module("mcp.server.mcpserver").MCPServer("tools")
    (tools,) = type(task).toolsets(task.config)
    await tools.setup_task(task.data)
    tools.register(server)
    async with client(server) as one:
        listed = await one.list_tools()
        zoomed = await one.call_tool("image_zoom_in_tool", {"bbox_2d": [0, 0, 400, 200]})
        found = await one.call_tool("maps_geocode", {"address": "Monaco"})
        bad = await one.call_tool("maps_geocode", {"address": ["x"], "unheard_of": 1})
    return {
        "tools": {one.name: one.input_schema for one in listed.tools},
        "zoomed": [block.type for block in zoomed.content],
        "found": found.content[0].text,
        "bad": [bool(bad.is_error), bad.content[0].text],
        "turns": tools.trajectory.spent.turns,
    }


async def scored(task: Any, reply: str) -> float:
    """What verifiers makes of a last reply, by its own scoring."""
    graph: Any = import_module("verifiers.v1.graph")
    by = vf.AgentInfo(config=vf.AgentConfig())
    trace = vf.Trace(task=vf.TraceTask(type=type(task).__name__, data=task.data), agent=by)
    trace.nodes.append(graph.MessageNode(message=vf.UserMessage(content="Where?")))
    trace.nodes.append(graph.MessageNode(message=vf.AssistantMessage(content=reply), parent=0, sampled=True))
    await task.score(trace)
    return float(trace.reward)


def validated() -> dict[str, Any]:
    """What verifiers' own command says of the tasks: each needs a truth that earns, and earns nothing untouched."""
    with tempfile.TemporaryDirectory() as out:
        command = [str(Path(sys.executable).with_name("vf-validate")), "geosleuth-world", "-o", out]
        variables = {**os.environ, "PYTHONPATH": sys.argv[1]}
        subprocess.run([*command, "--runtime.type", "subprocess"], env=variables, check=True, capture_output=True)
        (summary,) = Path(out).glob("*/summary.json")
        checks: dict[str, Any] = json.loads(summary.read_text())["checks"]
        return checks


async def main() -> None:
    """All of it."""
    config = vf.taskset_config_type("geosleuth-world")(id="geosleuth-world")
    tasks = list(vf.load_taskset(config))
    env = vf.load_environment(vf.env_config_type("geosleuth-world")(taskset=config))
    first = tasks[0]
    told = {
        "version": version("verifiers"),
        "env": type(env).__name__,
        "tasks": len(tasks),
        "task": first.data.model_dump(mode="json"),
        "scores": [await scored(first, ANSWER), await scored(first, "I can't tell.")],
        "used": await used(first),
        "validated": validated(),
    }
    print(json.dumps(told))


asyncio.run(main())
