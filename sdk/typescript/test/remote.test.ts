// Servers with tokens, here and elsewhere, and the errors they answer with.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { ConflictError, InvalidError, NotFoundError, RefusedError } from "../src/index.js";
import { client, command, folder, script, serve } from "./rig.js";

test("a served home with tokens: its user needs none, others do", async (t) => {
  const dir = folder(t);
  const home = path.join(dir, "home");
  const writer = (await command(t, "--home", home, "--quiet", "token", "create", "w", "--scope", "read,write")).trim();
  const reader = (await command(t, "--home", home, "--quiet", "token", "create", "r", "--scope", "read")).trim();
  const { url } = await serve(t, home);

  await client(t, { home }).remember("by the user");
  const remote = client(t, { url, token: writer });
  await remote.remember("by a token");
  assert.equal((await remote.memory.list().all()).length, 2);

  writeFileSync(path.join(dir, "token"), reader + "\n", { mode: 0o600 });
  const reading = client(t, { url, tokenFile: path.join(dir, "token") });
  assert.equal((await reading.memory.list().all()).length, 2);
  await assert.rejects(reading.remember("no"), (e) => e instanceof RefusedError && e.status === 403 && e.requestId !== undefined);
  await assert.rejects(client(t, { home, token: reader }).remember("no"), RefusedError);
  await assert.rejects(client(t, { url }).recall("x"), (e) => e instanceof RefusedError && e.status === 401);
  await assert.rejects(client(t, { url, token: "amber_k7q2m4xa_wrong" }).recall("x"), (e) => e instanceof RefusedError && !e.message.includes("k7q2m4xa_wrong"));

  const p = script(t, `
    const a = new amber.Amber();
    console.log((await a.memory.list().all()).length, await a.remember("of the environment").then((m) => m.content));
    await a.as({ agent: "other" }).remember("no").catch((e) => console.log(e.kind));`,
  { AMBER_REMOTE: url, AMBER_TOKEN_FILE: path.join(dir, "token2"), AMBER_AGENT: "default" });
  writeFileSync(path.join(dir, "token2"), writer, { mode: 0o600 });
  assert.equal(await p.ended, 0, p.errors);
  assert.equal(p.output, "2 of the environment\nnot_found\n");
});

test("errors by kind", async (t) => {
  const amber = client(t, { home: path.join(folder(t), "home") });
  const { id } = await amber.remember("a memory");
  await assert.rejects(amber.memory.get("no uuid"), (e) => e instanceof InvalidError && e.status === 400 && e.name === "InvalidError");
  await assert.rejects(amber.memory.get("019cebae-61e8-7b5a-b897-9786d680bdae"), (e) => e instanceof NotFoundError && e.status === 404);
  await assert.rejects(amber.memory.edit(id, { title: "t", if_match: "7" }), (e) => e instanceof ConflictError && e.status === 409);
  await assert.rejects(amber.queue.claim({ consumer_id: "c" }), (e) => e instanceof NotFoundError && e.reason === "queue_empty");
  await assert.rejects(amber.memory.get(""), InvalidError);
  await assert.rejects(amber.memory.get("../../../../agents"), InvalidError);
  await assert.rejects(amber.memory.get(".."), InvalidError);
  await assert.rejects(amber.as({ agent: "Bad Name" }).recall("x"), InvalidError);
  await assert.rejects(amber.remember("x", { scoop: "user" } as object), (e) => e instanceof InvalidError && /no argument "scoop"/.test(e.message));
  await assert.rejects(amber.remember("x", { created_at: new Date(Number.NaN) }), InvalidError);
});

test("options that make no sense", () => {
  const bad = (o: object, message: RegExp): void => assert.throws(() => client({ after: () => undefined } as never, o), message);
  bad({ url: "memory.example.org" }, /not the URL/);
  bad({ url: "ftp://memory.example.org" }, /not the URL/);
  bad({ url: "https://u:secret@memory.example.org" }, /more than scheme/);
  bad({ url: "http://memory.example.org", token: "t" }, /plain HTTP/);
  bad({ url: "https://memory.example.org", home: "/x" }, /two servers/);
  bad({ url: "https://memory.example.org", token: "a b" }, /characters/);
  bad({ url: "https://memory.example.org", tokenFile: "/does/not/exist" }, /no such file/);
  bad({ adress: "x" }, /no option "adress"/);
  bad({ user_id: "" }, /user_id is empty/);
  bad({ retryFor: -1 }, /retryFor/);
});

test("bytes and dates travel", async (t) => {
  const amber = client(t, { home: path.join(folder(t), "home") });
  const at = new Date("2024-05-06T07:08:09.123Z");
  const { id } = await amber.remember("dated", { created_at: at });
  assert.equal(new Date((await amber.memory.get(id)).created_at as string).getTime(), at.getTime());
  assert.equal((await amber.memory.list({ since: new Date(Date.now() + 60_000) }).all()).length, 0);
  await amber.session.start({ id: "s" });
  const document = Buffer.from('{ "a":  1 }');
  await amber.state.save("s", { exact: document });
  const state = await amber.state.get("s");
  assert.deepEqual(Buffer.from(state.exact as string, "base64"), document);
});

test("uploads and files", async (t) => {
  const dir = folder(t);
  const amber = client(t, { home: path.join(dir, "home") });
  await amber.remember("to be exported");
  const file = amber.export.download({ to: "jsonl" });
  const whole = await file.bytes();
  assert.match(Buffer.from(whole).toString(), /to be exported/);
  await file.save(path.join(dir, "out.jsonl"));
  const other = amber.as({ agent: "other" });
  const report = await other.import.upload({ path: path.join(dir, "out.jsonl") }, { from: "jsonl", as_own: true });
  assert.equal((await other.memory.list({ all: true }).all()).length, 1, JSON.stringify(report));
  const third = amber.as({ agent: "third" });
  await third.import.upload((async function* () {
    yield whole.subarray(0, 10);
    yield whole.subarray(10);
  })(), { from: "jsonl", as_own: true });
  assert.equal((await third.memory.list({ all: true }).all()).length, 1);
  const fourth = amber.as({ agent: "fourth" });
  await fourth.import.upload(new Blob([whole]).stream(), { from: "jsonl", as_own: true });
  assert.equal((await fourth.memory.list({ all: true }).all()).length, 1);
  await assert.rejects(amber.import.upload({ path: path.join(dir, "missing") }, { from: "jsonl" }), InvalidError);
  await assert.rejects(amber.import.upload((async function* () {
    yield whole;
    throw new Error("the source is broken");
  })(), { from: "jsonl" }), /the source is broken/);
});
