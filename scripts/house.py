#!/usr/bin/env python3
"""Counts what the house is made of: lines of code, widest types, values in contexts, and hard English in comments.

A line of code is neither empty nor a comment. Product is what Amber is made of, support is doubles, suites and tools, tests
are *_test.go; testdata is not read.

    python3 scripts/house.py                    everything, of the tree of git
    python3 scripts/house.py --all              every package, not only the largest
    python3 scripts/house.py --english snapshot each sentence that is counted, below a folder
"""
import argparse
import collections
import pathlib
import re
import signal
import subprocess

# Packages that no program of a user runs.
SUPPORT = re.compile(r"^(tools/|store/inmem|.*test/)")

# Constructions that a reader has to decode. Each is counted in the comments of a file, joined to one text.
ENGLISH = {
    "nobody, somebody, whoever": re.compile(r"\b([Nn]obody|[Ss]omebody|[Ww]hoever)\b"),
    "a clause as subject": re.compile(r"(?:^|[.:] )(What|Who|One that) (?!is the\b)[a-z]"),
    "tells or told what, of, whether": re.compile(r"\b(tells?|told) (what|whether|who|of)\b"),
}
# Constructions that are shown and not part of the totals of acceptance.
ALSO = {
    "Of X, ...": re.compile(r"(?:^|[.:] )Of (?:the |a |an |those |these |two |all |each )?[a-z]"),
    "it is looked, tried, told": re.compile(r"\b[Ii]t is (?:looked|tried|told|asked|waited)\b"),
    "stands for, comes with": re.compile(r"\b(?:stands? for|comes? with)\b"),
}
BLOCK = re.compile(r"/\*.*?\*/", re.S)
COMMENT = re.compile(r"^\s*// ?(.*)$", re.M)
SENTENCE = re.compile(r"[.!?](?: |$)")
METHOD = re.compile(r"^func \(\w* ?\*?(\w+)", re.M)
VALUE = "context.WithValue("


class File:
    """A Go file: its room, what it is for, and what is counted of it."""

    def __init__(self, name):
        self.name = name
        self.package = name.rpartition("/")[0] or "."
        self.text = pathlib.Path(name).read_text(encoding="utf-8", errors="replace")
        self.kind = "tests" if name.endswith("_test.go") else "support" if SUPPORT.match(name) else "product"
        lines = (line.strip() for line in BLOCK.sub("", self.text).split("\n"))
        self.code = sum(1 for line in lines if line and not line.startswith("//"))

    @property
    def room(self):
        """The folder at the top, two of cmd/amber/internal and internal."""
        parts = self.package.split("/")
        if self.package.startswith("cmd/amber/internal/"):
            return "/".join(parts[:4])
        return "/".join(parts[:2]) if parts[0] in ("internal", "cmd") else parts[0]

    @property
    def comments(self):
        return " ".join(COMMENT.findall(self.text))


def files():
    listed = subprocess.run(["git", "ls-files", "*.go"], capture_output=True, text=True, check=True).stdout.split()
    return [File(name) for name in listed if "/testdata/" not in name]


def table(title, rows, head):
    print(f"\n{title}")
    print("  ".join(f"{h:>9}" if i else f"{h:42}" for i, h in enumerate(head)))
    for row in rows:
        print("  ".join(f"{cell:>9}" if i else f"{cell:42}" for i, cell in enumerate(row)))


def sizes(tree, show):
    """Prints lines of code by kind, by room and by package."""
    kinds = collections.Counter()
    rooms = collections.defaultdict(collections.Counter)
    packages = collections.Counter()
    for f in tree:
        kinds[f.kind] += f.code
        rooms[f.room][f.kind] += f.code
        if f.kind == "product":
            packages[f.package] += f.code
    print("product", kinds["product"], "support", kinds["support"], "tests", kinds["tests"])
    print("root", packages["."], "main", packages["cmd/amber"], "all of cmd", sum(n for p, n in packages.items() if p.startswith("cmd/")))
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    folders = {name.split("/")[0] for name in listed if "/" in name}
    print("at the top: folders", sum(not name.startswith(".") for name in folders), "Go files", sum(f.package == "." for f in tree))
    by_size = sorted(rooms.items(), key=lambda room: -room[1]["product"])
    table("lines by room", [(r, c["product"], c["support"], c["tests"]) for r, c in by_size[:show]], ("room", "product", "support", "tests"))
    table("largest packages", packages.most_common(show), ("package", "lines"))


def types(tree, show):
    widest = collections.Counter()
    for f in tree:
        if f.kind == "product":
            for name in METHOD.findall(f.text):
                widest[f.package + "." + name] += 1
    table("widest types", widest.most_common(min(show, 20)), ("type", "methods"))


def values(tree):
    """Prints what travels in contexts: the key, the value, and what the comment about the key says."""
    found = []
    for f in tree:
        if f.kind == "product":
            at = [m.end() for m in re.finditer(re.escape(VALUE), f.text)]
            found += [(f, *arguments(f.text[i:])[1:3]) for i in at]
    lines = sum(line.count(VALUE) > 0 for f in tree if f.kind == "product" for line in f.text.split("\n"))
    print(f"\nvalues in contexts: {len(found)} in {lines} lines")
    for f, key, value in found:
        print(f"  {f.name}: {value.split('{')[0]} under {key}: {purpose(tree, f.package, key.removesuffix('{}'))}")


def arguments(text):
    """The arguments of a call whose opening bracket is just before the text."""
    out, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif depth == 0 and c in ",)":
            out.append(text[begin:i].strip())
            begin = i + 1
            if c == ")":
                break
        elif c in ")]}":
            depth -= 1
    return out


def purpose(tree, package, key):
    """The first comment about a type of keys, or about the function that puts a value under it."""
    where = [f.text for f in tree if f.package == package and f.kind == "product"]
    for pattern in (r"((?:^// .*\n)+)^type " + key + r"\b", r"^\s*" + key + r"\s+struct\{\}\s*// (.*)", r"^type " + key + r" struct\{\}\s*// (.*)",
                    r"((?:^// .*\n)+)^func [^\n]*\{(?:\n(?:\t[^\n]*)?)*?[^\n]*WithValue\([^\n]*\b" + key + r"\b"):
        for text in where:
            m = re.search(pattern, text, re.M)
            if m:
                comment = " ".join(line.removeprefix("//").strip() for line in m.group(1).strip().split("\n"))
                return re.split(r"\. |\.$", comment)[0]
    return "without a comment"


def english(tree, show):
    """Prints constructions for 1 000 sentences of comments, in the whole and by package."""
    total = collections.Counter()
    packages = collections.defaultdict(collections.Counter)
    for f in tree:
        if f.kind != "product":
            continue
        text = f.comments
        count = collections.Counter({name: len(p.findall(text)) for name, p in (ENGLISH | ALSO).items()})
        count["sentences"] = len(SENTENCE.findall(text))
        total += count
        packages[f.package] += count
    print(f"\nof 1 000 sentences in comments ({total['sentences']} in all)")
    for name in ENGLISH | ALSO:
        print(f"{rate(total, name):9.1f}  {name}{'' if name in ENGLISH else ' (not counted by acceptance)'}")
    worst = sorted(packages.items(), key=lambda p: -sum(p[1][name] for name in ENGLISH))
    rows = [(p, c["sentences"], *(f"{rate(c, name):.1f}" for name in ENGLISH)) for p, c in worst[:show] if any(c[name] for name in ENGLISH)]
    table("the same by package, those with most first", rows, ("package", "sentences", "nobody", "clause", "told"))


def rate(count, name):
    return 1000 * count[name] / max(count["sentences"], 1)


def sentences(tree, folder):
    """Prints each sentence in which a construction is."""
    for f in tree:
        if f.kind != "product" or not (f.package + "/").startswith(folder.rstrip("/") + "/"):
            continue
        for sentence in re.split(r"(?<=[.!?]) ", f.comments):
            met = [name for name, p in (ENGLISH | ALSO).items() if p.search(sentence)]
            if met:
                print(f"{f.name}: {sentence}  [{'; '.join(met)}]")


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader such as head may stop early
    parser = argparse.ArgumentParser(description="count the lines, types, contexts and English of Amber's Go code")
    parser.add_argument("--all", action="store_true", help="print every room and package")
    parser.add_argument("--english", metavar="FOLDER", help="print each sentence below a folder that has a construction")
    o = parser.parse_args()
    tree = files()
    if o.english:
        sentences(tree, o.english)
        return
    show = 10_000 if o.all else 25
    sizes(tree, show)
    types(tree, show)
    values(tree)
    english(tree, show)


if __name__ == "__main__":
    main()
