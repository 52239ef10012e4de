"""A store that LangGraph wrote, imported. Usage: langgraph_store.py AMBER FOLDER NAME"""

from oracle import FOLDER, HARD, Amber, counts, isolate, ok, same, version

isolate()

from langgraph.store.sqlite import SqliteStore

FILE = FOLDER / "store.db"
amber = Amber()


def texts():
    return sorted(m["content"] for m in amber.memories("--all-users").values())


with SqliteStore.from_conn_string(str(FILE)) as store:
    store.setup()
    for i, text in enumerate(HARD):
        store.put(("memories", "ada"), f"key {i}", {"content": text, "n": i})
    store.put(("langmem", "ada"), "langmem", {"kind": "Memory", "content": {"content": "Kept by LangMem"}})
    store.put(("facts",), "object", {"city": "とうきょう", "list": [1, {"a": None}]})
    store.put(("facts",), "gone", {"content": "Deleted before it was imported"})
    store.delete(("facts",), "gone")
    # The store is open, and what was written last is in its log.
    same(counts(amber.imports(FILE, "--project", "shop", format="langgraph")), {"memories": (6, 0)}, "what was imported")
    same([t for t in [*HARD, "Kept by LangMem"] if t not in texts()], [], "texts that are missing")
    amber.knows(FILE, "--project", "shop")
    ok(f"{version('langgraph-checkpoint-sqlite')}: 6 items of an open store were imported, and none a second time")

    store.put(("memories", "ada"), "key 0", {"content": "Likes water now", "n": 0})
    store.put(("memories", "ada"), "new", {"content": "One more"})
    store.delete(("memories", "ada"), "key 1")
    same(counts(amber.imports(FILE, "--project", "shop")), {"memories": (1, 1)}, "what a put, an update and a delete changed")
versions = [m["content"] for m in amber.dump("--all-users")["memory"] if m["content"] in (HARD[0], "Likes water now")]
same(versions, [HARD[0], "Likes water now"], "revisions of the item that was updated")
same(HARD[1] in texts(), True, "that an item which is gone from the store is kept")
amber.knows(FILE, "--project", "shop")
ok("an update was one revision, a new item one memory; a deleted one is kept")
