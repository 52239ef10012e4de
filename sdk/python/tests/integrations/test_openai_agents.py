"""OpenAI Agents SDK: sessions, with its own runner and when things go wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any, List
from unittest.mock import AsyncMock, MagicMock

import pytest

pytest.importorskip("agents", reason="the package openai-agents is not installed")

from agents import Agent, RunConfig, Runner, Session
from agents.extensions.memory.encrypt_session import EncryptedSession
from agents.memory import OpenAIResponsesCompactionSession
from agents.memory.session_settings import SessionSettings
from agents.testing import ScriptedModel
from integrations.shared import HOSTILE, environment
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
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


def test_a_kill_in_the_middle_of_adding_loses_nothing_and_adds_once(home: str) -> None:
    with Amber() as amber:
        amber.agent.health()
        items, killed, done = said(*map(str, range(60))), threading.Event(), threading.Event()

        def kill() -> None:
            for n in range(3):
                if done.wait(0.05 * n):
                    return
                kill_private()
                killed.set()

        killer = threading.Thread(target=kill)
        killer.start()
        asyncio.run(AmberSession("s", amber).add_items(items))
        done.set()
        killer.join()
        assert killed.is_set() and asyncio.run(AmberSession("s", amber).get_items()) == items


KILLED = """
import asyncio, itertools
from amber_memory import Amber
from amber_memory.integrations.openai_agents import AmberSession
async def run():
    with Amber() as amber:
        session = AmberSession("s", amber)
        for n in itertools.count():
            await session.add_items([{"role": "user", "content": f"{n}.{i}"} for i in range(20)])
            print(n, flush=True)
asyncio.run(run())
"""


def test_a_program_that_is_killed_leaves_all_items_of_a_call_or_none(home: str) -> None:
    with Amber() as amber:
        amber.agent.health()
        acknowledged = 0
        for pause in (0.02, 0.05):
            with subprocess.Popen([sys.executable, "-c", KILLED], env=environment(), stdout=subprocess.PIPE, text=True) as program:
                assert program.stdout is not None
                assert [program.stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
                acknowledged += 2
                threading.Event().wait(pause)
                program.kill()
        found = [str(i.get("content")) for i in asyncio.run(AmberSession("s", amber).get_items())]
        calls = [found[at : at + 20] for at in range(0, len(found), 20)]
        assert all(call == [f"{call[0].split('.')[0]}.{i}" for i in range(20)] for call in calls) and len(calls) >= acknowledged
        asyncio.run(AmberSession("s", amber).add_items(said("goes on", "and on")))
        assert asyncio.run(AmberSession("s", amber).get_items(2)) == said("goes on", "and on")
        assert asyncio.run(AmberSession("s", amber).pop_item()) == said("goes on", "and on")[1]


def test_what_cannot_be_stored_stores_nothing(home: str) -> None:
    async def run() -> None:
        with Amber() as amber:
            session = AmberSession("s", amber)
            with pytest.raises(TypeError):
                await session.add_items([*said("one", "two"), {"role": "user", "content": object()}])  # type: ignore[list-item, misc]
            assert await session.get_items() == [] and await amber_sessions(amber) == 0
            await session.add_items([])
            assert await amber_sessions(amber) == 0
            # Turns that others write are passed over, whatever is in them.
            await session.add_items(said("one"))
            for content in ("not json {{{", "amber:large x", "amber:exact ????", "amber:end", "amber:group"):
                amber.turn.append(session._log.session, content=content, role="user")
            assert await session.get_items() == said("one") and await session.get_items(1) == said("one")
            assert await session.pop_item() == said("one")[0] and await session.pop_item() is None
            await session.clear_session()

    async def amber_sessions(amber: Amber) -> int:
        return len(amber.session.list().all())

    asyncio.run(run())


def test_a_change_goes_on_when_its_task_is_cancelled(home: str) -> None:
    async def run() -> None:
        with Amber() as amber:
            session = AmberSession("s", amber)
            task = asyncio.create_task(session.add_items(said(*"abcdefgh")))
            await asyncio.sleep(0)
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0.001)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await session.get_items() == said(*"abcdefgh")

    asyncio.run(run())


def test_settings_and_callbacks_of_the_runner(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber(user_id="ada") as amber:
            session = AmberSession("s", amber, session_settings={"limit": 3})
            assert session.session_settings == SessionSettings(limit=3)
            await session.add_items(said(*"abcdef"))
            assert await session.get_items() == said(*"abcdef")[3:] and len(await session.get_items(6)) == 6
            text = ResponseOutputText(type="output_text", text="stub", annotations=[])
            message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            model = ScriptedModel([[message], [message]])
            agent = Agent(name="a", model=model)
            await Runner.run(agent, "next", session=session, run_config=RunConfig(session_settings=SessionSettings(limit=1)))
            assert model.calls[0].input == [*said(*"abcdef")[5:], {"role": "user", "content": "next"}]
            keep = RunConfig(session_input_callback=lambda history, new: [*history[:1], *new])
            await Runner.run(agent, "last", session=AmberSession("s", amber), run_config=keep)
            assert model.calls[1].input == [said("a")[0], {"role": "user", "content": "last"}]

    asyncio.run(run())


def test_sessions_that_wrap_it(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber(user_id="ada") as amber:
            items = said(f"my token is {HOSTILE[6]}", "noted")
            under = AmberSession("secret", amber)
            session = EncryptedSession("secret", under, "a key of mine", ttl=600)
            await session.add_items(items)
            assert await session.get_items() == items  # exact, as what is stored has nothing to redact
            turns = [t.content async for t in amber.turn.list(under._log.session)]
            assert not any("noted" in t or HOSTILE[6] in t for t in turns)
            assert await session.pop_item() == items[1] and await session.get_items(5) == items[:1]
            assert await EncryptedSession("secret", AmberSession("secret", amber), "another key").get_items() == []

            client = MagicMock()
            client.responses.compact = AsyncMock(return_value=SimpleNamespace(output=[{"type": "compaction", "id": "c", "encrypted_content": "all of it"}]))
            compacted = OpenAIResponsesCompactionSession("c", AmberSession("c", amber), client=client, compaction_mode="input", should_trigger_compaction=lambda _: True)
            await compacted.add_items(said(*"abcd"))
            await compacted.run_compaction({"force": True})
            assert [i.get("type") for i in await AmberSession("c", amber).get_items()] == ["compaction"]

    asyncio.run(run())
