"""basic-memory against Amber: its parser and its own index read an export, and its own notes are imported.

Usage: basic_memory_notes.py AMBER FOLDER NAME
"""

import asyncio
import json
import os
import random
import subprocess
import sys

from oracle import ENV, FOLDER, HARD, Amber, counts, fail, isolate, ok, same, version

isolate()

PROJECT = FOLDER / "project"
BM = ENV | {
    "BASIC_MEMORY_HOME": str(PROJECT), "BASIC_MEMORY_CONFIG_DIR": str(FOLDER / "bm"), "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
    "BASIC_MEMORY_AUTO_UPDATE": "false", "BASIC_MEMORY_LOG_LEVEL": "ERROR",
}
os.environ.update(BM)

from basic_memory.markdown.entity_parser import EntityParser

NOTE = "# Note\n\nOf a person.\n\n- [decision] Round once #billing (agreed)\n- part_of [[Shop]]\n"


def bm(*args, text=None):
    command = [sys.executable, "-c", "from basic_memory.cli.main import app; app()", *args]
    p = subprocess.run(command, env=BM, cwd=FOLDER, input=text, capture_output=True, text=True, timeout=300)
    if p.returncode != 0:
        fail(f"basic-memory {' '.join(args)}: exit {p.returncode}\n{p.stdout[-2000:]}{p.stderr[-2000:]}")
    return p.stdout


def answer(*args):
    out = bm(*args)
    return json.loads(out[out.index("{"):])


def remembered():
    """A home with texts that are easily misread, relations of every kind, and a note."""
    amber, graph = Amber("ours"), FOLDER / "graph.jsonl"
    names = ["Ada #x", 'Shop "Süd" [[y]]', "東京: x"]
    lines = [{"type": "entity", "name": n, "entityType": "thing", "observations": [f"About {n}", HARD[i]]} for i, n in enumerate(names)]
    lines += [{"type": "relation", "from": names[a], "to": names[b], "relationType": t} for a, t, b in ((0, "knows", 1), (1, "part-of", 2), (2, "größer_als", 0))]
    graph.write_text("\n".join(map(json.dumps, lines)))
    amber.imports(graph, "--project", "shop", "--as-own")
    for i, text in enumerate(HARD):
        amber.remember(text, "--project", "shop", *(["--title", f"Title: {i} #x [[y]]", "--tag", "a b", "--tag", "#c"] if i % 2 else []))
    amber.run("note", "write", "shop/note", NOTE)
    return amber


async def parse(folder):
    parser = EntityParser(folder)
    return {f.relative_to(folder).as_posix(): await parser.parse_file(f) for f in sorted(folder.rglob("*.md"))}


def ours():
    amber = remembered()
    files = asyncio.run(parse(amber.export("basic-memory", PROJECT)))
    memories, relations = amber.memories(), amber.relations()
    by_id = {f.frontmatter.metadata["amber_id"]: f for f in files.values() if "amber_id" in f.frontmatter.metadata}
    same(sorted(by_id), sorted(memories), "memories that have a file")
    for i, m in memories.items():
        f = by_id[i]
        same(f.observations, [], f"observations in the text {m['content']!r}")
        if m["title"]:
            same(f.frontmatter.title, m["title"], "the title of a memory")
        same(f.created.timestamp(), json_time(m["created_at"]), "the time of a memory")
    links = {f.frontmatter.permalink: m for i, m in memories.items() for f in [by_id[i]]}
    same(len(links), len(memories), "permalinks that are unique")
    got = sorted((memories[i]["title"], r.type, links[r.target]["title"]) for i, f in by_id.items() for r in f.relations)
    same(got, relations, "relations")
    note = files["notes/shop/note.md"]
    same(([o.content for o in note.observations], [(r.type, r.target) for r in note.relations]), (["Round once #billing"], [("part_of", "Shop")]), "what is in a note")
    ok(f"{version('basic-memory')} parsed {len(files)} files: {len(memories)} memories, {len(relations)} relations and 1 note, nothing invented")
    return amber, memories, relations


# What a text could be misread for.
PIECES = [
    "[", "]", "[[", "]]", "[[Other]]", "#", "#tag", "# Head", "## Relations", "\n## Relations\n", "[x] ", "[decision] ", "[ ] ", "\\", "\\[", "\\#", "\n", "\n\n", "\r\n",
    "\t", " ", "    ", "> ", "- ", "1. ", "* ", "```", "~~~", "`", "---\n", "===\n", "<div>", "<!--", "-->", "(a)", "](b.md)", "][", "]: x.md", "[a](b.md)", "[a](https://x.y)",
    "text", "é", "\u00a0", "\u2028", "@2026-01-01 ", "#bm:links_to", "|", "::", '"', "<http://a.b>", "_", "**", "a#b", "(#", "- related [[Other]]\n",
]


def misread():
    """Random texts: the parser finds nothing in any of them."""
    amber, chance = Amber("random"), random.Random(1)
    texts = {"x" + "".join(chance.choices(PIECES, k=chance.randint(1, 12))) for _ in range(400)}
    lines = "\n".join(json.dumps({"content": t, "scope": "global"}) for t in texts)
    amber.run("remember", "--jsonl", stdin=lines)
    files = asyncio.run(parse(amber.export("basic-memory", FOLDER / "random-files")))
    same(len(files), len(amber.memories()), "files")
    for f in files.values():
        if f.observations or f.relations:
            text = amber.memories()[f.frontmatter.metadata["amber_id"]]["content"]
            fail(f"the parser finds {f.observations} and {f.relations} in the text {text!r}, exported as {f.content!r}")
    amber.knows(FOLDER / "random-files", format="basic-memory")
    ok(f"it found no observation and no relation in {len(files)} texts made by chance, and all were known again")


def json_time(text):
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def indexed(amber, memories, relations):
    """The program's own index of the export, and a note that its own tool writes."""
    bm("reindex", "--project", "main", "--search")
    one = next(m for m in memories.values() if m["title"].startswith("東京"))
    found = answer("tool", "search-notes", "About", "--project", "main")
    titles = sorted(r["title"] for r in found["results"] if r["type"] == "entity")
    same(titles, sorted(m["title"] for m in memories.values() if m["content"].startswith("About")), "titles that its search finds")
    read = answer("tool", "read-note", one["title"], "--project", "main")
    same(read["title"], one["title"], "the note that it reads")
    amber.knows(PROJECT, format="basic-memory")
    ok("its index took the export; search and read-note found the memories, and the folder had nothing new")

    body = f"{HARD[0]}\n\n- [tech] Uses PostgreSQL #db (chosen)\n- [ ] a task\n- requires [[Second]]\n- requires [[{one['title']}]]\n"
    bm("tool", "write-note", "--title", "Written by bm ü", "--folder", "own", "--tags", "x,y", "--project", "main", text=body)
    bm("tool", "write-note", "--title", "Second", "--folder", "own", "--project", "main", text="No observation here.")
    # Files have no say in memories that did not come from them, so that the second link is told and not taken.
    skips = {"skips": ['relation "requires" has an end that did not come from files of this format']}
    got = counts(amber.imports(PROJECT, **skips))
    same(got, {"memories": (4, 0), "relations": (3, 0), "notes": (2, 0)}, "what two notes of its own brought")
    new = [m for i, m in amber.memories().items() if i not in memories]
    same([m["metadata"]["category"] for m in new if m["content"] == "Uses PostgreSQL #db"], ["tech"], "the category of an observation")
    same(("Written by bm ü", "requires", "Second") in amber.relations(), True, "a relation of its notes")
    amber.knows(PROJECT, **skips)
    ok("two notes of its own brought their observations and relations, once; a link to an exported memory is told")


misread()
indexed(*ours())
