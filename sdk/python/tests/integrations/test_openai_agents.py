"""OpenAI Agents SDK: sessions, with its own runner and when things go wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any, List

import pytest

pytest.importorskip("agents", reason="the package openai-agents is not installed")

from agents import Session
from agents.memory.session_settings import SessionSettings
from integrations.shared import HOSTILE, environment
from test_contract import kill_private

from amber_memory import Amber, AsyncAmber, InvalidError
from amber_memory.integrations.openai_agents import AmberSession


def said(*texts: str) -> List[Any]:
    return [{"role": "user" if n % 2 == 0 else "assistant", "content": t} for n, t in enumerate(texts)]


def test_items_come_back_as_they_were(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber(user_id="ada") as amber:
            session = AmberSession("s", amber)
            assert isinstance(session, Session)
            items = [
                *said("one", "two \ud800 ☃ \x00"),
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1.50}'},
                {"type": "function_call_output", "call_id": "c", "output": "x" * 3_000_000},
            ]
            await session.add_items(items)
            assert await session.get_items() == items
            assert await session.get_items(2) == items[2:]
            assert await session.get_items(0) == []
            assert await AmberSession("s", amber, session_settings=SessionSettings(limit=1)).get_items() == items[3:]
            assert [await session.pop_item() for _ in range(5)] == [*reversed(items), None]
            await session.add_items(said("again"))
            assert await session.get_items() == said("again")
            await session.clear_session()
            assert await session.get_items() == [] and await session.pop_item() is None
            assert await amber.session.list().all() == []
            await session.add_items(said("new"))
            assert await AmberSession("s", amber).get_items() == said("new")

    asyncio.run(run())


def test_a_kill_neither_loses_nor_doubles(home: str) -> None:
    async def run() -> None:
        with Amber() as amber:
            session = AmberSession("s", amber)
            for n in range(6):
                await session.add_items(said(f"n{n}"))
                kill_private()
            assert await session.pop_item() == said("n5")[0]
            kill_private()
            assert await session.get_items() == [said(f"n{n}")[0] for n in range(5)]

    asyncio.run(run())


def test_everybody_takes_another_item_back(home: str) -> None:
    async def run() -> None:
        with Amber() as amber:
            await AmberSession("s", amber).add_items([{"role": "user", "content": str(n)} for n in range(12)])
            taken: List[Any] = await asyncio.gather(*(AmberSession("s", amber).pop_item() for _ in range(14)))
            assert sorted(int(t["content"]) for t in taken if t) == [*range(12)]
            assert await AmberSession("s", amber).get_items() == []

    asyncio.run(run())


PROGRAM = """
import asyncio, sys
from amber_memory import Amber
from amber_memory.integrations.openai_agents import AmberSession
async def run():
    with Amber() as amber:
        for n in range(15):
            await AmberSession("s", amber).add_items([{"role": "user", "content": sys.argv[1] + str(n)}])
asyncio.run(run())
"""


def test_two_programs_add_to_one_conversation(home: str) -> None:
    with Amber() as amber:
        amber.agent.health()
        running = [subprocess.Popen([sys.executable, "-c", PROGRAM, name], env=environment()) for name in "ab"]
        assert [p.wait(120) for p in running] == [0, 0]
        found = [str(i.get("content")) for i in asyncio.run(AmberSession("s", amber).get_items())]
        for name in "ab":
            assert [f for f in found if f[0] == name] == [f"{name}{n}" for n in range(15)]


def test_users_and_hostile_ids_do_not_meet(home: str) -> None:
    async def run() -> None:
        with Amber() as amber:
            for client in (amber, amber.scoped(user_id="ada"), amber.scoped(user_id="bob")):
                for name in HOSTILE:
                    assert await AmberSession(name, client).get_items() == []
                    await AmberSession(name, client).add_items(said("mine"))
            assert await AmberSession(HOSTILE[0], amber).get_items() == said("mine")
            with pytest.raises(InvalidError):
                AmberSession("", amber)

    asyncio.run(run())


def test_secrets_are_taken_out_unless_it_is_to_be_exact(home: str) -> None:
    async def run() -> None:
        with Amber() as amber:
            items = said(f"my token is {HOSTILE[6]}")
            await AmberSession("a", amber).add_items(items)
            await AmberSession("b", amber, exact=True).add_items(items)
            assert await AmberSession("a", amber).get_items() == said("my token is [REDACTED:github-token]")
            assert await AmberSession("b", amber).get_items() == items

    asyncio.run(run())
