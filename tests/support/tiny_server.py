"""An OpenAI-compatible server on this machine around the tiny vision-language model, for tests.

    look = Step("Closer.", calls=(ToolCall("call-1", "search_web", {"query": "Wat Pho"}),))
    with tiny_server(script=[look, "<answer>Bangkok</answer>"]) as base_url:
        OpenAI(base_url=base_url, api_key="none")

Requests are real HTTP, images are decoded and seen, prompts go through the chat template, and every token of a reply
comes out of the model. With a script the choice of the tokens is forced (see `tiny_vlm.Forced`): a stand-in for a model
that was trained. Without one the model says what it likes, which is noise.
"""

import base64
import binascii
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Literal

from geosleuth.models import Step
from geosleuth.models.tagged import read_reply, render_step
from tiny_vlm import force, tiny_vlm_folder

MODEL_NAME = "tiny-qwen3-vl"
NOISE_TOKENS = 16
Line = str | Step | Callable[[dict[str, Any]], str | Step]
Progress = Literal["order", "turn"]


class TinyServer(str):
    """The address that clients take as their base, and what the server was asked so far."""

    __slots__ = ("requests",)

    requests: list[dict[str, Any]]


class _BadRequest(Exception):
    """Told to the client with status 400."""


@contextmanager
def tiny_server(script: Sequence[Line] | None = None, *, progress: Progress = "order") -> Iterator[TinyServer]:
    """Serve on a free port of the loopback address until the block ends.

    Args:
        script: what the model says, reply by reply: raw text, a step in tagged text, or a function that is given the
            request. When it is used up, requests are refused with status 400. Without a script the model is free.
        progress: how the next line is found: one a request, or by the number of assistant messages in the request,
            so that several runs at once each get the whole script.
    """
    import uvicorn

    _tiny()  # loaded before the clock of any client runs
    requests: list[dict[str, Any]] = []
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        _app(requests, script, progress), http="h11", ws="none", loop="asyncio", lifespan="off", log_level="critical"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="tiny-server", daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + 20
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise RuntimeError("the test server did not start")
            time.sleep(0.01)
        address = TinyServer(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        address.requests = requests
        yield address
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


@cache
def _tiny() -> tuple[Any, Any, threading.Lock]:
    from geosleuth.models.weights_engine import load_processor

    transformers: Any = import_module("transformers")
    folder = tiny_vlm_folder()
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, local_files_only=True).eval()
    return load_processor(folder), model, threading.Lock()


def _app(requests: list[dict[str, Any]], script: Sequence[Line] | None, progress: Progress) -> Any:
    from fastapi import FastAPI
    from fastapi.concurrency import run_in_threadpool
    from fastapi.responses import JSONResponse
    from starlette.requests import Request

    app = FastAPI()

    async def models() -> Any:
        return {"object": "list", "data": [{"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "tests"}]}

    async def completions(request: Request) -> Any:
        asked = await request.json()
        number = len(requests)
        requests.append(asked)
        try:
            return await run_in_threadpool(_complete, asked, number, script, progress)
        except _BadRequest as error:
            return JSONResponse({"error": {"message": str(error), "type": "invalid_request_error"}}, 400)

    app.add_api_route("/v1/models", models, methods=["GET"])
    app.add_api_route("/v1/chat/completions", completions, methods=["POST"])
    return app


def _complete(asked: dict[str, Any], number: int, script: Sequence[Line] | None, progress: Progress) -> dict[str, Any]:
    if asked.get("stream"):
        raise _BadRequest("this server does not stream")
    messages = [_message(message) for message in asked["messages"]]
    if progress == "turn":
        number = sum(message["role"] == "assistant" for message in messages)
    line = None if script is None else _line(script, number, asked)
    tools = asked.get("tools") if asked.get("tool_choice") != "none" else None
    limit = asked.get("max_completion_tokens") or asked.get("max_tokens")
    text, given, drawn, cut = _generate(messages, tools, line, limit or (NOISE_TOKENS if line is None else 4096))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tools:
        reply = read_reply(text, first_id=10 * number + 1)
        message = {"role": "assistant", "content": reply.text or None}
        if reply.thinking:
            message["reasoning_content"] = reply.thinking
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
                    },
                }
                for call in reply.calls
            ]
    finish = "length" if cut else "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL_NAME,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {"prompt_tokens": given, "completion_tokens": drawn, "total_tokens": given + drawn},
    }


def _line(script: Sequence[Line], number: int, asked: dict[str, Any]) -> str:
    if number >= len(script):
        raise _BadRequest(f"the script has {len(script)} lines and all were said")
    line = script[number]
    said = line(asked) if callable(line) else line
    return render_step(said) if isinstance(said, Step) else said


def _generate(messages: list[dict[str, Any]], tools: Any, line: str | None, limit: int) -> tuple[str, int, int, bool]:
    import torch

    processor, model, lock = _tiny()
    tokenizer = processor.tokenizer
    generate = model.generate if line is None else force(model, tokenizer, line)
    with lock, torch.inference_mode():
        inputs = processor.apply_chat_template(
            messages, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        ids = generate(**inputs, max_new_tokens=limit, do_sample=False)[0]
    given = int(inputs["input_ids"].shape[1])
    drawn = [int(one) for one in ids[given:]]
    return tokenizer.decode(drawn, skip_special_tokens=True), given, len(drawn), drawn[-1] != tokenizer.eos_token_id


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content") or ""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else [_part(part) for part in content]
    taken = {**message, "role": "system" if message["role"] == "developer" else message["role"], "content": parts}
    if calls := message.get("tool_calls"):
        taken["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _arguments(call["function"]["arguments"])}}
            for call in calls
        ]
    return taken


def _part(part: dict[str, Any]) -> dict[str, Any]:
    from PIL import Image

    if part["type"] != "image_url":
        return part
    header, _, data = part["image_url"]["url"].partition(",")
    if not (header.startswith("data:image/") and header.endswith(";base64")):
        raise _BadRequest("images must come as data URLs")
    try:
        image = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
        return {"type": "image", "image": image.convert("RGB")}
    except (binascii.Error, OSError) as error:
        raise _BadRequest(f"an image can't be read: {error}") from error


def _arguments(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return written
