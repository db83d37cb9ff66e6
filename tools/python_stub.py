#!/usr/bin/env python3
"""Writes python/tidemark/__init__.pyi: the types of the package, with the options of `predict` and `plan` made of the schemas that Spec's and PlanWishes' fields have.

tools/python_stub.py [TIDEMARK]     the command, build/release/apps/cli/tidemark
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
STUB = ROOT / "python/tidemark/__init__.pyi"
HEAD = '''"""Made by tools/python_stub.py."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict

from typing_extensions import Unpack

from .api import ProgramFailed as ProgramFailed
from .api import run as run
from .checkpointing import apply as apply
from .errors import Error as Error
from .reports import Plan as Plan
from .reports import Progress as Progress
from .reports import Report as Report

class _PretrainedConfig(Protocol):
    def to_json_string(self) -> str: ...
    def to_diff_dict(self) -> dict[str, Any]: ...

class _Module(Protocol):
    def named_parameters(self) -> Any: ...

_Config = str | os.PathLike[str] | Mapping[str, Any] | _PretrainedConfig | _Module
'''
FUNCTIONS = """
def predict(config: _Config, *, inputs: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None = None, all_ranks: bool = False, margin: str | None = None, offline: bool = False, **options: Unpack[SpecOptions]) -> Report: ...
def plan(config: _Config, *, inputs: Mapping[str, Any] | Callable[..., Mapping[str, Any]] | None = None, offline: bool = False, ray: bool = False, progress: Callable[[Progress], object] | None = None, **options: Unpack[PlanOptions]) -> Plan: ...
def options() -> dict[str, Any]: ...
def gpus() -> list[dict[str, Any]]: ...
def models(bundled: bool = False) -> list[dict[str, Any]]: ...

__version__: str
"""
# Short forms that python/tidemark/inputs.py accepts beside the spec's values.
SHORT = {"lora": "bool", "checkpointing": "bool", "quantization": "Literal['nf4', 'fp4', 'int8', False]"}


def type_of(schema):
    if "anyOf" in schema:
        return " | ".join(type_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return f"Literal[{', '.join(repr(name) for name in schema['enum'])}]"
    plain = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "Mapping[str, Any]"}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " | ".join(f"Sequence[{type_of(schema['items'])}]" if one == "array" else plain[one] for one in types)


def typed_dict(name, base, properties):
    types = {key: " | ".join(filter(None, (type_of(schema), SHORT.get(key)))) for key, schema in properties.items()}
    rows = "".join(f'    {key}: {types[key]}\n    """{schema["description"]}"""\n' for key, schema in properties.items() if key != "model")
    return f"\nclass {name}({base}, total=False):\n{rows}"


def stub(tidemark):
    described = json.loads(subprocess.run([tidemark, "answer", "describe"], input="{}", capture_output=True, text=True, check=True).stdout)
    spec, plan = json.loads(described["spec_schema"])["properties"], described["plan_schema"]["properties"]
    return HEAD + typed_dict("SpecOptions", "TypedDict", spec) + typed_dict("PlanOptions", "SpecOptions", plan) + FUNCTIONS


if __name__ == "__main__":
    STUB.write_text(stub(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/apps/cli/tidemark"))
