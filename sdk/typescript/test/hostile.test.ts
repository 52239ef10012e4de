// Servers that are slow, wrong or want to do harm, and what is sent again.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { AmberError, BusyError, ConflictError, DamagedError, InternalError, RefusedError, UnreachableError } from "../src/index.js";
import { client, fake } from "./rig.js";

const json = { "Content-Type": "application/json" };
const token = "amber_abcdefgh_verysecret";
const id = "019cebae-61e8-7b5a-b897-9786d680bdae";

test("answers that are no answers", async (t) => {
  const answers: [number, Record<string, string>, string, (e: unknown) => boolean][] = [
    [200, json, "{", (e) => e instanceof DamagedError],
    [200, json, '{"id": "\xff', (e) => e instanceof DamagedError],
    [200, json, "null", (e) => e instanceof DamagedError],
    [200, json, "[]", (e) => e instanceof DamagedError],
    [200, json, '"text"', (e) => e instanceof DamagedError],
    [200, { "Content-Type": "text/html" }, "<h1>Welcome</h1>", (e) => e instanceof UnreachableError && /status 200 .*Welcome/.test(e.message)],
    [404, { "Content-Type": "text/html" }, "<h1>nginx</h1>" + "x".repeat(100_000), (e) => e instanceof UnreachableError && e.status === 404 && /nginx/.test(e.message) && e.message.length < 400],
    [302, { Location: "http://127.0.0.1:1/elsewhere" }, "", (e) => e instanceof UnreachableError && /redirect/.test(e.message)],
    [401, json, `{"error":{"kind":"refused","message":"the token ${token} is not valid"}}`, (e) => e instanceof RefusedError],
    [400, json, '{"error":"text"}', (e) => e instanceof UnreachableError && e.status === 400],
    [400, json, '{"error":{"kind":"strange","message":"m"}}', (e) => e instanceof AmberError && e.kind === "strange"],
    [400, json, '{"error":{"kind":"constructor","message":"m","hint":7}}', (e) => e instanceof AmberError && e.kind === "constructor" && e.hint === undefined],
    [500, json, '{"error":{"kind":"internal","message":"m","request_id":"r1"}}', (e) => e instanceof InternalError && e.requestId === "r1"],
    [204, {}, "", (e) => e instanceof UnreachableError],
    [400, { "Content-Type": "text/plain" }, `you sent Bearer ${token}`, (e) => e instanceof UnreachableError && /\*\*\*/.test(e.message)],
  ];
  const { url, count } = await fake(t, (_, response, n) => {
    const [status, headers, body] = answers[n - 1] as (typeof answers)[number];
    response.writeHead(status, headers).end(Buffer.from(body, "latin1"));
  });
  const amber = client(t, { url, token });
  for (const [status, , body, want] of answers) {
    await assert.rejects(amber.memory.get(id), (e) => {
      assert.ok(want(e), `${status} ${body.slice(0, 60)}: found ${String(e)}`);
      assert.ok(!`${String(e)}${JSON.stringify(e)}${(e as Error).stack}`.includes("verysecret"), "the token is shown");
      return true;
    });
  }
  assert.equal(count(), answers.length);
});

test("listings that do not end or are none", async (t) => {
  const bodies = ['{"items":[{"id":"a"}],"next":"c"}', '{"items":{}}', '{"items":[],"next":7}', "{}"];
  let body = bodies[0] as string;
  const { url } = await fake(t, (_, response) => response.writeHead(200, json).end(body));
  const amber = client(t, { url });
  for (body of bodies) {
    await assert.rejects(amber.memory.list().all(), DamagedError, body);
  }
});

test("an answer that is too large is given up", { timeout: 60_000 }, async (t) => {
  let sent = 0;
  const { url } = await fake(t, (_, response) => {
    response.writeHead(200, json);
    const more = (): void => {
      while (!response.destroyed && sent < 400 << 20) {
        sent += 1 << 20;
        if (!response.write(Buffer.alloc(1 << 20, 32))) {
          response.once("drain", more);
          return;
        }
      }
    };
    more();
  });
  await assert.rejects(client(t, { url }).memory.get(id), (e) => e instanceof DamagedError && /too large/.test(e.message));
  assert.ok(sent < 200 << 20, "it read on");
});

test("a slow server", async (t) => {
  const { url } = await fake(t, (request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, json);
      response.write('{"id":');
    }
  });
  const amber = client(t, { url, timeoutMs: 200 });
  await assert.rejects(amber.memory.get(id), (e) => e instanceof UnreachableError && e.reason === "timeout");
  await assert.rejects(amber.recall("x"), (e) => e instanceof UnreachableError && e.reason === "timeout");
  const own = new Error("enough");
  const end = new AbortController();
  setTimeout(() => end.abort(own), 20);
  await assert.rejects(amber.recall("x", {}, { signal: end.signal, timeoutMs: 60_000 }), (e) => e === own);
  await assert.rejects(amber.recall("x", {}, { signal: AbortSignal.abort(own) }), (e) => e === own);
  const waits = amber.recall("x", {}, { timeoutMs: 60_000 });
  await amber.close();
  await assert.rejects(waits, UnreachableError);
});

test("something that is not HTTP", async (t) => {
  const server = createServer((socket) => socket.on("error", () => undefined).end("SSH-2.0-OpenSSH_9.2\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  await assert.rejects(client(t, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }).memory.get(id), DamagedError);
});

test("what passes is tried again with the same key, and nothing else", async (t) => {
  const keys = new Set<string | undefined>();
  const { url, count } = await fake(t, (request, response, n) => {
    keys.add(request.headers["idempotency-key"] as string | undefined);
    request.resume();
    switch (n) {
      case 1:
        request.socket.destroy();
        break;
      case 2:
        response.writeHead(503, { "Content-Type": "text/html" }).end("<html>");
        break;
      case 3:
        response.writeHead(409, json).end('{"error":{"kind":"busy","message":"m"}}');
        break;
      case 4:
        response.writeHead(201, { ...json, "Content-Length": "100" });
        response.write("{");
        setTimeout(() => request.socket.destroy(), 10);
        break;
      case 5:
        response.writeHead(503, { ...json, "Retry-After": "1" }).end('{"error":{"kind":"unreachable","message":"m"}}');
        break;
      default:
        response.writeHead(201, json).end('{"id":"x"}');
    }
  });
  const began = Date.now();
  assert.equal((await client(t, { url }).remember("x")).id, "x");
  assert.equal(count(), 6);
  assert.equal(keys.size, 1);
  assert.match([...keys][0] ?? "", /^[0-9a-f-]{36}$/);
  assert.ok(Date.now() - began >= 1000, "the server wanted to be left alone for a second");
});

test("trying again ends", async (t) => {
  const busy = await fake(t, (_, response) => response.writeHead(409, json).end('{"error":{"kind":"busy","message":"m"}}'));
  await assert.rejects(client(t, { url: busy.url, retryFor: 0.3 }).remember("x"), BusyError);
  assert.ok(busy.count() > 1);
  const later = await fake(t, (_, response) => response.writeHead(503, { ...json, "Retry-After": "3600" }).end('{"error":{"kind":"unreachable","message":"m"}}'));
  await assert.rejects(client(t, { url: later.url }).remember("x"), UnreachableError);
  assert.equal(later.count(), 1);
  const unknown = await fake(t, (_, response) => response.writeHead(409, json).end('{"error":{"kind":"conflict","message":"whether it was done is not known","reason":"outcome_unknown"}}'));
  await assert.rejects(client(t, { url: unknown.url }).remember("x"), (e) => e instanceof ConflictError && e.reason === "outcome_unknown");
  assert.equal(unknown.count(), 1);
  const full = await fake(t, (_, response) => response.writeHead(409, json).end('{"error":{"kind":"busy","message":"m","reason":"queue_full"}}'));
  await assert.rejects(client(t, { url: full.url }).queue.claim({ consumer_id: "c" }), (e) => e instanceof BusyError && e.reason === "queue_full");
  assert.equal(full.count(), 1);
  await assert.rejects(client(t, { url: "http://127.0.0.1:9", retryFor: 0.2 }).recall("x"), UnreachableError);
});

test("an upload has a connection of its own, and a stream is sent once", async (t) => {
  const ports: (number | undefined)[] = [];
  const { url, count } = await fake(t, (request, response, n) => {
    ports.push(request.socket.remotePort);
    request.resume().on("end", () => (n < 4 ? response.writeHead(200, json).end("{}") : request.socket.destroy()));
  });
  const amber = client(t, { url, retryFor: 0.5 });
  await amber.memory.get(id);
  await amber.memory.get(id);
  await amber.import.upload(Buffer.from("x"), { from: "jsonl" });
  assert.equal(ports[0], ports[1]);
  assert.notEqual(ports[1], ports[2]);
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("x");
  };
  await assert.rejects(amber.import.upload(pieces(), { from: "jsonl" }), UnreachableError);
  assert.equal(count(), 4);
  await assert.rejects(amber.import.upload(Buffer.from("x"), { from: "jsonl" }), UnreachableError);
  assert.ok(count() > 5);
});

test("a path, a query and a body arrive as they were given", async (t) => {
  const seen: string[] = [];
  const { url } = await fake(t, (request, response) => {
    let body = "";
    request.on("data", (b: Buffer) => (body += b.toString()));
    request.on("end", () => {
      seen.push(`${request.method} ${request.url} ${request.headers["if-match"] ?? ""} ${request.headers["authorization"] ?? ""} ${body}`);
      response.writeHead(200, json).end('{"items":[]}');
    });
  });
  const amber = client(t, { url: url + "/below/", token: "t", tenant: "acme", agent: "ada" });
  await amber.memory.list({ tag: ["a b", "c&d"], all: true, limit: 3, since: new Date(0) }).all();
  await amber.memory.edit("a/b?c#d", { title: "ü", if_match: "7" });
  await amber.memory.get("..").catch(() => undefined);
  await amber.memory.erase(id, { idempotencyKey: "k" });
  assert.deepEqual(seen, [
    "GET /below/v1/tenants/acme/agents/ada/memories?tag=a+b&tag=c%26d&all=true&limit=3&since=1970-01-01T00%3A00%3A00.000Z  Bearer t ",
    'PATCH /below/v1/tenants/acme/agents/ada/memories/a%2Fb%3Fc%23d "7" Bearer t {"title":"ü"}',
    "GET /below/v1/tenants/acme/agents/ada/memories/%2E%2E  Bearer t ",
    `POST /below/v1/tenants/acme/agents/ada/memories/${id}/erase  Bearer t `,
  ]);
});
