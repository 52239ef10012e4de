"""LangGraph: its conformance suite, and what happens when things go wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List, Set

import pytest

pytest.importorskip("langgraph.graph", reason="the package langgraph is not installed")
pytest.importorskip("langgraph.checkpoint.conformance", reason="the package langgraph-checkpoint-conformance is not installed")

from integrations.shared import HOSTILE, environment
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from test_contract import kill_private
from typing_extensions import TypedDict

from amber_memory import Amber, AsyncAmber, InvalidError
from amber_memory.integrations import _common
from amber_memory.integrations.langgraph import AmberSaver, AmberStore


def config(thread: str, **more: Any) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **more}}


def checkpoint(**values: Any) -> Checkpoint:
    made = empty_checkpoint()
    made["channel_values"] = dict(values)
    made["channel_versions"] = {k: 1 for k in values}
    return made


def put(saver: AmberSaver, thread: str, parent: str = "", new: Any = None, **values: Any) -> RunnableConfig:
    made = checkpoint(**values)
    where = config(thread, checkpoint_id=parent) if parent else config(thread)
    return saver.put(where, made, {"source": "loop", "step": 1}, made["channel_versions"] if new is None else new)


def ids(saver: AmberSaver, thread: str) -> List[str]:
    return [t.checkpoint["id"] for t in saver.list(config(thread))]


def test_the_conformance_suite_passes(home: str) -> None:
    counted = {"passed": 0, "failed": 0}

    async def run() -> Any:
        @checkpointer_test(name="AmberSaver")
        async def made() -> Any:
            async with AsyncAmber() as amber:
                yield AmberSaver(amber)

        return await validate(made)

    report = asyncio.run(run())
    for result in report.results.values():
        counted["passed"] += result.tests_passed
        counted["failed"] += result.tests_failed
        assert result.detected and result.passed, result.failures
    print(f"OWN SUITE langgraph-checkpoint-conformance: {counted['passed']} of {sum(counted.values())} passed")
    assert counted["failed"] == 0 and counted["passed"] >= 79


class State(TypedDict):
    text: str


def ask(state: State) -> State:
    return {"text": state["text"] + " " + interrupt("who?")}


def shout(state: State) -> State:
    return {"text": state["text"].upper()}


def graph(saver: AmberSaver) -> Any:
    return StateGraph(State).add_node("ask", ask).add_node("shout", shout).add_edge(START, "ask").add_edge("ask", "shout").add_edge("shout", END).compile(checkpointer=saver)


def test_a_graph_goes_on_after_the_server_and_the_program_are_gone(home: str) -> None:
    with Amber() as amber:
        assert "__interrupt__" in graph(AmberSaver(amber)).invoke({"text": "hello"}, config("t"))
        kill_private()
    with Amber() as amber:
        assert graph(AmberSaver(amber)).invoke(Command(resume="ada"), config("t")) == {"text": "HELLO ADA"}

    async def later() -> None:
        async with AsyncAmber() as other:
            history = [s async for s in graph(AmberSaver(other)).aget_state_history(config("t"))]
            assert [s.values.get("text") for s in history] == ["HELLO ADA", "hello ada", "hello", None]

    asyncio.run(later())


def test_nothing_is_lost_or_doubled_by_a_kill_between_steps(home: str) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        big = "v" * 10_000
        stored = put(saver, "t", text=big)
        kill_private()
        for _ in range(3):
            saver.put_writes(stored, [("a", 1), ("b", big)], "task")
            kill_private()
        again = AmberSaver(amber).get_tuple(config("t"))
        assert again is not None and again.checkpoint["channel_values"] == {"text": big}
        assert again.pending_writes == [("task", "a", 1), ("task", "b", big)]


def test_a_checkpoint_that_was_half_written_is_not_seen_and_leaves_nothing(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names: Set[str] = set()
    original = _common.Documents.put

    def recorded(self: Any, name: str, value: Any) -> None:
        names.add(name)
        original(self, name, value)

    monkeypatch.setattr(_common.Documents, "put", recorded)
    with Amber() as amber:
        saver = AmberSaver(amber)
        first = put(saver, "t", text="x" * 5000)
        saver.put_writes(first, [("big", "y" * 5000)], "task")

        def interrupted(self: Any, name: str, value: Any) -> None:
            recorded(self, name, value) if "-b-" in name else 1 / 0

        monkeypatch.setattr(_common.Documents, "put", interrupted)
        with pytest.raises(ZeroDivisionError):
            put(saver, "t", text="z" * 5000)
        monkeypatch.setattr(_common.Documents, "put", recorded)
        assert ids(saver, "t") == [first["configurable"]["checkpoint_id"]]
        found = saver.get_tuple(config("t"))
        assert found is not None and found.checkpoint["channel_values"]["text"] == "x" * 5000
        saver.delete_thread("t")
        assert len(names) == 4
        assert [n for n in names if saver._documents.read(n)[0] is not None] == []
        assert amber.session.list().all() == [] and saver.get_tuple(config("t")) is None


def test_unchanged_values_are_not_written_again_and_survive_the_removal_of_their_checkpoint(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        first = put(saver, "t", big="x" * 9000, n="a" * 9000)
        written: List[str] = []
        original = _common.Documents.put

        def recorded(self: Any, name: str, value: Any) -> None:
            written.append(name)
            original(self, name, value)

        monkeypatch.setattr(_common.Documents, "put", recorded)
        made = checkpoint(big="x" * 9000, n="b" * 9000)
        made["channel_versions"] = {"big": 1, "n": 2}
        saver.put(config("t", checkpoint_id=first["configurable"]["checkpoint_id"]), made, {"step": 2}, {"n": 2})
        assert len([n for n in written if "-b-" in n]) == 1
        saver.prune(["t"])
        left = list(saver.list(config("t")))
        assert [t.checkpoint["channel_values"] for t in left] == [{"big": "x" * 9000, "n": "b" * 9000}]


def test_a_long_thread_is_indexed_in_pages(home: str) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        made = [put(saver, "t", n=i)["configurable"]["checkpoint_id"] for i in range(140)]
        assert ids(saver, "t") == made[::-1]
        assert len(saver._head(saver._session("t"))[0]["pages"]) == 2
        saver.put_writes(config("t", checkpoint_id=made[3]), [("late", 1)], "task")
        assert AmberSaver(amber).get_tuple(config("t", checkpoint_id=made[3])).pending_writes == [("task", "late", 1)]  # type: ignore[union-attr]
        saver.copy_thread("t", "copy")
        saver.prune(["t"])
        assert ids(saver, "t") == made[-1:] and ids(saver, "copy") == made[::-1]


WRITER = """
import sys
from amber_memory import Amber
from amber_memory.integrations.langgraph import AmberSaver
from integrations.test_langgraph import put
with Amber() as amber:
    for i in range(20):
        saved = put(AmberSaver(amber), "t", text=sys.argv[1] * 3000)
        AmberSaver(amber).put_writes(saved, [("n", i)], sys.argv[1])
"""


def test_two_programs_write_one_thread(home: str) -> None:
    with Amber() as amber:
        amber.agent.health()
        running = [subprocess.Popen([sys.executable, "-c", WRITER, name], env=environment()) for name in "ab"]
        assert [p.wait(120) for p in running] == [0, 0]
        found = list(AmberSaver(amber).list(config("t")))
        texts = [t.checkpoint["channel_values"]["text"][0] for t in found]
        assert (texts.count("a"), texts.count("b")) == (20, 20)
        assert all(t.pending_writes is not None and t.pending_writes[0][0] == t.checkpoint["channel_values"]["text"][0] for t in found)


def test_tasks_that_write_at_the_same_time_all_count(home: str) -> None:
    with Amber() as amber, ThreadPoolExecutor(8) as pool:
        savers = [AmberSaver(amber) for _ in range(4)]
        stored = put(savers[0], "t", n=1)
        list(pool.map(lambda i: savers[i % 4].put_writes(stored, [("c", i)], f"task-{i:02}"), range(24)))
        found = savers[0].get_tuple(stored)
        assert found is not None and found.pending_writes == [(f"task-{i:02}", "c", i) for i in range(24)]


def test_hostile_threads_are_threads_like_others(home: str) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        made = {thread: put(saver, thread, own=thread.encode("utf-8", "surrogatepass")) for thread in HOSTILE}
        for thread, stored in made.items():
            assert ids(saver, thread) == [stored["configurable"]["checkpoint_id"]]
        assert {t.config["configurable"]["thread_id"] for t in saver.list(None)} == set(HOSTILE)
        with pytest.raises(InvalidError):
            put(saver, "", n=1)


def test_large_checkpoints_and_secrets_are_kept_to_the_byte(home: str) -> None:
    import random

    noise = random.Random(1).randbytes(5 << 20)
    secrets = {"token": "ghp_" + "a1B2c3D4e5" * 3 + "abcdef", "aws": "AKIAIOSFODNN7EXAMPLE", "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"}
    with Amber() as amber:
        saver = AmberSaver(amber)
        stored = put(saver, "t", noise=noise, secrets=secrets)
        saver.put_writes(stored, [("noise", noise), ("secrets", secrets)], "task")
        found = saver.get_tuple(stored)
        assert found is not None and found.checkpoint["channel_values"] == {"noise": noise, "secrets": secrets}
        assert found.pending_writes == [("task", "noise", noise), ("task", "secrets", secrets)]


def test_users_do_not_meet(home: str) -> None:
    with Amber() as amber:
        whom = {"ada": amber.scoped(user_id="ada"), "bob": amber.scoped(user_id="bob"), "nobody": amber}
        for name, client in whom.items():
            put(AmberSaver(client), "t", own=name)
            AmberStore(client).put(("prefs",), "k", {"own": name})
        for name, client in whom.items():
            assert [t.checkpoint["channel_values"] for t in AmberSaver(client).list(None)] == [{"own": name}]
            store = AmberStore(client)
            assert [i.value for i in store.search(())] == [{"own": name}]
            assert [i.value for i in store.search((), query="own")] == [{"own": name}]
        AmberSaver(whom["ada"]).delete_thread("t")
        AmberStore(whom["ada"]).delete(("prefs",), "k")
        assert AmberSaver(whom["bob"]).get_tuple(config("t")) is not None
        found = AmberStore(whom["bob"]).get(("prefs",), "k")
        assert found is not None and found.value == {"own": "bob"}


def test_the_store_keeps_items(home: str) -> None:
    with Amber(user_id="ada") as amber:
        store = AmberStore(amber)
        store.put(("a", "b"), "k", {"text": "Ada likes short answers", "n": 1})
        first = store.get(("a", "b"), "k")
        kill_private()
        store.put(("a", "b"), "k", {"text": "Ada likes long answers", "n": 2})
        store.put(("a", "c"), "other", {"text": "the deploy runs on Friday", "n": 3})
        found = store.get(("a", "b"), "k")
        assert first is not None and found is not None
        assert found.value["n"] == 2 and found.created_at == first.created_at and found.updated_at >= first.updated_at
        assert [i.key for i in store.search(("a",))] == ["other", "k"]
        best = store.search(("a",), query="when is the deploy?", limit=1)[0]
        assert best.key == "other" and best.score
        assert [i.key for i in store.search((), filter={"n": {"$lt": 3}})] == ["k"]
        assert store.list_namespaces(prefix=("a",)) == [("a", "b"), ("a", "c")]
        store.delete(("a", "b"), "k")
        assert store.get(("a", "b"), "k") is None
        store.put(("a", "b"), "k", {"n": 4})
        again = store.get(("a", "b"), "k")
        assert again is not None and again.value == {"n": 4}
        assert amber.recall("when is the deploy?")[0].content.startswith('{"value": {"text": "the deploy')


def test_hostile_keys_and_values_of_the_store(home: str) -> None:
    with Amber() as amber:
        store = AmberStore(amber)
        for n, key in enumerate(HOSTILE):
            if len(key) < 1000 and not key.startswith("ghp_"):
                namespace = ("x", key.replace(".", "_").replace("\x00", "0"))
                store.put(namespace, key, {"n": n, "s": key})
                found = store.get(namespace, key)
                assert found is not None and found.value == {"n": n, "s": key} and found.key == key
        with pytest.raises(InvalidError):
            store.put(("x",), "k", {"f": object()})
        store.put(("x",), "secret", {"token": HOSTILE[6]})
        secret = store.get(("x",), "secret")
        assert secret is not None and secret.value == {"token": "[REDACTED:github-token]"}
