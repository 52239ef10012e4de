"""mcp-memory-service against Amber: its storage, its exporter and its importer. Usage: memory_service.py AMBER FOLDER NAME"""

import asyncio
import logging
import os
import sqlite3
import sys

from oracle import FOLDER, HARD, Amber, counts, isolate, not_run, ok, same, version

isolate()
os.environ |= {"MCP_MEMORY_BASE_DIR": str(FOLDER / "base"), "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HOSTNAME": "oracle"}
logging.disable(logging.CRITICAL)

if not hasattr(sqlite3.Connection, "enable_load_extension"):  # as in some builds of Python; its storage needs it
    try:
        import pysqlite3
    except ImportError:
        not_run("this Python cannot load extensions of SQLite, and pysqlite3-binary is not installed")
        sys.exit(0)
    sys.modules["sqlite3"] = pysqlite3

from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.graph import GraphStorage
from mcp_memory_service.storage.mixins import embeddings
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.sync.exporter import MemoryExporter
from mcp_memory_service.sync.importer import MemoryImporter
from mcp_memory_service.utils.hashing import generate_content_hash


async def opened(path):
    """Its storage with its own stand-in for a model, which makes vectors of digests."""
    path.parent.mkdir(parents=True, exist_ok=True)

    async def stand_in(self):
        self.embedding_model = embeddings._HashEmbeddingModel(self.embedding_dimension)

    SqliteVecMemoryStorage._initialize_embedding_model = stand_in
    storage = SqliteVecMemoryStorage(str(path))
    await storage.initialize()
    return storage


async def theirs():
    file, amber = FOLDER / "theirs/sqlite_vec.db", Amber()
    storage = await opened(file)
    hashes = [generate_content_hash(t) for t in HARD]
    for i, text in enumerate(HARD):
        m = Memory(content=text, content_hash=hashes[i], tags=["a b", f"t{i}"], memory_type="decision" if i else "note", metadata={"n": i}, created_at=1767323045.678 + i)
        done, why = await storage.store(m, skip_semantic_dedup=True)
        same(done, True, f"that its storage takes a memory: {why}")
    await GraphStorage(str(file)).store_association(hashes[0], hashes[1], 0.5, ["semantic"], relationship_type="supports")
    got = amber.imports(file, "--project", "shop", format="mcp-memory-service")
    same(counts(got), {"memories": (4, 0), "relations": (1, 0)}, "what was imported")
    amber.knows(file, "--project", "shop")
    found = {m["content"]: m for m in amber.memories().values()}
    same(sorted(found), sorted(HARD), "texts")
    same((found[HARD[1]]["created_at"], found[HARD[1]]["tags"]), ("2026-01-02T03:04:06.678Z", ["a b", "t1"]), "time and tags")
    ok(f"{version('mcp-memory-service')}: 4 memories and an association of its open database were imported, and none a second time")

    await MemoryExporter(storage).export_to_json(FOLDER / "export.json")
    amber.knows(FOLDER / "export.json", "--project", "shop", format="mcp-memory-service")
    ok("its JSON export of them had nothing new")


async def ours():
    amber = Amber("ours")
    for i, text in enumerate(HARD):
        amber.remember(text, "--project", "shop", *(["--title", f"Title {i} #x", "--tag", "a b", "--meta", "n=1"] if i % 2 else []))
    file = amber.export("mcp-memory-service", FOLDER / "ours.json")
    storage = await opened(FOLDER / "fresh/sqlite_vec.db")
    stats = await MemoryImporter(storage).import_from_json([file])
    same({k: stats[k] for k in ("imported", "duplicates_skipped", "rejected", "errors")}, {"imported": 4, "duplicates_skipped": 0, "rejected": 0, "errors": 0}, "what its importer did")
    same(sorted(m.content for m in await storage.get_all_memories()), sorted(HARD), "texts in its storage")
    same((await MemoryImporter(storage).import_from_json([file]))["duplicates_skipped"], 4, "what its importer knows a second time")
    amber.knows(FOLDER / "fresh/sqlite_vec.db", format="mcp-memory-service")
    await MemoryExporter(storage).export_to_json(FOLDER / "back.json")
    amber.knows(FOLDER / "back.json", format="mcp-memory-service")
    ok("its importer took 4 memories of Amber's own; its database and its export of them had nothing new")


async def main():
    await theirs()
    await ours()


asyncio.run(main())
