"""The reference memory server of MCP against Amber. Usage: mcp_memory.py AMBER FOLDER NAME PACKAGE"""

import json
import subprocess
import sys
from pathlib import Path

from oracle import ENV, FOLDER, HARD, Amber, counts, fail, isolate, ok, same

isolate()
PACKAGE = Path(sys.argv[4])
VERSION = "server-memory " + json.loads((PACKAGE / "package.json").read_text())["version"]


class Server:
    """The server on a file, spoken to over stdio."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            ["node", PACKAGE / "dist/index.js"], env=ENV | {"MEMORY_FILE_PATH": str(path)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.n = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "oracle", "version": "1"}}
        self.ask("initialize", hello)
        self.send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(timeout=30)

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.n += 1
        self.send({"id": self.n, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.n:
                if "error" in answer or answer["result"].get("isError"):
                    fail(f"the server answers {line}")
                return answer["result"]
        fail("the server has ended")

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return json.loads(result["content"][0]["text"]) if tool == "read_graph" else None

    def graph(self):
        return plain(self.call("read_graph"))


def plain(graph):
    """A graph in an order of its own, without the ids that Amber adds."""
    entities = {e["name"]: (e["entityType"], [o for o in e["observations"] if not o.startswith("amber:")]) for e in graph["entities"]}
    same(len(entities), len(graph["entities"]), "names of entities that are unique")
    return entities, sorted((r["from"], r["relationType"], r["to"]) for r in graph["relations"])


def theirs_and_back():
    file = FOLDER / "memory.jsonl"
    with Server(file) as s:
        s.call("create_entities", entities=[
            {"name": "Ada", "entityType": "person", "observations": HARD[:2]},
            {"name": "Laden \"Süd\" #1", "entityType": "project", "observations": []},
            {"name": "東京 [[x]]", "entityType": "odd type", "observations": HARD[2:]},
        ])
        s.call("create_relations", relations=[
            {"from": "Ada", "to": "Laden \"Süd\" #1", "relationType": "works_at"},
            {"from": "Ada", "to": "東京 [[x]]", "relationType": "lives_in"},
            {"from": "東京 [[x]]", "to": "Ada", "relationType": "knows"},
        ])
        s.call("add_observations", observations=[{"entityName": "Ada", "contents": ["Added later\nin two lines"]}])
        theirs = s.graph()

    amber = Amber()
    same(counts(amber.imports(file, "--project", "shop", format="mcp-memory")), {"memories": (3, 0), "relations": (3, 0)}, "what was imported")
    amber.knows(file, "--project", "shop")
    ok(f"{VERSION} wrote 3 entities and 3 relations; all were imported, and none a second time")

    back = amber.export("mcp-memory", FOLDER / "back.jsonl")
    with Server(back) as s:
        same(s.graph(), theirs, "the graph that the server reads in an export")
        s.call("create_entities", entities=[{"name": "New", "entityType": "thing", "observations": ["One new #observation"]}])
    ok("its own graph came back: entities, observations and relations are equal")
    same(counts(amber.imports(back, "--project", "shop", format="mcp-memory")), {"memories": (1, 0)}, "what is new after the server wrote the export")
    with Server(back) as s:
        s.call("add_observations", observations=[{"entityName": "Ada", "contents": ["Said at last"]}])
    same(counts(amber.imports(back, "--project", "shop")), {"memories": (0, 1)}, "what an observation changed")
    ok("an entity that the server added to the export was the only new memory, an observation one revision")


def ours():
    amber = Amber("ours")
    for i, text in enumerate(HARD):
        amber.remember(text, "--project", "shop", *(["--title", f"Title {i} #x [[y]]"] if i % 2 else []))
    amber.remember(HARD[1], "--title", "Title 1 #x [[y]]", "--project", "other")  # a name that is taken
    with Server(amber.export("mcp-memory", FOLDER / "ours.jsonl")) as s:
        entities, _ = s.graph()
        s.call("create_entities", entities=[])  # writes the file anew
    same(sorted(o for _, said in entities.values() for o in said), sorted([*HARD, HARD[1]]), "what the server reads of Amber's own memories")
    amber.knows(FOLDER / "ours.jsonl")
    ok(f"read_graph gave {len(entities)} memories of Amber's own; the file it wrote of them had nothing new")


theirs_and_back()
ours()
