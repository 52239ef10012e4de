"""Sessions that the OpenAI Agents SDK wrote, imported. Usage: openai_agents.py AMBER FOLDER NAME"""

import asyncio

from oracle import FOLDER, HARD, Amber, counts, isolate, ok, same, version

isolate()

from agents import SQLiteSession

FILE = FOLDER / "sessions.db"
amber = Amber()


def said():
    return [(t["role"], t["content"]) for t in amber.dump()["turn"]]


async def main():
    one, two = SQLiteSession("user 1/ä", str(FILE)), SQLiteSession("two", str(FILE))
    await one.add_items([
        {"role": "user", "content": HARD[0]},
        {"role": "assistant", "type": "message", "id": "msg_1", "status": "completed", "content": [{"type": "output_text", "text": HARD[1], "annotations": []}]},
    ])
    await one.add_items([
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"path": "a #b.md"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"role": "user", "content": [{"type": "input_text", "text": HARD[2]}]},
    ])
    await two.add_items([{"role": "user", "content": HARD[3]}, {"role": "user", "content": HARD[3]}])
    got = amber.imports(FILE, "--project", "shop", format="openai-agents")
    same(counts(got, "sessions"), {"sessions": (2, 0)}, "sessions that were imported")
    turns = said()
    want = [("user", HARD[0]), ("assistant", HARD[1]), ("user", HARD[2]), ("user", HARD[3]), ("user", HARD[3])]
    same(sorted(t for t in turns if t[0] != "tool"), sorted(want), "turns that were imported")
    amber.knows(FILE, "--project", "shop")
    ok(f"{version('openai-agents')}: 2 open sessions with {len(turns)} turns were imported, and none a second time")

    await one.add_items([{"role": "assistant", "content": "And one more"}, {"role": "user", "content": HARD[0]}])
    got = amber.imports(FILE, "--project", "shop")
    same(counts(got, "turns", "memories", "notes"), {"turns": (2, 0)}, "what is new after two more items")
    same([t for t in said() if t not in turns], [("assistant", "And one more")], "the turns that are new")
    same(len(said()), len(turns) + 2, "turns")
    await one.pop_item()
    same(counts(amber.imports(FILE, "--project", "shop"), "turns", "memories", "notes"), {}, "what is new after the SDK took an item back")
    same(len(said()), len(turns) + 2, "turns after the SDK took one back")
    amber.knows(FILE, "--project", "shop")
    ok("two more items were the only new turns; one that the SDK took back is kept")
    one.close()
    two.close()


asyncio.run(main())
