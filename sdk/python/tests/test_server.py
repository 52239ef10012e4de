"""Servers that come and go: started, shared, killed, replaced, remote, and hostile ones."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import anyio
import pytest
from test_contract import kill_private

from amber_memory import (
    Amber,
    AmberError,
    AsyncAmber,
    InternalError,
    InvalidError,
    NotFoundError,
    RefusedError,
    UnreachableError,
    UnsupportedError,
)
from amber_memory._find import _Private, binary_path


def where(home: str) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads((Path(home) / "serve.json").read_text())
    return found


def wait_for(what: str, so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not so():
        assert time.monotonic() < end, f"it does not happen: {what}"
        time.sleep(0.02)


@pytest.fixture
def serve(home: str, binary: str) -> Iterator[Callable[..., str]]:
    """Starts servers as people do."""
    running: List[subprocess.Popen[str]] = []

    def start(*args: str) -> str:
        p = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        running.append(p)
        assert p.stdout is not None
        return p.stdout.readline().strip()

    yield start
    for p in running:
        p.kill()
        p.wait()
        if p.stdout is not None:
            p.stdout.close()


def test_nothing_acknowledged_is_lost_and_nothing_is_doubled_when_the_server_is_killed(home: str) -> None:
    with Amber() as amber, ThreadPoolExecutor(16) as pool:
        amber.remember("the first one")
        stop = threading.Event()

        def kills() -> None:
            while not stop.wait(0.4):
                kill_private()

        killer = threading.Thread(target=kills)
        killer.start()
        try:
            wrote = list(pool.map(lambda i: amber.remember(f"memory number {i}").id, range(200)))
            amber.session.start(id="talk")
            turns = list(pool.map(lambda i: amber.turn.append("talk", role="user", content=f"turn {i}").id, range(50)))
        finally:
            stop.set()
            killer.join()
        stored = [m.id for m in amber.memory.list(limit=100)]
        assert len(stored) == len(set(stored)) == 201
        assert set(wrote) <= set(stored)
        assert sorted(t.id for t in amber.turn.list("talk", limit=1000).all()) == sorted(turns)


def test_async_writes_survive_a_kill(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber() as amber:
            wrote: List[str] = []

            async def write(i: int) -> None:
                wrote.append((await amber.remember(f"memory number {i}")).id)

            async with anyio.create_task_group() as group:
                for i in range(60):
                    group.start_soon(write, i)
                    if i % 20 == 10:
                        await anyio.sleep(0.1)
                        await anyio.to_thread.run_sync(kill_private)
            stored = [m.id async for m in amber.memory.list()]
            assert sorted(stored) == sorted(wrote)

    anyio.run(run)


def test_a_server_ends_with_its_program(home: str, binary: str) -> None:
    program = "import amber_memory, time; a = amber_memory.Amber(); a.remember('kept'); print('ready', flush=True); time.sleep(60)"
    p = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert p.stdout is not None and p.stdout.readline() == "ready\n"
    path = where(home)["socket"]
    p.kill()
    p.wait()
    p.stdout.close()
    wait_for("the server ends", lambda: not os.path.exists(path))
    with Amber() as amber:
        assert [m.content for m in amber.memory.list()] == ["kept"]


def test_programs_share_a_server_and_go_on_when_it_ends(home: str) -> None:
    program = "import amber_memory, sys; a = amber_memory.Amber(); a.remember('theirs'); print('ready', flush=True); sys.stdin.read(); a.remember('theirs again')"
    with Amber() as amber:
        amber.remember("ours")
        p = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert p.stdout is not None and p.stdin is not None and p.stdout.readline() == "ready\n"
        assert len(_Private._all) == 1
        assert len(amber.memory.list().all()) == 2
    p.stdin.close()
    assert p.wait(60) == 0
    p.stdout.close()
    with Amber() as amber:
        assert len(amber.memory.list().all()) == 3


def test_clients_of_one_program_share_a_server(home: str) -> None:
    with Amber() as one, Amber() as two:
        one.remember("shared")
        assert [m.content for m in two.memory.list()] == ["shared"]
        assert len(_Private._all) == 1
    assert not _Private._all


def test_a_fork_has_a_connection_of_its_own(home: str) -> None:
    with Amber() as amber:
        amber.remember("before")
        pid = os.fork()
        if pid == 0:
            try:
                amber.remember("in the child")
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        assert len(amber.memory.list().all()) == 2


def test_a_private_server_is_replaced_by_one_of_people(home: str, serve: Callable[..., str]) -> None:
    with Amber() as amber:
        amber.remember("before")
        serve()
        amber.remember("after")
        assert len(amber.memory.list().all()) == 2
        assert "private" not in where(home)


def test_a_served_home_with_tokens_asks_its_user_for_none(home: str, binary: str, serve: Callable[..., str]) -> None:
    token = subprocess.run([binary, "--quiet", "token", "create", "reader", "--scope", "read"], capture_output=True, text=True, check=True).stdout.strip()
    url = serve()
    with Amber(start_server=False) as amber:
        amber.remember("by the user")
    with Amber(url) as stranger, pytest.raises(RefusedError):
        stranger.recall("user")
    with Amber(url, token=token) as reader:
        assert [h.content for h in reader.recall("user")] == ["by the user"]
        with pytest.raises(RefusedError) as refused:
            reader.remember("by a reader")
        assert refused.value.status == 403 and refused.value.request_id and token not in str(refused.value)


def test_the_environment_names_a_server(home: str, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AMBER_REMOTE", serve())
    monkeypatch.setenv("AMBER_AGENT", "named")
    with Amber() as amber:
        amber.remember("over there")
    assert not _Private._all
    monkeypatch.setenv("AMBER_TOKEN_FILE", str(tmp_path / "missing"))
    with Amber() as amber, pytest.raises(InvalidError, match="token file"):
        amber.recall("x")


@pytest.mark.parametrize("kind", ["session_id", "user_id", "project_id", "workspace_id"])
def test_an_identity_never_sees_another(home: str, kind: str) -> None:
    def of(name: str) -> Dict[str, str]:
        return {kind: name}

    with Amber(**of("ada")) as ada:  # type: ignore[arg-type]
        wrote = ada.remember("The heron likes the pond")
        assert wrote.scope == kind.removesuffix("_id")
        assert [h.content for h in ada.recall("heron")] == ["The heron likes the pond"]
        assert ada.context("what does the heron like").items
        bob = ada.scoped(**of("bob"))
        assert bob.recall("heron") == []
        assert bob.memory.list().all() == []
        assert not bob.context("what does the heron like").items
        nobody = Amber()
        assert nobody.recall("heron") == []
        nobody.close()
        everybody = ada.remember("The pond is behind the house", scope="global")
        assert everybody.scope == "global"
        assert [h.content for h in bob.recall("pond")] == ["The pond is behind the house"]
        batch = ada.memory.write_batch(items=[{"content": "batched heron"}, {"content": "for all", "scope": "global"}])
        assert [a.scope for a in batch.items] == [kind.removesuffix("_id"), "global"]
        assert [h.content for h in bob.recall("batched heron")] == []


def test_a_stream_goes_on_after_a_kill(home: str) -> None:
    with Amber() as amber:
        amber.remember("before the stream")
        got: List[str] = []
        with amber.event.stream() as stream:

            def read() -> None:
                for event in stream:
                    got.append(event.payload["key"])
                    if len(got) == 3:
                        return

            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            wait_for("the stream is open", lambda: stream._response is not None)
            ids = [amber.remember("one").id]
            wait_for("the first event", lambda: len(got) == 1)
            kill_private()
            ids += [amber.remember("two").id, amber.remember("three").id]
            reader.join(30)
        assert got == ids


def test_a_stream_that_is_cut_before_its_first_event_loses_nothing(home: str) -> None:
    async def run() -> None:
        async with AsyncAmber() as amber:
            await amber.remember("before the stream")
            got: List[str] = []
            stream = amber.event.stream()

            async def read() -> None:
                async for event in stream:
                    got.append(event.payload["key"])
                    return

            async with anyio.create_task_group() as group:
                group.start_soon(read)
                while stream._response is None:
                    await anyio.sleep(0.01)
                await anyio.to_thread.run_sync(kill_private)
                wrote = await amber.remember("after the kill")
            assert got == [wrote.id]

    anyio.run(run)


def test_a_key_of_the_caller_makes_a_turn_once(home: str) -> None:
    with Amber() as amber:
        amber.session.start(id="talk")
        first = amber.turn.append("talk", role="user", content="hello", idempotency_key="k")
        assert amber.turn.append("talk", role="user", content="hello", idempotency_key="k").id == first.id
        assert len(amber.turn.list("talk").all()) == 1


def test_files_go_in_and_out(home: str, tmp_path: Path) -> None:
    with Amber() as amber:
        amber.remember("The heron likes the pond")
        out = tmp_path / "out.jsonl"
        amber.export.download(to="jsonl").save(out)
        data = out.read_bytes()
        assert b"heron" in data
        other = amber.scoped(agent="other")
        other.remember("makes the agent")
        report = other.import_.upload(data, from_="jsonl", name="out.jsonl")
        assert report is not None
        assert {m.content for m in other.memory.list(all=True)} == {"makes the agent", "The heron likes the pond"}
        assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_lists_stream_line_by_line(home: str) -> None:
    with Amber() as amber:
        for n in range(0, 120, 15):
            amber.memory.write_batch(items=[{"content": f"memory {i}"} for i in range(n, n + 15)])
        assert len(list(amber.memory.list().lines())) == 120
        assert len(amber.memory.list(limit=7).page().items) == 7
        assert len(amber.memory.list(limit=7).all()) == 120


def test_what_cannot_be_started_says_why(home: str, tmp_path: Path) -> None:
    with Amber(binary=str(tmp_path / "missing")) as amber, pytest.raises(UnsupportedError, match="missing"):
        amber.recall("x")
    with Amber(start_server=False) as amber, pytest.raises(UnreachableError, match="no server"):
        amber.recall("x")
    (tmp_path / "file").write_text("not a folder")
    with Amber(home=str(tmp_path / "file")) as amber, pytest.raises(AmberError) as e:
        amber.recall("x")
    assert "amber serve --private" in str(e.value)
    for url in ("ftp://x", "http://", "https://user:secret@host"):
        with Amber(url) as amber, pytest.raises(InvalidError) as invalid:
            amber.recall("x")
        assert "secret" not in str(invalid.value)


def test_a_socket_of_others_is_not_used(home: str, tmp_path: Path) -> None:
    """Somebody may write serve.json of a shared folder, or leave a socket that everybody can reach."""
    Path(home).mkdir(mode=0o700)
    open_folder = tmp_path / "open"
    open_folder.mkdir(mode=0o755)
    path = str(open_folder / "s")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen()
        os.chmod(path, 0o600)
        (Path(home) / "serve.json").write_text(json.dumps({"url": "unix://" + path, "page": "", "secret": "x", "socket": path, "private": True}))
        with Amber() as amber:
            amber.remember("in our own server")
            assert where(home)["socket"] != path


class Hostile(BaseHTTPRequestHandler):
    """Answers what no Amber does."""

    answer: Callable[["Hostile"], None]
    asked: List[str] = []

    def do_GET(self) -> None:
        Hostile.asked.append(self.headers.get("Idempotency-Key", ""))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        Hostile.answer(self)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for k, v in headers.items():
            self.send_header(k.replace("_", "-"), v)
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def hostile(home: str) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    Hostile.asked = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def failure(kind: str) -> bytes:
    return json.dumps({"error": {"kind": kind, "message": "said so"}}).encode()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda h: h.say(200, b"not json"), InternalError),
        (lambda h: h.say(200, b'{"hits": 7}'), InternalError),
        (lambda h: h.say(200, b"[" * 100_000), InternalError),
        (lambda h: h.say(302, b"", Location="http://127.0.0.1:1/"), InternalError),
        (lambda h: h.say(500, b"<html>proxy</html>"), InternalError),
        (lambda h: h.say(404, failure("not_found")), NotFoundError),
        (lambda h: h.say(418, failure("of_tomorrow")), AmberError),
        (lambda h: h.say(400, b'{"error": {"kind": 7, "message": []}}'), InternalError),
    ],
)
def test_hostile_answers_are_errors(hostile: str, answer: Callable[[Hostile], None], error: type[AmberError]) -> None:
    Hostile.answer = answer
    with Amber(hostile, retry_for=0) as amber, pytest.raises(error):
        amber.recall("x")


def test_busy_servers_are_asked_again_with_the_same_key(hostile: str) -> None:
    def answer(h: Hostile) -> None:
        if len(Hostile.asked) == 1:
            h.say(409, failure("busy"), Retry_After="0")
        elif len(Hostile.asked) == 2:
            h.connection.shutdown(socket.SHUT_RDWR)  # after the request was read
        elif len(Hostile.asked) == 3:
            h.say(503, b"proxy")
        else:
            h.say(409, failure("conflict"))

    Hostile.answer = answer
    with Amber(hostile) as amber, pytest.raises(AmberError) as e:
        amber.remember("once")
    assert e.value.kind == "conflict"
    assert len(Hostile.asked) == 4 and len(set(Hostile.asked)) == 1 and Hostile.asked[0]


def test_a_server_that_never_answers_is_not_waited_for(hostile: str) -> None:
    Hostile.answer = lambda h: time.sleep(3)
    with Amber(hostile, timeout=0.3) as amber, pytest.raises(UnreachableError, match="within"):
        amber.remember("once")
    assert len(Hostile.asked) == 1


def test_operations_that_take_long_are_waited_for(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amber_memory._call._TIMEOUT", 0.3)

    def late(h: Hostile) -> None:
        time.sleep(1)
        h.say(200, b"{}")

    Hostile.answer = late
    with Amber(hostile, retry_for=0) as amber:
        with pytest.raises(UnreachableError, match="within 0.3 seconds"):
            amber.recall("x")
        with pytest.raises(InternalError, match="not as expected"):  # the answer has come, and is empty
            amber.snapshot.take()
    with Amber(hostile, retry_for=0, timeout=0.3) as amber, pytest.raises(UnreachableError, match="within 0.3 seconds"):
        amber.snapshot.take()


def test_what_is_no_text_is_a_type_error_in_words(home: str) -> None:
    number: Any = 5
    with Amber() as amber:
        for call in (amber.recall, amber.remember, amber.context, amber.forget):
            with pytest.raises(TypeError, match=r"^(question|content|goal|id) is of type int, want str$"):
                call(number)
        with pytest.raises(TypeError, match="question is of type bytes, want str"):
            amber.recall(b"x")  # type: ignore[arg-type]
        with pytest.raises(InvalidError, match="tags is a string where a list is wanted"):
            amber.remember("x", tags="abc")
        with pytest.raises(InvalidError, match="limit is a string where a whole number is wanted"):
            amber.recall("x", limit="3")  # type: ignore[arg-type]


def test_an_answer_has_a_bound(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amber_memory._call.MAX_ANSWER", 1000)
    Hostile.answer = lambda h: h.say(200, b"x" * 2000)
    with Amber(hostile) as amber, pytest.raises(InternalError, match="more than"):
        amber.recall("x")


def test_names_cannot_leave_the_path(home: str) -> None:
    with Amber() as amber:
        amber.remember("one")
        for id in ("..", ".", ""):
            with pytest.raises(InvalidError):
                amber.memory.get(id)
        for id in ("../memories", "a/b", "%2e%2e", "a?b=c", "a#b"):
            with pytest.raises((NotFoundError, InvalidError)):
                amber.memory.get(id)


def test_signals_reach_the_program_alone(home: str) -> None:
    with Amber() as amber:
        amber.remember("one")
        (private,) = _Private._all.values()
        assert os.getpgid(private._process.pid) != os.getpgid(0)
        assert private._process.poll() is None
        os.kill(private._process.pid, signal.SIGTERM)
        amber.remember("two")
        assert len(amber.memory.list().all()) == 2


def test_no_program_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty or relative element of the path is the folder in which the process happens to be, such as a stranger's archive."""
    name = "amber.exe" if os.name == "nt" else "amber"
    for folder in (tmp_path, tmp_path / "bin", tmp_path / "own"):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("amber_memory._find.__file__", str(tmp_path / "package" / "_find.py"))
    for path in ("", os.pathsep, os.pathsep.join(["", "/nowhere"]), ".", "bin"):
        with pytest.raises(UnsupportedError):
            binary_path(None, {"PATH": path})
    with pytest.raises(UnsupportedError):
        binary_path(None, {})
    assert binary_path(None, {"PATH": os.pathsep.join(["", "bin", str(tmp_path / "own")])}) == str(tmp_path / "own" / name)
