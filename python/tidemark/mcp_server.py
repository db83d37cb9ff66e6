"""`tidemark mcp`: predictions and plans as tools of the Model Context Protocol, over stdio, by the official SDK (mcp 2.3.0)."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from . import core, errors, tool_answers

# Keys of the spec with a description in front; the others are taken under "options".
_FRONT = ("gpu", "batch", "seq", "images", "image_size", "method", "lora", "quantization", "checkpointing", "freeze", "dtype", "optimizer", "grad_accumulation", "gpus", "parallel")
_PLAN = ("goal", "largest", "allow", "fix", "samples", "trainers", "answers")
_MODEL = {
    "model": {"type": ["string", "object"], "description": "A name on the Hugging Face hub, the path of a config.json, or its content"},
    "options": {"type": "object", "description": 'Other keys of a spec file, such as {"loop": "sft_trainer", "max_grad_norm": 1.0}; an unknown key is an error that names the nearest'},
}
_SIDE = {"type": ["string", "object"], "description": "A training: the arguments of predict; or the path of a report, of a PyTorch memory snapshot, or of a list of events"}
_EXPLAIN = {
    "by": {"type": "string", "description": "Lists to show: category, module, operation, line", "default": "category,module"},
    "rows": {"type": "integer", "minimum": 1, "description": "Rows of each list", "default": 12},
}
_ANSWER = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "description": "The answer in a sentence"},
        "next_step": {"type": "string", "description": "The question or the change that follows"},
    },
    "required": ["verdict", "next_step"],
}


def _training():
    spec = core.keys_of("spec")
    return {**_MODEL, **{key: spec[key] for key in _FRONT}}


def _of_plan():
    plan = core.keys_of("plan")
    return {**_training(), **{key: plan[key] for key in _PLAN}}


# name: (what it computes, the properties of its arguments, those that it requires, its description)
_TOOLS = {
    "predict": (tool_answers.predict, _training, ["model"], "GPU memory of a training, to the byte: whether it fits the GPU, the peak, what fills it, and changes with which it would fit."),
    "plan": (tool_answers.plan, _of_plan, ["model", "gpu"], "How to run a training on given GPUs: the fastest configuration that fits, the least memory, or the largest batch, sequence or number of images."),
    "explain": (tool_answers.explain, lambda: {**_training(), **_EXPLAIN}, ["model"], "Tensors that are live at the peak of a training, by category, module, operation or line."),
    "diff": (tool_answers.diff, lambda: {"before": _SIDE, "after": _SIDE}, ["before", "after"], "Peaks of two trainings, what grew, and the first event that differs."),
}


@functools.lru_cache(maxsize=1)
def tools():
    """The tools, for `tools/list`."""
    hints = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    return [
        types.Tool(
            name=name,
            description=description,
            input_schema={"type": "object", "properties": properties(), "required": required, "additionalProperties": False},
            output_schema=_ANSWER,
            annotations=hints,
        )
        for name, (_, properties, required, description) in _TOOLS.items()
    ]


def answer(name, arguments):
    """The result of a call; a mistake in the question is a result that says what, where, and the remedy."""
    if name not in _TOOLS:
        return _error(errors.Error("unknown_name", f"there is no tool {name}", "tools/call", f"one of {', '.join(_TOOLS)}"))
    compute, _, required, _ = _TOOLS[name]
    try:
        missing = [key for key in required if key not in arguments]
        if missing:
            raise errors.Error("usage", "it is missing", missing[0], f"{name} needs {' and '.join(required)}")
        values = compute(**_flat(arguments))
    except errors.Error as error:
        return _error(error)
    return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(values))], structured_content=values)


def _flat(arguments):
    """Keys of "options" stand beside the others, in the sides of a diff as well."""
    flat = {key: _flat(value) if key in ("before", "after") and isinstance(value, dict) else value for key, value in arguments.items() if value is not None}
    options = flat.pop("options", {})
    if not isinstance(options, dict):
        raise errors.Error("bad_value", "a map is expected", "options")
    twice = sorted(options.keys() & flat.keys())
    if twice:
        raise errors.Error("usage", "it stands in options, too", twice[0], "name it once")
    return {**flat, **options}


def _error(error):
    values = {"error": {"code": error.code, "message": error.message, "where": error.where, "hint": error.hint}}
    return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], structured_content=values, is_error=True)


async def _list(_context, _params):
    return types.ListToolsResult(tools=tools())


async def _call(_context, params):
    # A plan may take minutes: other questions are answered meanwhile.
    return await anyio.to_thread.run_sync(answer, params.name, params.arguments or {}, abandon_on_cancel=True)


def instructions():
    """SKILL.md, without its header."""
    return re.sub(r"\A---\n.*?\n---\n", "", Path(__file__).with_name("SKILL.md").read_text(encoding="utf-8"), flags=re.DOTALL).strip()


async def serve():
    server = Server("tidemark", version=core.version(), instructions=instructions(), on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
