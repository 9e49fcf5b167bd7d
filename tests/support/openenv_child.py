"""Serves the environment over loopback and plays an episode with OpenEnv's own client; prints what came of it."""

import asyncio
import io
import json
import os
import socket
import threading
import time
from importlib import import_module
from importlib.metadata import version
from typing import Any

from geosleuth.lab.scenes.environment import offline_setting
from geosleuth.lab.scenes.environment.for_openenv import openenv_app
from tool_cases import sign

ANSWER = '{"lat": 43.7384, "lon": 7.4246, "country": "Monaco", "city": "Monaco"}'


def row(*lines: str) -> dict[str, Any]:
    stream = io.BytesIO()
    sign(*lines).save(stream, "PNG")
    return {"photo": stream.getvalue(), "lat": 43.73841, "lon": 7.42461, "country": "Truthland", "city": "Truthville"}


def served() -> str:
    """The address of a server that runs in a thread; the variable must not take reset and step away."""
    os.environ["OPENENV_MODE"] = "production"
    uvicorn: Any = import_module("uvicorn")
    setting = offline_setting(reward="spotagent", answer_by="reply")
    app = openenv_app(setting, [row("Rue Grimaldi"), row("Boulangerie")])
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


async def played(address: str) -> dict[str, Any]:
    client: Any = import_module("openenv.core.generic_client").GenericEnvClient
    async with client(base_url=address) as one, client(base_url=address) as other:
        begun, beside = await one.reset(seed=0), await other.reset(seed=1)
        zoomed = await one.step({"calls": [
            {"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 400, 200]}},
            {"name": "maps_geocode", "arguments": {"address": "Monaco"}},
        ]})  # fmt: skip
        nonsense = await one.step({"calls": [{"name": "teleport"}, {"arguments": 3}]})
        reminded = await one.step({"reply": "hm"})
        answered = await one.step({"reply": ANSWER})
        late = await one.step({"calls": [{"name": "maps_geocode", "arguments": {"address": "Paris"}}]})
        state = await one.state()
    steps = (begun, beside, zoomed, nonsense, reminded, answered, late)
    names = ("begun", "beside", "zoomed", "nonsense", "reminded", "answered", "late")
    told = {
        name: {"done": step.done, "reward": step.reward, **step.observation}
        for name, step in zip(names, steps, strict=True)
    }
    return {"version": version("openenv"), "state": state, **told}


address = served()
posted = import_module("httpx").post(f"{address}/reset", json={"seed": 0}, timeout=60).status_code
print(json.dumps({**asyncio.run(played(address)), "posted": posted}))
