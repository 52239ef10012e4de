"""What the checks of import.sh have in common: the program Amber, the texts they use, and how they tell."""

import json
import os
import subprocess
import sys
from pathlib import Path

AMBER, FOLDER, NAME = sys.argv[1], Path(sys.argv[2]), sys.argv[3]

# Nothing of the caller's: no home, no configuration, and no way out but to this machine.
ENV = {
    "PATH": os.environ["PATH"], "HOME": str(FOLDER / "home"), "XDG_CONFIG_HOME": str(FOLDER / "home/config"), "USER": "oracle",
    "HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "127.0.0.1,localhost",
    "LC_ALL": "C.UTF-8", "DO_NOT_TRACK": "1",
}

# What is easily lost or taken for something else: several lines, marks of Markdown and JSON, other scripts.
HARD = [
    'Likes #tea, not "coffee" \\ \'milk\'',
    "Line one\nline two\n\n- [decision] no observation #billing (no context)\n- knows [[Nobody]]",
    "Grüße aus とうきょう \U0001f41d, see [[x]] & <b>\u2028done",
    "# Not a title\n\n[x] done, [a](b.md), `code #1`",
]


def isolate():
    """Takes this process away from the home and the network of the caller."""
    for name in list(os.environ):
        if name.lower().endswith(("_proxy", "_api_key")) or name.startswith(("AMBER_", "MEM0_", "OPENAI_", "BASIC_MEMORY_", "CLAUDE_")):
            del os.environ[name]
    os.environ.update(ENV)
    (FOLDER / "home").mkdir(parents=True, exist_ok=True)


def ok(what):
    print(f"ok {NAME}: {what}", flush=True)


def not_run(what):
    print(f"not run {NAME}: {what}", flush=True)


def fail(what):
    print(f"FAILED {NAME}: {what}", flush=True)
    sys.exit(1)


def same(got, want, what):
    if got != want:
        fail(f"{what}:\n  got  {got!r}\n  want {want!r}")


class Amber:
    """A home of Amber."""

    def __init__(self, name="amber"):
        self.home = FOLDER / name

    def run(self, *args, stdin=None):
        p = subprocess.run([AMBER, "--home", self.home, *map(str, args)], env=ENV, cwd=FOLDER, input=stdin, capture_output=True, text=True, timeout=120)
        if p.returncode != 0:
            fail(f"amber {' '.join(map(str, args))}: exit {p.returncode}\n{p.stdout}{p.stderr}")
        return p.stdout

    def remember(self, text, *args):
        return json.loads(self.run("--json", "remember", text, *args))["id"]

    def imports(self, path, *args, format=None, skips=()):
        """Imports a path that must be known for what it is, without a complaint but for these, and returns the report of its one item."""
        report = json.loads(self.run("--json", "import", path, *args))
        item = report["items"][0]
        if format:
            same(item["format"], format, f"the format that {Path(path).name} was found to be")
        same([s["reason"] for s in item["skips"]], list(skips), f"what was skipped of {Path(path).name}")
        same(item["conflict_list"], [], f"conflicts of {Path(path).name}")
        return item

    def knows(self, path, *args, **more):
        """Imports a path that must have nothing new."""
        item = self.imports(path, *args, **more)
        same(counts(item), {}, f"what is new in {Path(path).name}")
        if item["read"] == 0:
            fail(f"{Path(path).name} was not read")
        return item

    def export(self, format, path, *args):
        self.run("export", "--to", format, "-o", path, *args)
        return path

    def dump(self, *args):
        """Everything, as Amber writes it: memories with all their versions, relations, sessions, turns, notes."""
        out = {"memory": [], "relation": [], "session": [], "turn": [], "note": []}
        for line in self.run("export", "--to", "amber", *args).split("\n")[1:]:
            if line:
                for kind, value in json.loads(line).items():
                    out[kind].append(value)
        return out

    def memories(self, *args):
        """The newest version of every memory by its id."""
        found = {}
        for m in self.dump(*args)["memory"]:
            if m["id"] not in found or found[m["id"]]["revision"] <= m["revision"]:
                found[m["id"]] = m
        return found

    def relations(self):
        """Relations as title, type and title."""
        d = self.dump()
        title = {m["id"]: m["title"] for m in d["memory"]}
        return sorted((title[r["from"]], r["type"], title[r["to"]]) for r in d["relation"])


def counts(item, *of):
    """What an import made, as {"memories": (new, changed)}; nothing where both are 0."""
    kinds = of or ("memories", "relations", "sessions", "turns", "notes")
    return {k: (item[k]["new"], item[k]["changed"]) for k in kinds if item[k]["new"] or item[k]["changed"]}


def version(package):
    from importlib.metadata import version

    return f"{package} {version(package)}"
