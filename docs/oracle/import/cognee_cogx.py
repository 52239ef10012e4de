"""COGX between cognee and Amber. Usage: cognee_cogx.py AMBER FOLDER NAME"""

import asyncio
import contextlib
import os
import sys
from collections import Counter
from datetime import datetime, timezone

from oracle import FOLDER, HARD, Amber, counts, isolate, ok, same, version

isolate()
os.environ |= {
    "SYSTEM_ROOT_DIRECTORY": str(FOLDER / "cognee/system"), "DATA_ROOT_DIRECTORY": str(FOLDER / "cognee/data"), "COGNEE_LOGS_DIR": str(FOLDER / "cognee/logs"),
    "TELEMETRY_DISABLED": "1", "LOG_LEVEL": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MOCK_EMBEDDING": "true", "COGNEE_SKIP_CONNECTION_TEST": "true", "LLM_API_KEY": "none",  # no model is asked
}

import tiktoken


class Bytes:
    """Stands in for an encoding that tiktoken would fetch: a byte is a token."""

    def encode(self, text, **_):
        return list(text.encode())

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: Bytes()

import cognee
from cognee.modules.migration import cogx
from cognee.modules.migration.archive import pack_archive, unpack_archive
from cognee.modules.migration.export import _write_cogx
from cognee.modules.migration.sources.cogx_archive import COGXArchiveSource

AT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)


async def read(folder):
    return [r async for r in COGXArchiveSource(folder).records()]


def ours():
    amber = Amber("ours")
    for entity in ("A", "B", "C"):
        (FOLDER / "graph.jsonl").open("a").write('{"type":"entity","name":"%s #x","entityType":"t","observations":["about %s"]}\n' % (entity, entity))
    for a, t, b in (("A", "knows", "B"), ("B", "part_of", "C")):
        (FOLDER / "graph.jsonl").open("a").write('{"type":"relation","from":"%s #x","to":"%s #x","relationType":"%s"}\n' % (a, b, t))
    amber.imports(FOLDER / "graph.jsonl", "--project", "shop", "--as-own")
    for i, text in enumerate(HARD):
        amber.remember(text, "--project", "shop", *(["--title", f"Title {i} #x", "--tag", "a b", "--summary", "s"] if i % 2 else []))
    amber.run("session", "start", "s1", "--project", "shop", "--name", "Talk")
    for role, text in (("user", HARD[0]), ("assistant", HARD[1])):
        amber.run("turn", "add", text, "--session", "s1", "--role", role)
    amber.run("session", "end", "s1")
    note = f"# Note\n\n{HARD[1]}\n"
    amber.run("note", "write", "shop/note", note)

    folder = amber.export("cogx", FOLDER / "ours")
    records = asyncio.run(read(folder))
    kinds = Counter(r.kind for r in records)
    same(dict(kinds), {"memory": 7, "episode": 1, "entity": 3, "fact": 2, "document": 1}, "records that cognee reads, by kind")
    manifest = cogx.read_manifest(folder)
    same((manifest.source_system, manifest.counts), ("amber", dict(kinds)), "what the manifest says")
    same(sorted(r.content for r in records if r.kind == "memory"), sorted([*HARD, "about A", "about B", "about C"]), "texts of memories")
    same([(t.role, t.content) for r in records if r.kind == "episode" for t in r.turns], [("user", HARD[0]), ("assistant", HARD[1])], "turns")
    same([r.content for r in records if r.kind == "document"], [note], "notes")
    names = {r.external_id: r.name for r in records if r.kind == "entity"}
    same(
        sorted((names[r.subject_ref], r.predicate, names[r.object_ref]) for r in records if r.kind == "fact"),
        [("A #x", "knows", "B #x"), ("B #x", "part_of", "C #x")], "facts between entities",
    )
    with open(pack_archive(folder, FOLDER / "ours.cogx.tar.gz"), "rb") as packed:
        same(len(asyncio.run(read(unpack_archive(packed, FOLDER / "unpacked")))), len(records), "records of a packed archive")
    ok(f"{version('cognee')} read {sum(kinds.values())} records of Amber's own: {', '.join(f'{n} {k}' for k, n in sorted(kinds.items()))}")

    for path in (folder, FOLDER / "ours.cogx.tar.gz"):
        amber.knows(path, format="cogx")
    written = FOLDER / "again"
    with cogx.COGXArchiveWriter(written, source_system="amber") as w:
        for r in records:
            w.write(r)
    amber.knows(written, format="cogx")
    ok("an archive that cognee wrote of them had nothing new")


def theirs():
    """What cognee's own exporter makes of a graph, and what its writer makes of every kind of record."""
    amber, folder = Amber(), FOLDER / "graph"
    nodes = [
        ("e1", {"type": "Entity", "name": "Ada #1", "description": HARD[1], "created_at": 1767323045678}),
        ("e2", {"type": "Entity", "name": "東京", "description": HARD[2], "created_at": 1767323045678}),
        ("c1", {"type": "DocumentChunk", "text": HARD[3], "created_at": 1767323045678}),
        ("t1", {"type": "EntityType", "name": "person"}),
    ]
    edges = [("e1", "e2", "lives_in", {"edge_text": "Ada lives in 東京"}), ("c1", "e1", "contains", {}), ("e1", "t1", "is_a", {})]
    _write_cogx(nodes, edges, folder, "oracle")
    got = amber.imports(folder, "--project", "shop", format="cogx")
    same(got["memories"]["new"] >= 2 and got["notes"]["new"] == 1 and got["relations"]["new"] >= 1, True, f"what was imported: {counts(got)}")
    amber.knows(folder, "--project", "shop")
    texts = {m["content"] for m in amber.memories().values()}
    same([t for t in HARD[1:3] if t not in texts], [], "descriptions that are missing")
    ok(f"an archive of its exporter was imported, and nothing a second time: {told(got)}")

    folder = FOLDER / "kinds"
    head = lambda n: {"external_system": "zep", "external_id": f"x{n}", "created_at": AT, "scope": cogx.COGXScope(user_id="ada")}
    with cogx.COGXArchiveWriter(folder, source_system="zep") as w:
        w.write(cogx.COGXMemory(**head(1), content=HARD[0], categories=["a b"]))
        w.write(cogx.COGXMemoryBlock(**head(2), label="human", value=HARD[1], limit=5000))
        w.write(cogx.COGXDocument(**head(3), content=HARD[3], title="Doc #1 [[x]]"))
        w.write(cogx.COGXEpisode(**head(4), title="Talk", turns=[cogx.COGXTurn(role="user", content=HARD[2], occurred_at=AT), cogx.COGXTurn(role="assistant", content="Yes")]))
        w.write(cogx.COGXEntity(**head(5), name="Ada", description="A person", aliases=["A."]))
        w.write(cogx.COGXEntity(**head(6), name="Shop", description="A shop"))
        w.write(cogx.COGXFact(**head(7), subject_ref="x5", predicate="works_at", object_ref="Shop", fact_text="Ada works at the shop", valid_at=AT, confidence=0.5))
    kinds = Amber("kinds")
    got = kinds.imports(folder, "--user", "ada", format="cogx")
    same((got["sessions"]["new"], got["turns"]["new"], got["notes"]["new"]), (1, 2, 1), "sessions, turns and notes")
    texts = {m["content"] for m in kinds.memories("--all-users").values()}
    same([t for t in (HARD[0], HARD[1], "A person", "A shop", "Ada works at the shop") if t not in texts], [], "texts that are missing")
    kinds.knows(folder, "--user", "ada")
    ok(f"an archive of its writer with every kind of record was imported: {told(got)}")


def graph():
    """cognee loads the archive of ours() into its graph, and its exporter writes that graph."""

    async def there_and_back():
        loaded = await cognee.remember(COGXArchiveSource(FOLDER / "ours"), dataset_name="oracle")
        return loaded, await cognee.export(dataset="oracle", format="cogx", destination=FOLDER / "loaded")

    with contextlib.redirect_stdout(sys.stderr):  # it tells of its tables
        loaded, written = asyncio.run(there_and_back())
    same(loaded.status, "completed", "what cognee says of loading an archive")
    amber = Amber("graph-home")
    got = amber.imports(FOLDER / "loaded", "--project", "shop", format="cogx")
    names = ["A #x", "B #x", "C #x"]
    same([n for n in names if n not in {m["title"] for m in amber.memories().values()}], [], "entities that are missing")
    want = [("A #x", "knows", "B #x"), ("B #x", "part_of", "C #x")]
    same([r for r in want if r not in amber.relations()], [], "facts that are missing")
    amber.knows(FOLDER / "loaded", "--project", "shop")
    ok(f"cognee loaded the archive into a graph of {written.num_nodes} nodes and {written.num_edges} edges; its export of that was imported: {told(got)}")


def told(item):
    return ", ".join(f"{n} {k}" for k, (n, _) in counts(item).items())


ours()
theirs()
graph()
