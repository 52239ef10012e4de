// The memory tool: the words that its models know, paths that lead elsewhere, and servers that are killed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { framework, changes, killServer, type Loose } from "./framework.js";
import { fresh } from "../rig.js";
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
  // The steps of the same tool of the server: an error begins with "!".
  const steps: [object, string][] = [
    [{ command: "view", path: "/memories" }, dir + "/memories" + rest + "0B\t/memories"],
    [{ command: "create", path: "/memories/progress.md", file_text: "one\ntwo\nthree\nfour\nfive\n" }, "File created successfully at: /memories/progress.md"],
    [{ command: "create", path: "/memories/progress", file_text: "x" }, "!File /memories/progress already exists"],
    [{ command: "create", path: "/memories/deep/er/notes.txt", file_text: "hidden" }, "File created successfully at: /memories/deep/er/notes.txt"],
    [{ command: "create", path: "/memories/deep", file_text: "x" }, "!File /memories/deep already exists"],
    [{ command: "view", path: "/memories/" }, dir + "/memories" + rest + "30B\t/memories\n6B\t/memories/deep\n6B\t/memories/deep/er\n24B\t/memories/progress.md"],
    [{ command: "view", path: "/memories/deep" }, dir + "/memories/deep" + rest + "6B\t/memories/deep\n6B\t/memories/deep/er\n6B\t/memories/deep/er/notes.txt"],
    [{ command: "view", path: "/memories/progress.md" }, "Here's the content of /memories/progress.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive"],
    [{ command: "view", path: "/memories/progress", view_range: [2, 3] }, "Here's the content of /memories/progress with line numbers:\n     2\ttwo\n     3\tthree"],
    [{ command: "view", path: "/memories/progress", view_range: [5, -1] }, "Here's the content of /memories/progress with line numbers:\n     5\tfive"],
    [{ command: "view", path: "/memories/none" }, "!The path /memories/none does not exist. Please provide a valid path."],
    [{ command: "str_replace", path: "/memories/progress.md", old_str: "three", new_str: "3" }, "The memory file has been edited.\n     1\tone\n     2\ttwo\n     3\t3\n     4\tfour\n     5\tfive"],
    [{ command: "str_replace", path: "/memories/progress.md", old_str: "six", new_str: "6" }, "!No replacement was performed, old_str `six` did not appear verbatim in /memories/progress.md."],
    [{ command: "str_replace", path: "/memories/progress.md", old_str: "o", new_str: "0" }, "!No replacement was performed. Multiple occurrences of old_str `o` in lines: 1, 2, 4. Please ensure it is unique"],
    [{ command: "str_replace", path: "/memories/deep", old_str: "o" }, "!The path /memories/deep does not exist. Please provide a valid path."],
    [{ command: "insert", path: "/memories/progress.md", insert_line: 0, insert_text: "zero\n" }, "The file /memories/progress.md has been edited."],
    [{ command: "insert", path: "/memories/progress.md", insert_line: 6, insert_text: "six" }, "The file /memories/progress.md has been edited."],
    [{ command: "insert", path: "/memories/progress.md", insert_line: 9, insert_text: "x" }, "!Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 7]"],
    [{ command: "insert", path: "/memories/none.md", insert_line: 0, insert_text: "x" }, "!The path /memories/none.md does not exist"],
    [{ command: "view", path: "/memories/progress.md" }, "Here's the content of /memories/progress.md with line numbers:\n     1\tzero\n     2\tone\n     3\ttwo\n     4\t3\n     5\tfour\n     6\tfive\n     7\tsix"],
    [{ command: "rename", old_path: "/memories/none", new_path: "/memories/x" }, "!The path /memories/none does not exist"],
    [{ command: "rename", old_path: "/memories/deep", new_path: "/memories/progress.md" }, "!The destination /memories/progress.md already exists"],
    [{ command: "rename", old_path: "/memories/deep", new_path: "/memories/deep/er" }, "!a folder cannot be moved into itself"],
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
    [{ command: "create", path: "/memories", file_text: "x" }, "invalid"],
  ] as const) {
    await assert.rejects(does(h, args), { kind }, JSON.stringify(args).slice(0, 100));
  }
  assert.deepEqual((await amber.note.list()).items, []);
  await does(h, { command: "create", path: "/memories/long", file_text: "a line of some length\n".repeat(4000) });
  const long = await does(h, { command: "view", path: "/memories/long" });
  assert.ok(Buffer.byteLength(long) < 40 << 10 && long.includes("[cut: call again with view_range ["));
  for (const view_range of [[1, 2, 3], [0, 1], [3, 2], [1.5, 2], [5000, -1], "1"]) {
    await assert.rejects(does(h, { command: "view", path: "/memories/long", view_range }), { kind: "invalid" }, String(view_range));
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
    const going = h.insert({ command: "insert", path: "/memories/log", insert_line: i, insert_text: `line ${i}` });
    if (i % 6 === 5) {
      setTimeout(() => killServer(home), 5);
    }
    await going;
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
    ['Error: "../secret" is not a plain relative path', true],
  ]);
  assert.equal((await amber.note.get("ada")).content, "likes tea\n");
});
