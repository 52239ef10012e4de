// The memory tool: the words that its models know, paths that lead elsewhere, and servers that are killed.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { framework, changes, killServer, killSoon, type Loose, numbers } from "./framework.js";
import { folder, fresh } from "../rig.js";
import { memoryHandlers, type MemoryHandlers } from "../../src/integrations/anthropic.js";

const dir = "Here're the files and directories up to 2 levels deep in ";
const rest = ", excluding hidden items and node_modules:\n";

/** Runs a command as the SDK does. */
async function does(h: MemoryHandlers, args: Loose): Promise<string> {
  return (h as Loose)[args.command](args);
}

test("the memory tool keeps its contract", async (t) => {
  const { amber } = fresh(t);
  const h = memoryHandlers(amber);
  // An error begins with "!".
  const steps: [object, string][] = [
    [{ command: "view", path: "/memories" }, dir + "/memories" + rest + "0B\t/memories"],
    [{ command: "create", path: "/memories/progress.md", file_text: "one\ntwo\nthree\nfour\nfive\n" }, "File created successfully at: /memories/progress.md"],
    [{ command: "create", path: "/memories/progress", file_text: "x" }, "!File /memories/progress already exists"],
    [{ command: "create", path: "/memories/deep/er/notes.txt", file_text: "hidden" }, "File created successfully at: /memories/deep/er/notes.txt"],
    [{ command: "create", path: "/memories/deep", file_text: "x" }, "!File /memories/deep already exists"],
    [{ command: "view", path: "/memories/" }, dir + "/memories" + rest + "30B\t/memories\n6B\t/memories/deep/\n6B\t/memories/deep/er/\n24B\t/memories/progress.md"],
    [{ command: "view", path: "/memories/deep" }, dir + "/memories/deep" + rest + "6B\t/memories/deep\n6B\t/memories/deep/er/\n6B\t/memories/deep/er/notes.txt"],
    [{ command: "view", path: "/memories/progress.md" }, "Here's the content of /memories/progress.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive\n     6\t"],
    [{ command: "view", path: "/memories/progress", view_range: [2, 3] }, "Here's the content of /memories/progress with line numbers:\n     2\ttwo\n     3\tthree"],
    [{ command: "view", path: "/memories/progress", view_range: [5, -1] }, "Here's the content of /memories/progress with line numbers:\n     5\tfive\n     6\t"],
    [{ command: "view", path: "/memories/none" }, "!The path /memories/none does not exist. Please provide a valid path."],
    [{ command: "str_replace", path: "/memories/progress.md", old_str: "three", new_str: "3" }, "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\ttwo\n     3\t3\n     4\tfour\n     5\tfive"],
    [{ command: "str_replace", path: "/memories/progress.md", old_str: "six", new_str: "6" }, "!No replacement was performed, old_str `six` did not appear verbatim in /memories/progress.md."],
    [{ command: "str_replace", path: "/memories/progress.md", old_str: "o", new_str: "0" }, "!No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2, 4. Please ensure it is unique"],
    [{ command: "str_replace", path: "/memories/deep", old_str: "o" }, "!The path /memories/deep is not a file."],
    [{ command: "insert", path: "/memories/progress.md", insert_line: 0, insert_text: "zero\n" }, "The file /memories/progress.md has been edited."],
    [{ command: "insert", path: "/memories/progress.md", insert_line: 6, insert_text: "six" }, "The file /memories/progress.md has been edited."],
    [{ command: "insert", path: "/memories/progress.md", insert_line: 9, insert_text: "x" }, "!Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 8]"],
    [{ command: "insert", path: "/memories/none.md", insert_line: 0, insert_text: "x" }, "!The path /memories/none.md does not exist. Please provide a valid path."],
    [{ command: "view", path: "/memories/progress.md" }, "Here's the content of /memories/progress.md with line numbers:\n     1\tzero\n     2\tone\n     3\ttwo\n     4\t3\n     5\tfour\n     6\tfive\n     7\tsix\n     8\t"],
    [{ command: "rename", old_path: "/memories/none", new_path: "/memories/x" }, "!The path /memories/none does not exist"],
    [{ command: "rename", old_path: "/memories/deep", new_path: "/memories/progress.md" }, "!The destination /memories/progress.md already exists"],
    [{ command: "rename", old_path: "/memories/deep", new_path: "/memories/deep/er/in" }, "!a folder cannot be moved into itself"],
    [{ command: "rename", old_path: "/memories/deep", new_path: "/memories/flat" }, "Successfully renamed /memories/deep to /memories/flat"],
    [{ command: "view", path: "/memories/flat/er/notes.txt" }, "Here's the content of /memories/flat/er/notes.txt with line numbers:\n     1\thidden"],
    [{ command: "delete", path: "/memories/deep" }, "!The path /memories/deep does not exist"],
    [{ command: "delete", path: "/memories/flat" }, "Successfully deleted /memories/flat"],
    [{ command: "delete", path: "/memories/progress" }, "Successfully deleted /memories/progress"],
    [{ command: "view", path: "/memories" }, dir + "/memories" + rest + "0B\t/memories"],
  ];
  for (const [args, want] of steps) {
    const got = await does(h, args).catch((e: Error) => `!${e.message}`);
    assert.equal(got, want, JSON.stringify(args));
  }
});

test("paths stay in the folder, and names that no note can have are refused", async (t) => {
  const { amber } = fresh(t);
  const h = memoryHandlers(amber);
  for (const path of [
    "", "/", "memories/x", "/memoriesx", "/etc/passwd", "/memories/../x", "/memories/a/../../x", "/memories//x", "/memories/./x", "/memories/.git/config",
    "/memories/git~1/x", "/memories/%2e%2e/x", "/memories/..\\x", "/memories/a\0b", "/memories/con", "/memories/a:b", "/memories/a\ud800", `/memories/${"a".repeat(300)}`, undefined, 7,
  ]) {
    for (const args of [
      { command: "view", path },
      { command: "create", path, file_text: "x" },
      { command: "delete", path },
      { command: "str_replace", path, old_str: "x" },
      { command: "insert", path, insert_line: 0, insert_text: "x" },
      { command: "rename", old_path: path, new_path: "/memories/x" },
      { command: "rename", old_path: "/memories/x", new_path: path },
    ]) {
      await assert.rejects(does(h, args), (e: Loose) => e.kind === "invalid" && e.message.length < 300, JSON.stringify(args));
    }
  }
  for (const [args, kind] of [
    [{ command: "delete", path: "/memories" }, "refused"],
    [{ command: "create", path: "/memories/x", file_text: " \n" }, "invalid"],
    [{ command: "create", path: "/memories/x", file_text: "a".repeat(2 << 20) }, "invalid"],
    [{ command: "create", path: "/memories/x" }, "invalid"],
    [{ command: "create", path: "/memories", file_text: "x" }, "conflict"],
  ] as const) {
    await assert.rejects(does(h, args), { kind }, JSON.stringify(args).slice(0, 100));
  }
  assert.deepEqual((await amber.note.list()).items, []);
  await does(h, { command: "create", path: "/memories/long", file_text: "a line of some length\n".repeat(4000) });
  const long = await does(h, { command: "view", path: "/memories/long" });
  assert.ok(Buffer.byteLength(long) < 40 << 10 && long.includes("[cut: call again with view_range ["));
  for (const view_range of [[1, 2, 3], [3, 2], [1.5, 2], [5000, -1], "1"]) {
    await assert.rejects(does(h, { command: "view", path: "/memories/long", view_range }), { kind: "invalid" }, String(view_range));
  }
});

test("a file and a folder of one name", async (t) => {
  const { amber } = fresh(t);
  const h = memoryHandlers(amber);
  const steps: [object, string][] = [
    [{ command: "create", path: "/memories/plan.md", file_text: "of all" }, "File created successfully at: /memories/plan.md"],
    [{ command: "create", path: "/memories/plan/today.md", file_text: "of today" }, "File created successfully at: /memories/plan/today.md"],
    [{ command: "create", path: "/memories/list/one.md", file_text: "one" }, "File created successfully at: /memories/list/one.md"],
    [{ command: "create", path: "/memories/list.md", file_text: "all" }, "File created successfully at: /memories/list.md"],
    [{ command: "create", path: "/memories/a.txt", file_text: "a" }, "File created successfully at: /memories/a.txt"],
    [{ command: "create", path: "/memories/a.txt/b.txt", file_text: "b" }, "!The path /memories/a.txt/b.txt is inside of a file"],
    [{ command: "rename", old_path: "/memories/plan", new_path: "/memories/list.md/plan" }, "!The path /memories/list.md/plan is inside of a file"],
    [{ command: "view", path: "/memories/list.md/plan" }, "!The path /memories/list.md/plan does not exist. Please provide a valid path."],
    [{ command: "view", path: "/memories/plan" }, dir + "/memories/plan" + rest + "8B\t/memories/plan\n8B\t/memories/plan/today.md"],
    [{ command: "view", path: "/memories/plan.md" }, "Here's the content of /memories/plan.md with line numbers:\n     1\tof all"],
    [{ command: "delete", path: "/memories/plan" }, "Successfully deleted /memories/plan"],
    [{ command: "rename", old_path: "/memories/list", new_path: "/memories/lists" }, "Successfully renamed /memories/list to /memories/lists"],
    [{ command: "view", path: "/memories" }, dir + "/memories" + rest + "13B\t/memories\n1B\t/memories/a.txt\n3B\t/memories/list.md\n3B\t/memories/lists/\n3B\t/memories/lists/one.md\n6B\t/memories/plan.md"],
  ];
  for (const [args, want] of steps) {
    assert.equal(await does(h, args).catch((e: Error) => `!${e.message}`), want, JSON.stringify(args));
  }
});

test("users with a folder each do not see each other's notes", async (t) => {
  const { amber } = fresh(t);
  const ada = memoryHandlers(amber, { folder: "users/ada" });
  const bob = memoryHandlers(amber, { folder: "users/bob" });
  const adam = memoryHandlers(amber, { folder: "users/ada b" });
  await ada.create({ command: "create", path: "/memories/plan.md", file_text: "buy a boat" });
  assert.equal(await ada.view({ command: "view", path: "/memories" }), dir + "/memories" + rest + "10B\t/memories\n10B\t/memories/plan.md");
  for (const other of [bob, adam]) {
    assert.equal(await other.view({ command: "view", path: "/memories" }), dir + "/memories" + rest + "0B\t/memories");
    await assert.rejects(other.view({ command: "view", path: "/memories/plan.md" }), { kind: "not_found" });
    await assert.rejects(other.view({ command: "view", path: "/memories/../ada/plan.md" }), { kind: "invalid" });
    await assert.rejects(other.delete({ command: "delete", path: "/memories/users/ada/plan.md" }), { kind: "not_found" });
  }
  await bob.create({ command: "create", path: "/memories/plan.md", file_text: "sell a boat" });
  await ada.rename({ command: "rename", old_path: "/memories/plan.md", new_path: "/memories/a/plan" });
  await ada.delete({ command: "delete", path: "/memories/a" });
  assert.deepEqual((await amber.note.list()).items.map((n) => n.name), ["users/bob/plan"]);
  for (const folder of ["", "..", "../x", "/x", "a/../b", ".git", "a:b"]) {
    assert.throws(() => memoryHandlers(amber, { folder }), { kind: "invalid" }, folder);
  }
  // Without a folder, notes are those of the agent, whoever the client is bound to.
  assert.match(await memoryHandlers(amber.as({ user_id: "eve" })).view({ command: "view", path: "/memories/users/bob/plan" }), /sell a boat/);
});

test("a server that is killed between and during commands loses nothing and doubles nothing", async (t) => {
  const { amber, home } = fresh(t);
  const h = memoryHandlers(amber);
  await h.create({ command: "create", path: "/memories/log", file_text: "begin\n" });
  for (let i = 1; i <= 12; i++) {
    if (i % 6 === 2) {
      killServer(home);
    }
    await Promise.all([h.insert({ command: "insert", path: "/memories/log", insert_line: i, insert_text: `line ${i}` }), i % 6 === 5 ? killSoon(home, 5) : undefined]);
  }
  const lines = ["begin", ...Array.from({ length: 12 }, (_, i) => `line ${i + 1}`)];
  assert.equal((await amber.note.get("log")).content, lines.join("\n") + "\n");
  assert.equal(await changes(amber, "log"), 13);
  killServer(home);
  await h.rename({ command: "rename", old_path: "/memories/log", new_path: "/memories/old/log" });
  killServer(home);
  await h.delete({ command: "delete", path: "/memories/old" });
  assert.deepEqual((await amber.note.list()).items, []);
});

test("commands at one moment do not lose each other's changes", async (t) => {
  const { amber } = fresh(t);
  const h = memoryHandlers(amber);
  await h.create({ command: "create", path: "/memories/list", file_text: "list\n" });
  await Promise.all(Array.from({ length: 8 }, (_, i) => h.insert({ command: "insert", path: "/memories/list", insert_line: 1, insert_text: `item ${i}` })));
  assert.equal((await amber.note.get("list")).content.split("\n").length, 10);
  const twice = await Promise.allSettled([1, 2].map((n) => h.create({ command: "create", path: "/memories/new", file_text: `text ${n}` })));
  assert.deepEqual(twice.map((r) => r.status), ["fulfilled", "rejected"]);
});

test("a change of somebody else in between is a conflict, and is kept", async (t) => {
  const { amber } = fresh(t);
  await amber.note.write("shared", { content: "mine\n" });
  const get = amber.note.get.bind(amber.note);
  amber.note.get = async (...args) => {
    const note = await get(...args);
    await amber.note.write("shared", { content: "theirs\n" });
    return note;
  };
  await assert.rejects(memoryHandlers(amber).insert({ command: "insert", path: "/memories/shared", insert_line: 0, insert_text: "x" }), { kind: "conflict" });
  assert.equal((await get("shared")).content, "theirs\n");
});

test("the tool runner of the Anthropic SDK", async (t) => {
  const sdk = await framework(t, "@anthropic-ai/sdk");
  if (sdk === undefined) {
    return;
  }
  const { betaMemoryTool } = await framework(t, "@anthropic-ai/sdk/helpers/beta/memory");
  const { amber } = fresh(t);
  const commands: object[] = [
    { command: "create", path: "/memories/ada.md", file_text: "likes tea\n" },
    { command: "create", path: "/memories/ada.md", file_text: "again" },
    { command: "view", path: "/memories/../secret" },
  ];
  const asked: Loose[] = [];
  const answer = (_: unknown, init: { body: string }): Response => {
    asked.push(JSON.parse(init.body));
    const input = commands[asked.length - 1];
    const content = input === undefined ? [{ type: "text", text: "done" }] : [{ type: "tool_use", id: `tool_${asked.length}`, name: "memory", input }];
    const message = { id: `m${asked.length}`, type: "message", role: "assistant", model: "stub", content, stop_reason: input === undefined ? "end_turn" : "tool_use", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    return new Response(JSON.stringify(message), { headers: { "content-type": "application/json" } });
  };
  const anthropic = new sdk.Anthropic({ apiKey: "none", fetch: async (url: unknown, init: { body: string }) => answer(url, init), maxRetries: 0 });
  const final = await anthropic.beta.messages.toolRunner({ model: "stub", max_tokens: 100, messages: [{ role: "user", content: "hello" }], tools: [betaMemoryTool(memoryHandlers(amber))] });
  assert.equal(final.content[0].text, "done");
  assert.equal(asked[0].tools[0].type, "memory_20250818");
  const results = asked.slice(1).map((a) => a.messages.at(-1).content[0]);
  assert.deepEqual(results.map((r) => [r.content, r.is_error === true]), [
    ["File created successfully at: /memories/ada.md", false],
    ["Error: File /memories/ada.md already exists", true],
    ["Error: Path /memories/../secret would escape /memories directory", true],
  ]);
  assert.equal((await amber.note.get("ada")).content, "likes tea\n");
});

/** Files and folders below one, folders with a slash. Folders without a file are removed first: notes have none. */
function tree(dir: string, above = ""): string[] {
  return readdirSync(dir).flatMap((name) => {
    const at = path.join(dir, name);
    if (!statSync(at).isDirectory()) {
      return [above + name];
    }
    const inside = tree(at, `${above}${name}/`);
    if (inside.length === 0) {
      rmdirSync(at);
    }
    return inside.length === 0 ? [] : [`${above}${name}/`, ...inside];
  });
}

test("several hundred random commands answer as the Anthropic SDK's own tool on files does", async (t) => {
  const sdk = await framework(t, "@anthropic-ai/sdk/tools/memory/node");
  if (sdk === undefined) {
    return;
  }
  const { amber } = fresh(t);
  const mine = memoryHandlers(amber, { folder: "users/ada" });
  const base = mkdtempSync(path.join(folder(t), "files-"));
  const theirs = await sdk.BetaLocalFilesystemMemoryTool.init(base);
  const inBase = path.join(base, "memories");
  const below = numbers(7);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const files = ["a.txt", "b.md", "Über uns.md", "dir/c.txt", "dir/c.md", "dir/sub/d.txt", "dir/sub/deep/e.md", "b/f.md", "z/node_modules/x.md", "dir.txt"].map((f) => `/memories/${f}`);
  const folders = ["/memories/dir", "/memories/dir/sub", "/memories/other", "/memories/dir/more", "/memories/z"];
  const hostile = ["/etc/passwd", "/memories/../x.txt", "/memories/dir/../../../etc/passwd", "memories/a.txt", "/memories/..", "/other/memories/a.txt", "/memories/a.txt/x.txt", "/memories", "", "/memories/none.txt"];
  const line = (): string => Array.from(new Set(Array.from({ length: below(4) }, () => `w${100 + below(60)}`))).join(" ");
  const text = (): string => `top ${below(1000)}\n${Array.from({ length: below(6) }, line).join("\n")}${one(["", "\n", "\n\n"])}`;
  const counts = new Map<string, number>();
  let failed = 0;
  for (let i = 0; i < 400; i++) {
    const there = tree(inBase).map((f) => `/memories/${f}`);
    const open = there.filter((f) => f.endsWith("/")).map((f) => f.slice(0, -1));
    const closed = there.filter((f) => !f.endsWith("/"));
    const any = (): string => {
      const kind = below(10);
      return kind < 5 && closed.length > 0 ? one(closed) : kind < 7 && open.length > 0 ? one(open) : kind < 9 ? one(files) : one(hostile);
    };
    const at = any();
    const content = closed.includes(at) ? readFileSync(path.join(inBase, at.slice("/memories/".length)), "utf8") : "";
    const lines = content.split("\n").length;
    const word = one([...content.split(/\s+/).filter((w) => w !== ""), "missing"]);
    const first = below(lines) + (below(5) === 0 ? 0 : 1);
    const command = one<Loose>([
      { command: "view", path: at },
      { command: "view", path: at, view_range: [first, one([-1, Math.max(1, first) + below(4)])] },
      { command: "view", path: "/memories" },
      { command: "create", path: one([...files, ...files, ...open, ...hostile]), file_text: text() },
      { command: "create", path: one(files), file_text: text() },
      { command: "str_replace", path: at, old_str: word, new_str: one([`new${i}`, `new${i}`, `two${i}\nlines`, `$&${i}`]) },
      { command: "insert", path: at, insert_line: below(lines + 3) - 1, insert_text: one([line(), `${line()}\n`, `x${i}\ny${i}`]) },
      { command: "delete", path: any() },
      { command: "rename", old_path: at, new_path: open.includes(at) ? one([...folders, ...open]) : one([...files, ...open, ...hostile]) },
    ]);
    const settled = async (h: Loose): Promise<{ ok: boolean; text: string }> =>
      does(h, command).then((text) => ({ ok: true, text }), (e: Error) => ({ ok: false, text: e.message }));
    const [a, b] = [await settled(mine), await settled(theirs)];
    const told = `command ${i} ${JSON.stringify(command)}: ${a.text} | ${b.text}`;
    assert.equal(a.ok, b.ok, told);
    counts.set(command.command, (counts.get(command.command) ?? 0) + 1);
    failed += a.ok ? 0 : 1;
    if (/^E[A-Z]+: /.test(b.text)) {
      // A message of the operating system.
    } else if (command.command === "str_replace" && a.ok) {
      // Of a text of several lines they show the first ones, and we all of them.
      assert.ok(a.text === b.text || (command.new_str.includes("\n") && a.text.startsWith(b.text)), told);
    } else {
      // The size of a folder is that of its notes, not that of its list on a disk.
      const plain = (s: string): string => s.replace(/^\S+(?=\t\S*\/$)/gm, "?").replace(/(node_modules:\n)\S+/, "$1?");
      assert.equal(plain(a.text), plain(b.text), told);
    }
  }
  const stored = (await amber.note.list()).items.map((n) => n.name.replace("users/ada/", "")).sort();
  const kept = tree(inBase).filter((f) => !f.endsWith("/"));
  assert.deepEqual(stored, kept.map((f) => f.replace(/\.md$/, "")).sort());
  for (const f of kept) {
    assert.equal((await amber.note.get(`users/ada/${f.replace(/\.md$/, "")}`)).content, readFileSync(path.join(inBase, f), "utf8"), f);
  }
  t.diagnostic(`${[...counts].map(([name, n]) => `${name} ${n}`).sort().join(", ")}; ${failed} failed in both; ${kept.length} files are the same`);
});
