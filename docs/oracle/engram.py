"""What engram.sh checks with the real program. Usage: engram.py AMBER ENGRAM VERSION FOLDER"""

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

AMBER, ENGRAM, VERSION, FOLDER = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
REPO = FOLDER / "shop"
RELATES = tuple(map(int, VERSION.split("."))) >= (1, 20)

# Nothing of the caller's: no home, no configuration, and no way out.
ENV = {
    "PATH": os.environ["PATH"], "HOME": str(FOLDER / "home"), "XDG_CONFIG_HOME": str(FOLDER / "config"), "USER": "oracle",
    "HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1",
}
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ok(what):
    print(f"ok: engram {VERSION}: {what}", flush=True)


def same(got, want, what):
    if got != want:
        sys.exit(f"FAILED: engram {VERSION}: {what}: got {got!r}, want {want!r}")


def run(args, env, code=0):
    p = subprocess.run(args, env=env, cwd=REPO, capture_output=True, text=True, timeout=120)
    if p.returncode != code:
        sys.exit(f"FAILED: engram {VERSION}: {' '.join(map(str, args))}: exit {p.returncode}, want {code}\n{p.stdout}{p.stderr}")
    return p.stdout


def ask(url, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with DIRECT.open(request, timeout=30) as answer:
        raw = answer.read()
    return json.loads(raw) if raw else None


@contextmanager
def serving(args, env, ready):
    """Runs a server until the end of the block; ready returns its URL once it answers."""
    with open(FOLDER / "serve.log", "a+") as log:
        p = subprocess.Popen(args, env=env, cwd=REPO, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield ready(p)
        finally:
            p.terminate()
            p.wait(timeout=30)


class Engram:
    """One person with Engram, who has a database of their own."""

    def __init__(self, name):
        self.name = name
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.env = ENV | {"ENGRAM_DATA_DIR": str(FOLDER / name), "ENGRAM_PORT": str(self.port), "USER": name}
        self.url = f"http://127.0.0.1:{self.port}"

    def serving(self):
        def ready(p):
            for _ in range(200):
                try:
                    ask(self.url + "/health")
                    return self
                except OSError:
                    time.sleep(0.05)
                    if p.poll() is not None:
                        break
            sys.exit(f"FAILED: engram {VERSION}: serve did not start")

        return serving([ENGRAM, "serve"], self.env, ready)

    def post(self, path, **body):
        return ask(self.url + path, "POST", body)

    def observe(self, title, content, **more):
        return self.post("/observations", session_id="s1", type="decision", title=title, content=content, project="shop", scope="project", **more)["id"]

    def export(self):
        run([ENGRAM, "sync", "--project", "shop"], self.env)

    def imports(self):
        run([ENGRAM, "sync", "--import"], self.env)

    def rows(self):
        """Everything the database holds, read while the server runs."""
        d = ask(self.url + "/export")
        live = [o for o in d["observations"] or [] if not o.get("deleted_at")]
        return {
            "sessions": sorted(s["id"] for s in d["sessions"] or []),
            "observations": sorted(o["content"] for o in live),
            "prompts": sorted(p["content"] for p in d["prompts"] or []),
        }

    def relations(self):
        """Relations as source title, verdict and target title."""
        if not RELATES:
            return []
        got = ask(self.url + "/conflicts?limit=500")
        same(got["total"], len(got["relations"]), "relations that are listed")
        return sorted((r["source_title"], r["relation"], r["target_title"]) for r in got["relations"] if r["judgment_status"] != "orphaned")

    def relation(self, source, target):
        for r in ask(self.url + "/conflicts?limit=500")["relations"]:
            if (r["source_title"], r["target_title"]) == (source, target):
                return r
        sys.exit(f"FAILED: engram {VERSION}: no relation from {source!r} to {target!r}")


class Amber:
    """One person with Amber, who has a home of their own."""

    def __init__(self, name):
        self.env = ENV | {"AMBER_HOME": str(FOLDER / name), "USER": name}

    def __call__(self, *args, code=0):
        out = run([AMBER, "--json", *args], self.env, code)
        return json.loads(out) if out.strip() else None

    def imports(self, code=0):
        return self("sync", "import", "--format", "engram", code=code)

    def export(self):
        return self("sync", "export", "--format", "engram", "--project", "shop")

    def serving(self):
        def ready(p):
            for line in p.stdout:
                if line.startswith("http://"):
                    return line.strip() + "/v1/tenants/default/agents/default"
            sys.exit("FAILED: amber serve did not start")

        return serving([AMBER, "serve", "--listen", "127.0.0.1:0"], self.env, ready)

    def memories(self, api):
        found, cursor = {}, ""
        while True:
            page = ask(api + "/memories?all=true&limit=100" + (f"&cursor={cursor}" if cursor else ""))
            found |= {m["id"]: m for m in page["items"]}
            cursor = page.get("next")
            if not cursor:
                return found

    def relations(self):
        with self.serving() as api:
            memories = self.memories(api)
            title = {i: m["title"] or m["content"].split("\n")[0] for i, m in memories.items()}
            found = {r["id"]: r for i in memories for r in ask(f"{api}/memories/{i}/relations")["items"]}
        return sorted((title[r["from"]], r["type"], title[r["to"]]) for r in found.values())

    def contents(self):
        with self.serving() as api:
            return sorted(m["content"] for m in self.memories(api).values())


def later():
    """Engram tells what is new by the second."""
    time.sleep(1.1)


def rows_of_folder():
    """What the chunks of the folder hold, by kind."""
    count = {"sessions": 0, "observations": 0, "prompts": 0, "relations": 0}
    for entry in json.loads((REPO / ".engram/manifest.json").read_text())["chunks"]:
        chunk = json.loads(gzip.decompress((REPO / f".engram/chunks/{entry['id']}.jsonl.gz").read_bytes()))
        for kind in ("sessions", "observations", "prompts"):
            count[kind] += len(chunk[kind] or [])
        count["relations"] += sum(m["entity"] == "relation" for m in chunk.get("mutations") or [])
    return count


def main():
    for d in (REPO, FOLDER / "home"):
        d.mkdir(parents=True)
    alice, bob, carol, dora = Engram("alice"), Engram("bob"), Amber("carol"), Amber("dora")

    # 1. Engram writes: rows, relations nobody judged, a verdict, another verdict on it, rows behind each.
    with alice.serving():
        alice.post("/sessions", id="s1", project="shop", directory="/src/shop")
        alice.observe("Database of orders", "Orders are kept in PostgreSQL.", topic_key="architecture/orders-database")
        alice.observe("Database of orders, before", "Orders were kept in MySQL.")
        alice.observe("Database of stock", "Stock is kept in PostgreSQL, too. <naïve> & \u2028とうきょう \U0001f41d")
        alice.post("/prompts", session_id="s1", content="Which database do we use?", project="shop")
        if RELATES:
            alice.post("/conflicts/scan", project="shop", apply=True, max_insert=10)
        alice.export()
        for verdict in ("supersedes", "compatible"):
            later()
            if RELATES:
                pair = alice.relation("Database of orders", "Database of orders, before")
                alice.post("/conflicts/judge", judgment_id=pair["sync_id"], relation=verdict, reason="because", confidence=0.75)
            alice.observe(f"Behind {verdict}", f"This row is behind the verdict {verdict}.")
            alice.export()
        theirs, verdicts = alice.rows(), alice.relations()
    same(len(verdicts), 3 if RELATES else 0, "relations of Engram")

    # 2. Amber takes every row in, at once and without a complaint, and nothing the second time.
    written, got = rows_of_folder(), carol.imports()
    same(got["chunks_quarantined"], [], "rows that Amber did not take")
    same(
        {k: got[f"{k}_imported"] for k in ("sessions", "observations", "prompts", "relations")},
        written, "rows in the chunks and rows that Amber imported",
    )
    same(carol.contents(), theirs["observations"], "memories")
    same(carol.relations(), verdicts, "relations that Amber read")
    same(carol.imports()["chunks_imported"], 0, "chunks of a second import")
    summary = carol("sync", "status", "--format", "engram")["summary"]
    size = sum(f.stat().st_size for f in (REPO / ".engram/chunks").glob("*.gz"))
    same(
        [summary["bytes"], summary["memories"], summary["sessions"], summary["prompts"], summary["relations"]],
        [size, written["observations"], written["sessions"], written["prompts"], written["relations"]], "what the status says of the folder",
    )
    ok(f"Amber took in {written}")

    # 3. Amber writes: memories, a relation between them, one with a row of Engram's, one that Engram has no verdict for.
    one = carol("remember", "Orders expire after a year.", "--project", "shop", "--title", "Age of orders")["id"]
    two = carol("remember", "Orders expire after a month.", "--project", "shop", "--title", "Age of orders, before")["id"]
    carol("remember", "Mine alone.", "--scope", "user", "--user", "carol")
    with carol.serving() as api:
        title = {m["title"]: i for i, m in carol.memories(api).items()}
        relate = lambda a, b, t: ask(api + "/relations", "POST", {"from": a, "to": b, "type": t, "strength": 0.5})
        own = relate(one, two, "supersedes")
        relate(two, title["Database of stock"], "related")
        relate(title["Database of orders"], one, "blocks")
    out = carol.export()
    same([out["observations_exported"], out["relations_exported"], out["deletions_exported"], out.get("withheld")], [2, 3, 0, None], "what Amber exported")
    same(carol.export()["is_empty"], True, "a second export")

    # 4. Engram takes every row in: into a new database, and into the one it began with.
    expected = sorted(theirs["observations"] + ["Orders expire after a year.", "Orders expire after a month."])
    ours = [
        ("Age of orders", "supersedes", "Age of orders, before"), ("Age of orders, before", "related", "Database of stock"),
        ("Database of orders", "related", "Age of orders"),
    ]
    for who in (bob, alice):
        who.imports()
        with who.serving():
            rows = who.rows()
            same(rows["observations"], expected, f"observations of {who.name}")
            same(rows["prompts"], theirs["prompts"], f"prompts of {who.name}")
            same([s for s in theirs["sessions"] if s not in rows["sessions"]], [], f"sessions that {who.name} lacks")
            same(who.relations(), sorted(verdicts + ours) if RELATES else [], f"relations of {who.name}")
    ok(f"Engram took in {out['observations_exported']} memories and {len(ours) if RELATES else 0} relations of Amber")

    # 5. A verdict of Engram on a relation of Amber's comes back, and Amber takes one back in Engram.
    if RELATES:
        later()
        with bob.serving():
            bob.post("/conflicts/judge", judgment_id=own["id"], relation="conflicts_with", reason="no", confidence=1)
            bob.export()
        same(carol.imports()["chunks_quarantined"], [], "rows that Amber did not take")
        changed = ("Age of orders", "conflicts_with", "Age of orders, before")
        same(changed in carol.relations() and ours[0] not in carol.relations(), True, "a later verdict of Engram")
        with carol.serving() as api:
            ask(f"{api}/relations/{own['id']}", "DELETE")
        same(carol.export()["deletions_exported"], 1, "what Amber took back")
        bob.imports()
        with bob.serving():
            same(bob.relation(*changed[::2])["judgment_status"], "orphaned", "a relation that Amber took back")
        ok("verdicts go both ways")

    # 6. Another Amber that reads the whole folder knows what the first one knows.
    same(dora.imports()["chunks_quarantined"], [], "rows that a new Amber did not take")
    same(dora.relations(), carol.relations(), "relations of a new Amber")
    same(dora.contents(), [c for c in carol.contents() if c != "Mine alone."], "memories of a new Amber")
    same(dora.export()["is_empty"], True, "an export of a new Amber")
    same(dora("sync", "verify", "--format", "engram")["damaged"], [], "what is damaged")
    ok(f"the folder holds {rows_of_folder()}")

    remote()


def remote():
    """A repository with a remote: Engram calls it by the last element, and its rows meet ours under the name that Amber has."""
    global REPO
    REPO = FOLDER / "remote"
    REPO.mkdir()
    run(["git", "init", "-q", "."], ENV)
    run(["git", "remote", "add", "origin", "https://example.org/acme/shop.git"], ENV)
    erin, frank = Engram("erin"), Amber("frank")
    run([ENGRAM, "save", "Database of orders", "Orders are kept in PostgreSQL.", "--project", "shop"], erin.env)
    run([ENGRAM, "sync", "--project", "shop"], erin.env)
    frank("remember", "Orders of a day are counted at night.")
    project = frank("project")["id"]
    same(frank.imports()["chunks_quarantined"], [], "rows of a remote project that Amber did not take")
    with frank.serving() as api:
        same(sorted({m["project_id"] for m in frank.memories(api).values()}), [project], "projects of both sides in Amber")
    found = [m["content"] for m in frank("recall", "orders")["hits"]]
    same(len(found), 2, "what a recall in the folder finds of both sides")
    same(frank("sync", "export", "--format", "engram")["observations_exported"], 1, "what Amber exports of the project")
    run([ENGRAM, "sync", "--import"], erin.env)
    with erin.serving():
        same(len(erin.rows()["observations"]), 2, "observations of both sides in Engram")
        both = ask(erin.url + "/export")
        same({o["project"] for o in both["observations"]} | {s["project"] for s in both["sessions"]}, {"shop"}, "projects of both sides in Engram")
        found = ask(erin.url + "/observations/recent?project=shop&limit=10")
        same(len(found), 2, "what Engram lists of its project shop")
    # The rows of Engram are those it wrote, byte for byte; ours come back as they are.
    same(frank.imports()["chunks_imported"], 0, "chunks of reading our own again")
    same(frank("sync", "status", "--format", "engram")["conflicts"] or [], [], "conflicts")
    gina = Amber("gina")
    same(gina.imports()["chunks_quarantined"], [], "rows of a remote project that a new Amber did not take")
    same(gina.contents(), frank.contents(), "memories of a new Amber")
    same(gina("sync", "export", "--format", "engram")["is_empty"], True, "an export of a new Amber")
    ok(f"the rows of shop are those of {project}")


main()
