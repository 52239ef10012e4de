"""claude-mem against Amber: its own store writes, its own worker imports. Usage: claude_mem.py AMBER FOLDER NAME BUN PACKAGE"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from oracle import ENV, FOLDER, HARD, Amber, counts, fail, isolate, ok, same

isolate()
BUN, PACKAGE, HERE = sys.argv[4], Path(sys.argv[5]), Path(__file__).parent
VERSION = "claude-mem " + json.loads((PACKAGE / "package.json").read_text())["version"]
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def observation(title, narrative, **more):
    row = {"type": "decision", "title": title, "subtitle": None, "facts": [], "narrative": narrative, "concepts": [], "files_read": [], "files_modified": []}
    return row | more


@contextmanager
def written(database, sessions):
    """Has the store write sessions, and keeps the database open until the end of the block."""
    rows = FOLDER / "rows.json"
    rows.write_text(json.dumps(sessions))
    database.parent.mkdir(exist_ok=True)
    args = [BUN, HERE / "claude_mem.mjs", PACKAGE / "plugin/sqlite/SessionStore.js", database, rows]
    env = ENV | {"CLAUDE_MEM_DATA_DIR": str(database.parent)}
    p = subprocess.Popen(args, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    for line in p.stdout:
        said.append(line)
        if line == "written\n":
            break
    else:
        fail(f"the store of {VERSION} ended: {''.join(said)}")
    yield
    p.communicate(timeout=30)
    same(p.returncode, 0, "the exit code of the store")


def theirs():
    database = FOLDER / "data/claude-mem.db"
    one = {
        "id": "0b5e2c1e-4f0a-4c55-9d0e-1f1f1f1f1f1f", "project": "shop", "at": 1767323045678, "prompts": [HARD[0], HARD[2]],
        "observations": [
            observation("Zwölf #1", HARD[1], subtitle="Short", facts=[HARD[0], "b"], concepts=["how-it-works", "日本"], files_read=["a b.md"]),
            observation("Bug", HARD[3], type="bugfix", files_modified=["x.go"]),
        ],
        "summary": {"request": HARD[0], "investigated": "", "learned": HARD[2], "completed": None, "next_steps": "Go on", "notes": None},
    }
    amber = Amber()
    with written(database, [one]):
        got = counts(amber.imports(database, format="claude-mem"))
        same(got, {"memories": (3, 0), "sessions": (1, 0), "turns": (2, 0)}, "what was imported")
        amber.knows(database)
    found = {m["title"]: m for m in amber.memories().values()}
    same(found["Zwölf #1"]["content"], f"{HARD[1]}\n\n- {HARD[0]}\n- b", "the text of an observation")
    same(sorted(found["Zwölf #1"]["tags"]), ["how-it-works", "日本"], "the concepts of an observation")
    same(found["Bug"]["created_at"], "2026-01-02T03:04:05.679Z", "the time of an observation")
    same([t["content"] for t in amber.dump()["turn"]], one["prompts"], "prompts")
    with written(database, [one | {"prompts": [], "summary": None, "observations": [observation("Third", "New", type="discovery")], "at": one["at"] + 5}]):
        same(counts(amber.imports(database), "memories"), {"memories": (1, 0)}, "what a new observation made")
    ok(f"{VERSION}: its store wrote 3 observations, a summary and 2 prompts; each was imported once, from the open database")


@contextmanager
def worker(data):
    """Runs the worker of the program on a folder."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = ENV | {
        "CLAUDE_MEM_DATA_DIR": str(data), "CLAUDE_MEM_WORKER_PORT": str(port), "CLAUDE_MEM_WORKER_HOST": "127.0.0.1", "CLAUDE_MEM_CHROMA_ENABLED": "false",
        "PATH": f"{Path(BUN).parent}:{ENV['PATH']}",
    }
    with open(FOLDER / "worker.log", "w") as log:
        p = subprocess.Popen([BUN, PACKAGE / "plugin/scripts/worker-service.cjs"], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                if ask(url + "/api/health")["initialized"]:
                    break
            except OSError:
                pass
            time.sleep(0.1)
            if p.poll() is not None:
                fail(f"the worker of {VERSION} ended: {(FOLDER / 'worker.log').read_text()[:1000]}")
        else:
            fail(f"the worker of {VERSION} did not start")
        yield url
    finally:
        p.terminate()
        p.wait(timeout=30)


def ask(url, body=None):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with DIRECT.open(request, timeout=30) as answer:
        return json.loads(answer.read())


def ours():
    amber = Amber("ours")
    session = "11111111-2222-4333-8444-555555555555"
    amber.run("session", "start", session, "--project", "shop")
    for text in HARD[:2]:
        amber.run("turn", "add", text, "--session", session)
    for i, text in enumerate(HARD):
        amber.remember(text, "--project", "shop", *(["--title", f"Title {i} #x [[y]]", "--tag", "a:b"] if i % 2 else ["--kind", "historical_case"]))
    summary = "## Request\n\nA question #1\n\n## Learned\n\n- [x] everything"
    amber.remember(summary, "--kind", "session_summary", "--session", session, "--project", "shop")
    files = sorted(amber.export("claude-mem", FOLDER / "export").glob("*.json"))
    data = FOLDER / "fresh"
    with worker(data) as url:
        stats = {}
        for file in files:
            for k, n in ask(url + "/api/import", file.read_bytes())["stats"].items():
                stats[k] = stats.get(k, 0) + n
        want = {"observationsImported": 4, "summariesImported": 1, "promptsImported": 2}
        same({k: stats[k] for k in want}, want, "what the worker imported")
        same([k for k, n in stats.items() if n and k.endswith("Skipped")], [], "what the worker passed over")
        found = ask(url + "/api/observations?limit=50")["items"]
        same(sorted(o["narrative"] for o in found), sorted(HARD), "observations that the worker lists")
        again = ask(url + "/api/import", files[0].read_bytes())["stats"]
        same([k for k, n in again.items() if n and k.endswith("Imported")], [], "what the worker imported a second time")
        got = amber.imports(data / "claude-mem.db", format="claude-mem")
    same(counts(got), {}, "what is new in the database that the worker made of an export")
    ok(f"/api/import took {stats['observationsImported']} memories, a summary and 2 prompts of Amber's own; its database had nothing new")


theirs()
ours()
