"""LangGraph: its conformance suite, and what happens when things go wrong."""

from __future__ import annotations

import asyncio
import operator
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Dict, List, Sequence, Set, cast

import pytest

pytest.importorskip("langgraph.graph", reason="the package langgraph is not installed")
pytest.importorskip("langgraph.checkpoint.conformance", reason="the package langgraph-checkpoint-conformance is not installed")

from integrations.shared import HOSTILE, environment
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import InvalidNamespaceError, PutOp
from langgraph.types import Command, Send, interrupt
from test_contract import kill_private
from typing_extensions import TypedDict

from amber_memory import Amber, AsyncAmber, InternalError, InvalidError, _call
from amber_memory._find import _Private
from amber_memory.integrations import _common, langgraph
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


# What LangGraph's own tests ask of channels that are kept as what was added, told without the fields of its classes.


def chain(saver: AmberSaver, thread: str, *steps: Any) -> List[RunnableConfig]:
    """Store checkpoints one behind the other: the value of a channel at each, or None, and what a task writes to it then."""
    made: List[RunnableConfig] = []
    for value, written in steps:
        parent = made[-1]["configurable"]["checkpoint_id"] if made else ""
        made.append(put(saver, thread, parent, **({} if value is None else {"messages": value})))
        saver.put_writes(made[-1], [("messages", written), ("other", "x")], "task")
    return made


def test_the_history_of_a_channel_is_what_its_ancestors_wrote(home: str) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        made = chain(saver, "t", (["old"], "OLDER"), (["A"], "SEED"), (None, "B"), (None, "PENDING"))

        def history(at: RunnableConfig, *channels: str) -> Any:
            found = saver.get_delta_channel_history(config=at, channels=channels)
            assert found == BaseCheckpointSaver.get_delta_channel_history(saver, config=at, channels=channels)
            return {c: ([w[2] for w in h["writes"]], h.get("seed")) for c, h in found.items()}

        assert history(made[3], "messages") == {"messages": (["SEED", "B"], ["A"])}
        assert history(config("t"), "messages", "other", "none") == {"messages": (["SEED", "B"], ["A"]), "other": (["x"] * 3, None), "none": ([], None)}
        assert history(made[0], "messages") == {"messages": ([], None)}
        assert history(config("t", checkpoint_id="no such"), "messages") == {"messages": ([], None)}

        async def at_once() -> None:
            found = await asyncio.gather(*(saver.aget_delta_channel_history(config=made[3], channels=["messages"]) for _ in range(20)))
            assert all(f["messages"].get("seed") == ["A"] and len(f["messages"]["writes"]) == 2 for f in found)

        asyncio.run(at_once())


def test_a_chain_that_leads_back_to_itself_ends(home: str) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        made = chain(saver, "t", (None, "a"), (None, "b"), (None, "c"))
        first = checkpoint()
        first["id"] = made[0]["configurable"]["checkpoint_id"]
        saver.put(made[2], first, {}, {})
        found = saver.get_delta_channel_history(config=made[1], channels=["messages"])
        assert [w[2] for w in found["messages"]["writes"]] == ["c", "a"]
        saver.prune(["t"])
        assert len(ids(saver, "t")) == 1
        itself = checkpoint()
        itself["id"] = "self"
        saver.put(config("u", checkpoint_id="self"), itself, {}, {})
        assert saver.get_delta_channel_history(config=config("u"), channels=["messages"]) == {"messages": {"writes": []}}


def test_metadata_are_found_by_names_with_dots(home: str) -> None:
    with Amber() as amber:
        saver = AmberSaver(amber)
        saver.put(config("t"), checkpoint(), cast(Any, {"user": {"a-b": 1, "c.d": 2}, "x.y": 3}), {})
        for filter, there in (({"user.a-b": 1}, 1), ({"user.c.d": 2}, 1), ({"x.y": 3}, 1), ({"user": {"a-b": 1}}, 0), ({"x.z": 3}, 0), ({"user.a-b.c": 1}, 0)):
            assert len(list(saver.list(None, filter=filter))) == there, filter


# Programs that do not wait.


class Sum(TypedDict):
    n: Annotated[List[int], operator.add]


async def test_fifty_graphs_in_one_loop(home: str) -> None:
    async def count(state: Sum) -> Sum:
        return {"n": [len(state["n"])]}

    async def one(i: int) -> Sum:
        return {"n": [i]}

    async with AsyncAmber(user_id="ada") as amber:
        saver, store = AmberSaver(amber), AmberStore(amber)
        line = StateGraph(Sum).add_node("a", count).add_node("b", count).add_edge(START, "a").add_edge("a", "b").add_edge("b", END).compile(checkpointer=saver, store=store)
        fan = StateGraph(Sum).add_node("one", cast(Any, one)).add_conditional_edges(START, lambda _: [Send("one", i) for i in range(50)]).compile(checkpointer=saver)

        async def run(i: int) -> Any:
            await store.aput(("runs",), str(i), {"i": i})
            return await line.ainvoke({"n": [i]}, config(f"line-{i}"))

        *lines, wide = await asyncio.gather(*(run(i) for i in range(50)), fan.ainvoke({"n": []}, config("fan")))
        assert lines == [{"n": [i, 1, 2]} for i in range(50)]
        assert sorted(wide["n"]) == list(range(50))
        assert sorted(i.value["i"] for i in await store.asearch(("runs",), limit=100)) == list(range(50))
        tuples = await asyncio.gather(*(AmberSaver(amber).aget_tuple(config(f"line-{i}")) for i in range(50)))
        assert [t.checkpoint["channel_values"]["n"] for t in tuples if t is not None] == [[i, 1, 2] for i in range(50)]
    # What the threads used is closed with the client that was given.
    assert amber._caller.connection.blocking.closed and amber._caller.connection.blocking._open == {}


# Crashes.

STEPS = 30

RUNNER = """
import sys
from amber_memory import Amber
from amber_memory._find import _Private
from amber_memory.integrations.langgraph import AmberSaver
from integrations.test_langgraph import steps, config
with Amber() as amber:
    amber.agent.health()
    print(*(p._process.pid for p in _Private._all.values()), flush=True)
    begin = None if sys.argv[1:] else {"n": []}
    steps(AmberSaver(amber), lambda n: print(n, flush=True)).invoke(begin, config("t"), durability="sync")
"""


def steps(saver: AmberSaver, begun: Any) -> Any:
    """A graph of STEPS steps, each of which adds its number, and says when it begins."""

    def step(state: Sum) -> Sum:
        begun(len(state["n"]))
        return {"n": [len(state["n"])]}

    made = StateGraph(Sum).add_node("step", step).add_edge(START, "step").add_conditional_edges("step", lambda s: "step" if len(s["n"]) < STEPS else END)
    return made.compile(checkpointer=saver).with_config(recursion_limit=2 * STEPS)


def test_a_program_is_killed_with_its_server_in_the_middle_of_a_graph(home: str) -> None:
    begun = 0
    for kill_at, more in ((3, []), (11, ["on"]), (17, ["on"])):
        with subprocess.Popen([sys.executable, "-c", RUNNER, *more], env=environment(), stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            server = int(program.stdout.readline())
            for line in program.stdout:
                # A step begins when what is before it is stored: none of that is done again.
                assert int(line) >= begun
                begun = int(line)
                if begun == kill_at:
                    break
            os.kill(server, signal.SIGKILL)
            program.kill()
        assert begun == kill_at
    with Amber() as amber:
        again: List[int] = []
        saver = AmberSaver(amber)
        assert steps(saver, again.append).invoke(None, config("t"), durability="sync") == {"n": list(range(STEPS))}
        assert again[0] >= begun and again == list(range(again[0], STEPS))
        assert [len(t.checkpoint["channel_values"].get("n", ())) for t in saver.list(config("t"))] == [*range(STEPS, -1, -1), 0]


def test_the_server_is_killed_again_and_again_while_a_graph_runs(home: str) -> None:
    with Amber() as amber:
        amber.agent.health()
        saver = AmberSaver(amber)
        killed: Dict[int, List[int]] = {}

        def begun(n: int) -> None:
            if n % 7 == 3 and n not in killed:
                killed[n] = [p._process.pid for p in _Private._all.values()]
                threading.Timer(0.01, kill_private).start()  # while what the step gave is stored

        assert steps(saver, begun).invoke({"n": []}, config("t"), durability="sync") == {"n": list(range(STEPS))}
        assert len({pid for pids in killed.values() for pid in pids}) == 4, "each time another server"
        assert [len(t.checkpoint["channel_values"].get("n", ())) for t in saver.list(config("t"))] == [*range(STEPS, -1, -1), 0]


# Names that look the same, or like something else.

ALIKE = ["caf\u00e9", "cafe\u0301", "\u212a", "K", "k", "\ufb01", "fi", "\uff46i", "\u0430", "a", "a ", "a\u200b", "A", "x" * 1000, "x" * 1001, "a/b", "a\\b", "__", "*", "%", "\u202ea", "\ud800"]


def test_names_that_look_alike_are_different(home: str) -> None:
    with Amber(user_id="ada") as amber:
        saver, store = AmberSaver(amber), AmberStore(amber)
        made = {name: put(saver, name, own=name.encode("utf-8", "surrogatepass")) for name in ALIKE}
        inner = {name: saver.put(cast(RunnableConfig, {"configurable": {"thread_id": "t", "checkpoint_ns": name}}), checkpoint(), {}, {}) for name in ALIKE}
        for name, stored in made.items():
            assert ids(saver, name) == [stored["configurable"]["checkpoint_id"]]
            found = list(saver.list({"configurable": {"thread_id": "t", "checkpoint_ns": name}}))
            assert [t.config for t in found] == [inner[name]]
        store.batch([PutOp(("x", name), name, {"own": name}) for name in ALIKE] + [PutOp(("y",), name, {"own": name}) for name in ALIKE])
        for name in ALIKE:
            assert [(i.key, i.value) for i in store.search(("x", name))] == [(name, {"own": name})]
            one = store.get(("y",), name)
            assert one is not None and (one.key, one.value) == (name, {"own": name})
        assert {n[1] for n in store.list_namespaces(prefix=("x",))} == set(ALIKE)


def test_namespaces_that_langgraph_does_not_allow_are_refused(home: str) -> None:
    with Amber() as amber:
        store = AmberStore(amber)
        for bad in (("..",), ("a.b",), ("nul\x00",), ("",)):
            with pytest.raises(InvalidNamespaceError):
                store.batch([PutOp(bad, "k", {})])
            with pytest.raises(InvalidNamespaceError):
                store.put(bad, "k", {})
        with pytest.raises(InvalidError, match="33 parts"):
            store.put(("p",) * 33, "k", {})
        assert store.list_namespaces() == [] and store.search(()) == []


def test_nothing_of_another_user_can_be_reached(home: str) -> None:
    with Amber() as amber:
        ada, bob = amber.scoped(user_id="ada"), amber.scoped(user_id="bob")
        mine, other = AmberSaver(ada), AmberSaver(bob)
        stored = mine.put(config("t"), checkpoint(own="ada"), cast(Any, {"run_id": "run"}), {"own": 1})
        mine.put_writes(stored, [("own", "ada")], "task")
        store, others = AmberStore(ada), AmberStore(bob, ttl={"default_ttl": 1})
        store.put(("a", "b"), "k", {"own": "ada"}, ttl=0.00001)
        store.put(("a", "b"), "l", {"own": "ada"})
        assert other.get_tuple(stored) is None and list(other.list(stored)) == [] and list(other.list(None)) == []
        assert other.get_delta_channel_history(config=stored, channels=["own"]) == {"own": {"writes": []}}
        other.put_writes(stored, [("own", "bob")], "task")
        other.copy_thread("t", "copy")
        other.delete_for_runs(["run"])
        other.prune(["t"])
        other.delete_thread("t")
        assert others.get(("a", "b"), "l") is None and others.search(("a",)) == [] and others.search((), query="ada") == []
        assert others.list_namespaces() == [] and others.sweep_ttl() == 0
        others.delete(("a", "b"), "l")
        found = mine.get_tuple(stored)
        assert found is not None and found.pending_writes == [("task", "own", "ada")] and ids(mine, "copy") == []
        assert [i.key for i in store.search(())] == ["l"] and store.sweep_ttl() == 1


# The store.


def test_every_filter_of_the_store(home: str) -> None:
    with Amber() as amber:
        store = AmberStore(amber)
        store.put(("f",), "a", {"n": 1, "s": "2024-01-01", "user": {"age": 30, "name": {"first": "Ada"}}, "tags": ["x", "y"], "big": 10**400, "dot.ted": "d"})
        store.put(("f",), "b", {"n": 2.5, "s": "2024-06-01", "user": {"age": 40}, "tags": ["x"], "flag": True, "none": None})
        cases: List[Any] = [
            ({"n": 1}, "a"), ({"n": {"$eq": 1}}, "a"), ({"n": {"$ne": 1}}, "b"), ({"n": {"$gt": 1}}, "b"), ({"n": {"$gte": 1}}, "ab"), ({"n": {"$lt": 2.5}}, "a"), ({"n": {"$lte": 2.5}}, "ab"),
            ({"n": {"$gt": 0, "$lt": 2}}, "a"), ({"n": {"$gt": "2"}}, "b"), ({"s": {"$gt": "2024-03-01"}}, "b"), ({"s": {"$lte": "2024-01-01"}}, "a"), ({"s": {"$gt": 5}}, ""),
            ({"user": {"age": 30}}, "a"), ({"user": {"age": {"$gt": 30}}}, "b"), ({"user.age": {"$gte": 30}}, "ab"), ({"user.name.first": "Ada"}, "a"), ({"user": {"name.first": "Ada"}}, "a"),
            ({"user": {"name": {"first": {"$ne": "Ada"}}}}, ""), ({"dot.ted": "d"}, "a"), ({"tags": ["x", "y"]}, "a"), ({"tags": ("x",)}, "b"), ({"tags": [{"$ne": "y"}]}, "b"), ({"tags": []}, ""),
            ({"big": {"$gt": 10**399}}, "a"), ({"big": {"$lt": float("nan")}}, ""), ({"flag": True}, "b"), ({"missing": {"$ne": 1}}, "ab"), ({"missing": {"$gt": 1}}, ""), ({"none": {"$lt": 1}}, ""), ({"none": None}, "ab"),
            ({"tags": {"$gt": []}}, ""), ({"n": 1, "s": "2024-06-01"}, ""), ({"x') OR '1'='1": 1}, ""),
        ]  # fmt: skip
        for filter, keys in cases:
            assert sorted(i.key for i in store.search(("f",), filter=filter)) == sorted(keys), filter
            assert sorted(i.key for i in store.search(("f",), query="ada", filter=filter)) == sorted(keys), filter
        with pytest.raises(ValueError, match=r"\$regex"):
            store.search(("f",), filter={"n": {"$regex": "x"}})


class Clock:
    """A clock that tests set forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime.now(timezone.utc)
        monkeypatch.setattr(langgraph, "_now", lambda: self.now)

    def on(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


def test_an_item_ends(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    with Amber(user_id="ada") as amber:
        store = AmberStore(amber, ttl={"default_ttl": 10, "refresh_on_read": False})
        store.put(("a",), "default", {"text": "the train leaves at nine"})
        store.put(("b",), "long", {"text": "the train leaves at ten"}, ttl=30)
        store.put(("c",), "never", {"text": "the train leaves at noon"}, ttl=None)

        def seen() -> List[List[str]]:
            got = [k for n, k in (("a", "default"), ("b", "long"), ("c", "never")) if store.get((n,), k) is not None]
            listed = sorted(i.key for i in store.search(()))
            asked = sorted(i.key for i in store.search((), query="when does the train leave?"))
            assert len(store.list_namespaces()) == len(got) and AmberStore(amber).get(("a",), "default", refresh_ttl=False) == store.get(("a",), "default")
            return [got, listed, asked]

        assert seen() == [["default", "long", "never"]] * 3 and store.sweep_ttl() == 0
        clock.on(9.9)
        assert seen() == [["default", "long", "never"]] * 3
        clock.on(0.2)
        assert seen() == [["long", "never"]] * 3
        assert len(amber.memory.list().all()) == 3
        kill_private()
        assert store.sweep_ttl() == 1 and store.sweep_ttl() == 0 and len(amber.memory.list().all()) == 2
        # Written again, the same value has the end that it is given now, or none.
        store.put(("b",), "long", {"text": "the train leaves at ten"}, ttl=None)
        store.put(("c",), "never", {"text": "the train leaves at noon"})
        clock.on(10.1)
        assert seen() == [["long"]] * 3 and asyncio.run(store.asweep_ttl()) == 1
        clock.on(100)
        assert seen() == [["long"]] * 3 and store.sweep_ttl() == 0
        for bad in (0, -1, float("inf"), float("nan")):
            with pytest.raises(InvalidError, match="ttl"):
                store.put(("a",), "k", {}, ttl=bad)


def test_a_read_puts_the_end_off(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    with Amber() as amber:
        store = AmberStore(amber)
        store.put(("a",), "k", {"text": "the train leaves at nine"}, ttl=10)
        memory = amber.memory.list().all()[0]
        amber.memory.edit(memory.id, metadata={**memory.metadata, "other": "kept"}, tags=[*memory.tags, "kept"])
        first = store.get(("a",), "k", refresh_ttl=False)
        reads: List[Any] = [lambda: store.get(("a",), "k"), lambda: store.search(("a",)), lambda: store.search((), query="when does the train leave?"), lambda: store.search((), filter={"text": {"$ne": ""}})]
        for read in reads:
            clock.on(9)
            assert read()
        assert first is not None and store.get(("a",), "k", refresh_ttl=False) == first, "a read is no write"
        revision = amber.memory.list().all()[0].revision
        clock.on(0.1)
        assert store.get(("a",), "k") and amber.memory.list().all()[0].revision == revision, "reads in a row write once"
        clock.on(5)
        store.put(("a",), "k", {"text": "the train leaves at nine"}, ttl=10)
        again = store.get(("a",), "k", refresh_ttl=False)
        assert again is not None and again.updated_at > first.updated_at
        memory = amber.memory.list(tag=["kept"]).all()[0]
        assert memory.metadata["other"] == "kept"
        clock.on(9)
        assert store.search((), refresh_ttl=False)
        clock.on(2)
        assert store.get(("a",), "k") is None and store.search(()) == []
        store.put(("a",), "k", {"text": "new"}, ttl=10)
        assert store.sweep_ttl() == 0 and store.get(("a",), "k") is not None


def test_a_sweeper_ends_with_its_store_or_client(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = threading.Semaphore(0)
    original = AmberStore.sweep_ttl

    def counted(self: AmberStore) -> int:
        n = original(self)
        swept.release()
        return n

    monkeypatch.setattr(AmberStore, "sweep_ttl", counted)
    with Amber() as amber:
        store = AmberStore(amber, ttl={"default_ttl": 1e-6})
        store.put(("a",), "k", {"n": 1})
        done = store.start_ttl_sweeper(1e-4)
        assert swept.acquire(timeout=30) and amber.memory.list().all() == []
        assert store.stop_ttl_sweeper(30) and done.result(30) is None and store.stop_ttl_sweeper()
        cancelled = store.start_ttl_sweeper(1e-4)
        assert swept.acquire(timeout=30) and cancelled.cancel() and store.stop_ttl_sweeper(30)
        left = store.start_ttl_sweeper(1e-4)
    left.result(30)  # the client is closed
    with Amber() as amber:
        short = AmberStore(amber)
        gone = short.start_ttl_sweeper(1e-4)
        assert swept.acquire(timeout=30)
        del short
        gone.result(30)  # nobody has the store


def letters(texts: Sequence[str]) -> List[List[float]]:
    return [[float(text.lower().count(c)) for c in "abcdefghij"] for text in texts]


async def aletters(texts: Sequence[str]) -> List[List[float]]:
    await asyncio.sleep(0)
    return letters(texts)


def test_the_store_uses_an_embedder_that_is_given(home: str) -> None:
    with Amber(user_id="ada") as amber:
        store = AmberStore(amber, index={"dims": 10, "embed": letters, "fields": ["text", "more[*]"]})
        store.put(("v",), "a", {"text": "aaa", "more": ["jjj", "iii"], "n": 1})
        store.put(("v",), "b", {"text": "bbb", "n": 2})
        store.put(("v", "w"), "hidden", {"text": "aaa"}, index=False)
        store.put(("v",), "other", {"text": "aaa", "note": "ccc"}, index=["note"])
        kill_private()

        def best(query: str, **more: Any) -> Any:
            return [(i.key, None if i.score is None else round(i.score, 5)) for i in store.search(("v",), query=query, **more)]

        assert best("aa", limit=1) == [("a", 1.0)] and best("i", limit=1) == [("a", 1.0)] and best("cc", limit=1) == [("other", 1.0)]
        assert best("a")[-1] == ("hidden", None) and len(best("a")) == 4 and best("a", offset=3) == [("hidden", None)]
        assert best("a", filter={"n": {"$gt": 1}}) == [("b", 0.0)]
        store.put(("v",), "a", {"text": "ddd"})
        assert best("dd", limit=1) == [("a", 1.0)] and best("a", limit=1) != [("a", 1.0)]
        assert amber.recall("bbb")[0].content.startswith('{"value": {"text": "bbb"')
        other = AmberStore(amber, index={"dims": 3, "embed": lambda texts: [[1.0, 2.0, 3.0] for _ in texts]})
        with pytest.raises(InvalidError, match="another embedder"):
            other.search(("v",), query="a")
        with pytest.raises(InvalidError, match="10 numbers: want 3"):
            AmberStore(amber, index={"dims": 3, "embed": letters}).put(("v",), "k", {"text": "a"})
        with pytest.raises(InvalidError, match="no dims"):
            AmberStore(amber, index=cast(Any, {"embed": letters}))

        async def later() -> None:
            found = AmberStore(amber, index={"dims": 10, "embed": aletters})
            await found.aput(("later",), "k", {"text": "eee"})
            assert [i.score for i in await found.asearch(("later",), query="text: eee")] != [None]

        asyncio.run(later())


def test_a_list_that_is_too_long_for_one_answer_is_read(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_call, "MAX_ANSWER", 1 << 18)
    with Amber() as amber:
        store = AmberStore(amber)
        for n in range(8):
            store.put(("big",), str(n), {"n": n, "text": "\x01" * 10_000})  # as text seven times as long
        with pytest.raises(InternalError):
            amber.memory.list().all()
        assert sorted(i.value["n"] for i in store.search(("big",), limit=100)) == list(range(8))
        assert store.list_namespaces() == [("big",)]
        assert [i.value["n"] for i in store.search(("big",), filter={"n": 0})] == [0]
