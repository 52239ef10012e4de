"""What vault.sh checks with the real Python client. Usage: vault.py STEP URL FOLDER"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from colony_memory import ColonyMemory, Ed25519Signer, QuotaExceeded, SnapshotNotFound
from colony_sdk import ColonyClient

STEP, URL, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])

PLAIN = {
    "MEMORY.md": "# Memory\nWe chose PostgreSQL for JSONB.\n",
    "notes/deploy.md": "Mondays and Thursdays\r\n\ttabs, \u2028 and \u0085\n",
    "日本語.txt": "とうきょう, naïve, \U0001f41d",
    "empty.md": "",
}
SEED = bytes(range(32))


def key(name="writer"):
    return (FOLDER / f"{name}.key").read_text().strip()


def memory(name="writer", **kw):
    return ColonyMemory(api_key=key(name), base_url=URL, **kw)


def client(name="writer"):
    return ColonyClient(key(name), base_url=URL)


def ok(what):
    print("ok:", what, flush=True)


def same(got, want, what):
    if got != want:
        raise SystemExit(f"FAILED: {what}:\n got  {got!r}\n want {want!r}")
    ok(what)


def raises(kind, call, what):
    try:
        got = call()
    except kind:
        ok(what)
        return
    raise SystemExit(f"FAILED: {what}: no {kind.__name__}, but {got!r}")


def amber(*args, code=0, stdin=None):
    """Runs amber vault as another machine would: with a home of its own. Returns its JSON."""
    command = [os.environ["AMBER"], "--home", str(FOLDER / "elsewhere"), "--json", "vault", *map(str, args)]
    command += ["--url", URL, "--api-key-file", str(FOLDER / "writer.key")]
    done = subprocess.run(command, capture_output=True, text=True, input=stdin)
    if done.returncode != code:
        raise SystemExit(f"FAILED: {command}: exit {done.returncode}, want {code}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes().decode() for p in folder.rglob("*") if p.is_file()}


def python():
    """The Python client alone: backup, list, restore, prune, signed."""
    mem = memory()
    raises(SnapshotNotFound, mem.restore, "nothing there: SnapshotNotFound")
    same(client().can_write_vault(), True, "the client may write")

    first = mem.backup({"MEMORY.md": "one"})
    second = mem.backup({"MEMORY.md": "two"})
    third = mem.backup(PLAIN)
    same(mem.restore(), PLAIN, "restore brings back the newest backup")
    same(mem.restore(snapshot_id=first.snapshot_id), {"MEMORY.md": "one"}, "restore of an older one")
    same(mem.latest().snapshot_id, third.snapshot_id, "latest names the newest")
    same([s.snapshot_id for s in mem.list_snapshots()], [third.snapshot_id, second.snapshot_id, first.snapshot_id],
         "list shows all, newest first")
    same(mem.prune(label="default", keep=1), 2, "prune removes two")
    same([s.snapshot_id for s in mem.list_snapshots()], [third.snapshot_id], "list shows the one that stayed")
    same(mem.restore(), PLAIN, "restore after prune")
    raises(SnapshotNotFound, lambda: mem.restore(snapshot_id=first.snapshot_id), "what was pruned is gone")
    same(mem.status()["file_count"], 3, "status counts three files")

    signer = Ed25519Signer(SEED)
    signed = memory(signer=signer)
    info = signed.backup(PLAIN, label="signed by python")
    same((info.signed, info.issuer), (True, signer.did_key), "a signed backup")
    same(signed.restore(label="signed by python", verify=True), PLAIN, "restore of a signed backup, verified")

    # More than a part holds, in characters that do not compress.
    large = {"large.txt": "".join(random.Random(8).choices("abcdefghijklmnopqrstuvwxyz0123456789\n", k=1_200_000))}
    info = mem.backup(large, label="large")
    same(info.part_count > 1, True, f"a backup in {info.part_count} parts")
    same(mem.restore(label="large"), large, "restore of several parts")

    too_large = {"x": "".join(random.Random(9).choices("0123456789abcdef", k=22_000_000))}
    raises(QuotaExceeded, lambda: mem.backup(too_large, label="huge"), "what does not fit is refused before the first write")


def other():
    """Another agent of the same home."""
    raises(SnapshotNotFound, memory("other").restore, "another agent sees nothing of it")
    raises(Exception, lambda: ColonyClient("anything", base_url=URL).vault_status(), "a key that is none is refused")


def restarted():
    """After kill -9 and a new start on the same port."""
    same(len(list((FOLDER / "tokens").iterdir())) > 0, True, "the client kept its token")
    same(memory().restore(), PLAIN, "what was acknowledged survives kill -9")


def both():
    """Each side reads what the other wrote."""
    signer = Ed25519Signer(SEED)
    (FOLDER / "seed").write_bytes(SEED)
    (FOLDER / "seed").chmod(0o600)

    out = FOLDER / "from-python"
    got = amber("restore", "--dir", out)
    same(files(out), PLAIN, "amber restores what Python wrote")
    same(got["checks"]["declared_fields"], True, "every declared field of it is right")

    out = FOLDER / "from-python-signed"
    got = amber("restore", "--label", "signed by python", "--dir", out, "--require-signed", "--trust", signer.did_key)
    same(files(out), PLAIN, "amber restores what Python signed")
    same((got["checks"]["signature"], got["issuer"]), ("verified", signer.did_key), "its signature is of the trusted key")
    amber("restore", "--label", "signed by python", "--dir", FOLDER / "no", "--require-signed", code=5)
    ok("amber refuses a key that it was not told to trust")

    out = FOLDER / "from-python-large"
    amber("restore", "--label", "large", "--dir", out)
    same(files(out), memory().restore(label="large"), "amber restores several parts")

    source = FOLDER / "source"
    for name, text in PLAIN.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(text.encode())
    made = amber("backup", "--dir", source, "--label", "plain by amber")
    same(memory().restore(label="plain by amber"), PLAIN, "Python restores what amber wrote")
    again = amber("backup", "--dir", source, "--label", "plain by amber")
    same((again["unchanged"], again["snapshot_id"]), (True, made["snapshot_id"]), "unchanged documents upload nothing")

    made = amber("backup", "--dir", source, "--label", "signed by amber", f"--sign={FOLDER / 'seed'}")
    same((made["signed"], made["issuer"]), (True, signer.did_key), "amber signs with Python's seed, as the same did:key")
    same(memory().restore(label="signed by amber", verify=True), PLAIN, "Python restores what amber signed, verified")
    info = memory().latest(label="signed by amber")
    same((info.snapshot_id, info.issuer), (made["snapshot_id"], signer.did_key), "Python's latest names it and its signer")
    same(len(memory().list_snapshots(label="signed by amber")), 1, "Python lists it")

    # Writing in turns: each goes on where the other was.
    memory().backup({"MEMORY.md": "python again"}, label="plain by amber")
    same(amber("latest", "--label", "plain by amber")["doc_names"], ["MEMORY.md"], "amber sees Python's newer backup")
    amber("backup", "--dir", source, "--label", "plain by amber", "--keep", 1)
    same(memory().restore(label="plain by amber"), PLAIN, "Python sees amber's newer backup, after a prune")
    same(len(memory().list_snapshots(label="plain by amber")), 2, "a backup spares what this home had never seen")
    amber("prune", "--label", "plain by amber", "--keep", 1, "--yes")
    same(len(memory().list_snapshots(label="plain by amber")), 1, "Python sees that amber pruned")

    # A signature that was taken away.
    manifest = next(f for f in names(client()) if f.startswith("cmem.signed-by-python.") and f.endswith(".manifest.json"))
    content = json.loads(client().vault_get_file(manifest)["content"])
    del content["signature"]
    client().vault_upload_file(manifest, json.dumps(content))
    same(memory().restore(label="signed by python", verify=True), PLAIN, "Python takes a snapshot whose signature was removed")
    amber("restore", "--label", "signed by python", "--dir", FOLDER / "no", "--require-signed", "--trust", signer.did_key, code=5)
    ok("amber refuses it where a signature is required")
    same((FOLDER / "no").exists(), False, "and writes nothing")

    absent = amber("restore", "--label", "never used", "--dir", FOLDER / "no", code=3)
    ok("absent is exit code 3")
    labels = {item["label"] for item in amber("list", "-n", 100)["items"]}
    same({"default", "signed-by-python", "plain-by-amber"} <= labels, True, "list shows the snapshots of every label")
    same(all(label in absent["error"]["hint"] for label in labels), True, "and absent names these labels")

    amber("backup", "-", "--label", "any texts", stdin=json.dumps(PLAIN))
    same(memory().restore(label="any texts"), PLAIN, "Python reads what amber backed up from JSON")
    same(amber("restore", "-", "--label", "any texts"), PLAIN, "amber prints it as JSON again")

    subject = amber("export-merge")
    same(subject, memory().to_progenly_export(memory().restore()), "export-merge is what Python makes for a merge")


def names(c):
    return [f["filename"] for f in c.vault_list_files()["items"]]


def away():
    """The server is stopped."""
    amber("restore", "--dir", FOLDER / "no", code=7)
    ok("unreachable is exit code 7, and not 3")


{"python": python, "other": other, "restarted": restarted, "amber": both, "away": away}[STEP]()
