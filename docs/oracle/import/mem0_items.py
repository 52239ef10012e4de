"""mem0 against Amber: its history, its items, and its own store. Usage: mem0_items.py AMBER FOLDER NAME"""

import json
import os
import uuid

from oracle import FOLDER, HARD, Amber, counts, isolate, ok, same, version

isolate()
os.environ |= {"MEM0_DIR": str(FOLDER / "mem0"), "MEM0_TELEMETRY": "False"}

from mem0 import Memory
from mem0.configs.base import MemoryItem
from mem0.memory.storage import SQLiteManager


def history():
    file, amber = FOLDER / "history.db", Amber()
    db = SQLiteManager(str(file))
    kept, gone, plain = (str(uuid.uuid4()) for _ in range(3))
    at = "2026-01-02T03:04:{:02d}.678000+00:00".format
    db.add_history(kept, None, HARD[0], "ADD", created_at=at(1))
    db.add_history(kept, HARD[0], HARD[1], "UPDATE", created_at=at(1), updated_at=at(2))
    db.add_history(gone, None, HARD[2], "ADD", created_at=at(3))
    db.add_history(gone, HARD[2], None, "DELETE", created_at=at(3), updated_at=at(4), is_deleted=1)
    db.add_history(plain, None, HARD[3], "ADD", created_at=at(5), actor_id="ada", role="user")
    args, gone = ("--user", "ada"), {"skips": ["the program deleted the row"]}
    same(counts(amber.imports(file, *args, format="mem0", **gone)), {"memories": (2, 0)}, "what was imported")
    amber.knows(file, *args, **gone)
    texts = [m["content"] for m in amber.dump("--all-users")["memory"]]
    same(sorted(texts), sorted([HARD[0], HARD[1], HARD[3]]), "versions of the memories that were not deleted")
    ok(f"{version('mem0ai')}: a history was imported with its revisions and its deletion")

    db.add_history(kept, HARD[1], "Changed again", "UPDATE", created_at=at(1), updated_at=at(9))
    same(counts(amber.imports(file, *args, **gone)), {"memories": (0, 1)}, "what an update changed")
    found = [m for m in amber.dump("--all-users")["memory"] if m["content"] in (HARD[0], HARD[1], "Changed again")]
    same([m["content"] for m in found], [HARD[0], HARD[1], "Changed again"], "revisions")
    same({m["created_at"] for m in found}, {"2026-01-02T03:04:01.678Z"}, "the time of its creation")
    db.close()
    ok("an update was one more revision")


def store():
    """A store of mem0 that needs no model: its own mock of an embedder, and vectors in memory."""
    from mem0.configs.base import MemoryConfig
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    class Embedder:
        """Counts letters. mem0 asks for no more than vectors."""

        def __init__(self, config=None):
            self.config = config

        def embed(self, text, memory_action=None):
            return [float(text.count(c)) + 0.1 for c in "abcdefgh"]

        def embed_batch(self, texts, memory_action=None):
            return [self.embed(t) for t in texts]

    class Model:
        """Is never asked."""

        def __init__(self, config=None):
            self.config = config

    EmbedderFactory.create = classmethod(lambda cls, *_, **__: Embedder())
    LlmFactory.create = classmethod(lambda cls, *_, **__: Model())
    config = {
        "vector_store": {"provider": "qdrant", "config": {"collection_name": "oracle", "path": str(FOLDER / "qdrant"), "embedding_model_dims": 8, "on_disk": False}},
        "history_db_path": str(FOLDER / "mem0-history.db"),
    }
    return Memory(MemoryConfig(**config))


def ours():
    amber = Amber("ours")
    for i, text in enumerate(HARD):
        more = ["--title", f"Title {i} #x", "--tag", "a b", "--meta", "n=1"] if i % 2 else ["--kind", "user_preference"]
        amber.remember(text, "--scope", "user", "--user", "ada", "--project", "shop", *more)
    items = json.loads(amber.export("mem0", FOLDER / "ours.json", "--user", "ada").read_text())
    for item in items:
        MemoryItem(**item)
    same(sorted(MemoryItem(**i).memory for i in items), sorted(HARD), "texts of the items")
    amber.knows(FOLDER / "ours.json", format="mem0")
    ok(f"{len(items)} memories of Amber's own are valid items of mem0")

    with store() as m:
        for item in items:
            m.add(item["memory"], user_id=item["user_id"], agent_id=item.get("agent_id"), metadata=item["metadata"], infer=False)
        back = m.get_all(filters={"user_id": "ada"}, top_k=100)
        same(sorted(r["memory"] for r in back["results"]), sorted(HARD), "what get_all gives back")
    file = FOLDER / "get_all.json"
    file.write_text(json.dumps(back))
    amber.knows(file, format="mem0")
    same(len(amber.memories("--all-users")), len(HARD), "memories")
    ok(f"mem0 took them with infer=False; its get_all had nothing new")

    fresh = Amber("fresh")
    same(counts(fresh.imports(file)), {"memories": (len(HARD), 0)}, "what a new home imports from get_all")
    got = {x["content"]: (x["kind"], x["title"], x["user_id"], x["metadata"].get("n")) for x in fresh.memories("--all-users").values()}
    same(got[HARD[0]], ("user_preference", "", "ada", None), "a memory that went through mem0")
    same(got[HARD[1]], ("workspace_fact", "Title 1 #x", "ada", "1"), "another memory that went through mem0")
    ok("a new home imported them from there with kinds, titles and metadata")


history()
ours()
