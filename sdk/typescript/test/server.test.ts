// Private servers: started, shared, killed, replaced.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { Amber, UnreachableError, UntrustedError } from "../src/index.js";
import { privateServerPid } from "../src/place.js";
import { alive, binary, client, folder, fresh, run, script, serve, until, where } from "./rig.js";

test("a server is started with the first call, shared, and ends with the last client", async (t) => {
  const { amber, home } = fresh(t);
  assert.equal(existsSync(home), false);
  const { id } = await amber.remember("The harbour opens at six");
  const pid = privateServerPid(home) as number;
  assert.ok(alive(pid));
  assert.equal(where(home).private, true);
  const second = new Amber({ home });
  assert.equal((await second.memory.get(id)).content, "The harbour opens at six");
  assert.equal(privateServerPid(home), pid);
  await amber.close();
  assert.ok(alive(pid));
  assert.equal((await second.recall("when does the harbour open"))[0]?.id, id);
  await second.close();
  await second.close();
  assert.equal(alive(pid), false);
  await assert.rejects(second.recall("x"), { kind: "invalid" });
});

test("await using closes", async (t) => {
  const home = path.join(folder(t), "home");
  const p = script(t, `
    {
      const a = new amber.Amber({ home: ${JSON.stringify(home)} });
      await a.remember("x");
      await a[Symbol.asyncDispose]();
    }
    console.log("closed");`);
  await p.says("closed");
  assert.equal(existsSync(path.join(home, "serve.json")), false);
  assert.equal(await p.ended, 0);
});

test("a program that does not close ends by itself, and its server with it", async (t) => {
  const home = path.join(folder(t), "home");
  const p = script(t, `
    const a = new amber.Amber({ home: ${JSON.stringify(home)} });
    await a.remember("x");
    console.log("server " + privateServerPid(${JSON.stringify(home)}) + ".");`);
  await p.says(".");
  assert.equal(await p.ended, 0);
  assert.equal(p.errors, "");
  const pid = Number(/server (\d+)/.exec(p.output)?.[1]);
  await until("the server has ended", () => !alive(pid));
});

test("a killed program takes its server with it", async (t) => {
  const home = path.join(folder(t), "home");
  const p = script(t, `
    const a = new amber.Amber({ home: ${JSON.stringify(home)} });
    await a.remember("x");
    console.log("server " + privateServerPid(${JSON.stringify(home)}) + ".");
    setInterval(() => {}, 1000);`);
  await p.says(".");
  const pid = Number(/server (\d+)/.exec(p.output)?.[1]);
  assert.ok(alive(pid));
  await p.kill();
  await until("the server has ended", () => !alive(pid));
});

test("two programs share a server, and one goes on when that of the other is gone", async (t) => {
  const { amber, home } = fresh(t);
  const p = script(t, `
    const a = new amber.Amber({ home: ${JSON.stringify(home)} });
    await a.remember("of the first program");
    console.log("ready");
    setInterval(() => {}, 1000);`);
  await p.says("ready");
  await amber.remember("of the second program");
  assert.equal(privateServerPid(home), undefined);
  assert.equal((await amber.memory.list().all()).length, 2);
  await p.kill();
  await amber.remember("after the first program");
  // The server of a program that was killed may have answered that, and ends then.
  await until("a server of its own", async () => (await amber.memory.list().all()).length === 3 && privateServerPid(home) !== undefined);
  assert.equal((await amber.memory.list().all()).length, 3);
});

test("programs that start at one moment share a server", async (t) => {
  const home = path.join(folder(t), "home");
  const programs = [1, 2, 3].map((n) => script(t, `
    const a = new amber.Amber({ home: ${JSON.stringify(home)} });
    await a.remember("of program ${n}");
    console.log("ready");
    process.stdin.on("data", () => {}).on("end", async () => { await a.close(); process.exit(0); });`));
  await Promise.all(programs.map((p) => p.says("ready")));
  const amber = client(t, { home });
  assert.equal((await amber.memory.list().all()).length, 3);
  programs.forEach((p) => p.child.stdin?.end());
  assert.deepEqual(await Promise.all(programs.map((p) => p.ended)), [0, 0, 0]);
});

test("a server that is killed in the middle of 200 writes loses nothing and doubles nothing", async (t) => {
  const { amber, home } = fresh(t);
  await amber.session.start({ id: "s" });
  let done = 0;
  const killed: number[] = [];
  const kill = (): void => {
    const pid = privateServerPid(home);
    if (pid !== undefined && !killed.includes(pid)) {
      killed.push(pid);
      process.kill(pid, "SIGKILL");
    }
  };
  const count = <T>(answer: T): T => {
    if (++done === 40 || done === 130) {
      kill();
    }
    return answer;
  };
  const writes = Array.from({ length: 150 }, (_, i) => amber.remember(`fact number ${i}`).then(count));
  const turns = Array.from({ length: 50 }, (_, i) => amber.turn.append("s", { role: "user", content: `turn ${i}` }).then(count));
  const acknowledged = await Promise.all(writes);
  await Promise.all(turns);
  assert.equal(killed.length, 2);
  const memories = await amber.memory.list({ limit: 100 }).all();
  assert.deepEqual(new Set(memories.map((m) => m.id)), new Set(acknowledged.map((a) => a.id)));
  assert.equal(memories.length, 150);
  assert.deepEqual(memories.filter((m) => m.duplicate_count !== 0), []);
  const kept = (await amber.turn.page("s", { limit: 100 }).all()).map((turn) => turn.content);
  assert.deepEqual(kept.sort(), Array.from({ length: 50 }, (_, i) => `turn ${i}`).sort());
});

test("amber serve takes over in the middle", async (t) => {
  const { amber, home } = fresh(t);
  await amber.remember("before");
  let stop = false;
  let written = 0;
  const work = Promise.all(Array.from({ length: 8 }, async (_, worker) => {
    while (!stop) {
      await amber.remember(`of worker ${worker}, number ${written++}`);
    }
  }));
  await until("some were written", () => written > 20);
  const { url } = await serve(t, home);
  const before = written;
  await until("more were written", () => written > before + 20);
  stop = true;
  await work;
  assert.equal(where(home).private, undefined);
  assert.equal(where(home).url, url);
  assert.equal(privateServerPid(home), undefined);
  assert.equal((await amber.memory.list({ limit: 1000 }).all()).length, written + 1);
});

test("what belongs to somebody else is not trusted", async (t) => {
  const home = folder(t);
  const amber = client(t, { home, startServer: false, retryFor: 0 });
  await assert.rejects(amber.recall("x"), UnreachableError);
  const put = (socket: string): void => writeFileSync(path.join(home, "serve.json"), JSON.stringify({ url: "unix://" + socket, page: "", secret: "s", socket, private: true }), { mode: 0o600 });
  put(path.join(home, "none.sock"));
  await assert.rejects(amber.recall("x"), UnreachableError);
  chmodSync(path.join(home, "serve.json"), 0o644);
  await assert.rejects(amber.recall("x"), UntrustedError);
  chmodSync(path.join(home, "serve.json"), 0o600);
  mkdirSync(path.join(home, "open"), { mode: 0o755 });
  writeFileSync(path.join(home, "open", "x.sock"), "");
  put(path.join(home, "open", "x.sock"));
  await assert.rejects(amber.recall("x"), UntrustedError);
  const listener = run(t, process.execPath, ["-e", `require("net").createServer().listen(${JSON.stringify(path.join(home, "open", "y.sock"))}, () => console.log("listens"))`]);
  await listener.says("listens");
  put(path.join(home, "open", "y.sock"));
  await assert.rejects(amber.recall("x"), UntrustedError);
});

test("a server that cannot be started says why", async (t) => {
  const dir = folder(t);
  await assert.rejects(client(t, { home: path.join(dir, "a"), binary: path.join(dir, "nothing") }).recall("x"), (e) => {
    assert.ok(e instanceof UnreachableError);
    assert.match(e.message, /cannot start .*nothing/);
    assert.match(e.hint ?? "", /AMBER_BINARY/);
    return true;
  });
  writeFileSync(path.join(dir, "file"), "");
  await assert.rejects(client(t, { home: path.join(dir, "file"), binary }).recall("x"), (e) => {
    assert.match((e as Error).message, /file/);
    return true;
  });
  writeFileSync(path.join(dir, "false"), "#!/bin/sh\necho it is broken >&2\nexit 3\n", { mode: 0o755 });
  await assert.rejects(client(t, { home: path.join(dir, "b"), binary: path.join(dir, "false") }).recall("x"), /exit code 3: it is broken/);
});
