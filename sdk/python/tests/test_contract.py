"""The cases that every language runs."""

from __future__ import annotations

import contextlib
import inspect
import json
import keyword
import os
import signal
from pathlib import Path
from typing import Any, Callable, Dict

import anyio
import pytest

from amber_memory import Amber, AmberError, AsyncAmber, AsyncListing, Listing
from amber_memory._find import _Private
from amber_memory._model import Model

CASES: list[Dict[str, Any]] = json.loads((Path(__file__).parents[2] / "contract" / "cases.json").read_text("utf-8"))["cases"]


def kill_private() -> None:
    """Kill the servers of this process as a power cut would."""
    for private in list(_Private._all.values()):
        with contextlib.suppress(ProcessLookupError):  # it was killed a moment ago, and its successor is not there yet
            os.kill(private._process.pid, signal.SIGKILL)
        private._process.wait()


def find(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[name]
    return value


def filled(value: Any, known: Dict[str, Any]) -> Any:
    """Put earlier answers in the place of their names."""
    if isinstance(value, str) and value.startswith("$"):
        name, _, path = value[1:].partition(".")
        return find(known[name], path)
    if isinstance(value, dict):
        return {k: filled(v, known) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(v, known) for v in value]
    return value


def matches(got: Any, want: Any) -> bool:
    if isinstance(want, dict):
        if "$any" in want:
            return got is not None
        if "$count" in want:
            return isinstance(got, list) and len(got) == want["$count"]
        if "$has" in want:
            return isinstance(got, list) and any(matches(g, want["$has"]) for g in got)
        if "$not" in want:
            return not matches(got, want["$not"])
        return isinstance(got, dict) and all(k in got and matches(got[k], v) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(matches(g, w) for g, w in zip(got, want, strict=True))
    return bool(got == want)


def raw(value: Any) -> Any:
    if isinstance(value, Model):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list):
        return [raw(v) for v in value]
    return value


def arguments(step: Dict[str, Any], known: Dict[str, Any]) -> Dict[str, Any]:
    """Name the arguments as Python does."""
    return {k + "_" if keyword.iskeyword(k) else k: v for k, v in filled(step.get("with", {}), known).items()}


def method(client: Any, operation: str) -> Callable[..., Any]:
    group, name = operation.split(".")
    found: Callable[..., Any] = getattr(getattr(client, group), name)
    return found


def check(step: Dict[str, Any], known: Dict[str, Any], got: Any, kind: str) -> None:
    assert kind == step.get("fails", ""), f"{step}: the error is {kind!r}"
    if "as" in step:
        known[step["as"]] = got
    if "gives" in step:
        want = filled(step["gives"], known)
        assert matches(got, want), f"{step['do']}: want {want}, found {got}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_sync(case: Dict[str, Any], home: str) -> None:
    known: Dict[str, Any] = {}
    with Amber(agent=f"case-{CASES.index(case)}") as client:
        for step in case["steps"]:
            if step["do"] == "server.kill":
                kill_private()
                continue
            got, kind = None, ""
            try:
                answer = method(client, step["do"])(**arguments(step, known))
                got = raw(answer.all() if isinstance(answer, Listing) else answer)
            except AmberError as e:
                kind = e.kind
            check(step, known, got, kind)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_async(case: Dict[str, Any], home: str) -> None:
    async def run() -> None:
        known: Dict[str, Any] = {}
        async with AsyncAmber(agent=f"case-{CASES.index(case)}") as client:
            for step in case["steps"]:
                if step["do"] == "server.kill":
                    kill_private()
                    continue
                got, kind = None, ""
                try:
                    answer = method(client, step["do"])(**arguments(step, known))
                    if isinstance(answer, AsyncListing):
                        answer = answer.all()
                    got = raw(await answer if inspect.isawaitable(answer) else answer)
                except AmberError as e:
                    kind = e.kind
                check(step, known, got, kind)

    anyio.run(run)
