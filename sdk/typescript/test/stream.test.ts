// Streams of events and listings in lines.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Event, StreamEvent } from "../src/index.js";
import { readEvents } from "../src/stream.js";
import { splitLines } from "../src/lines.js";
import { privateServerPid } from "../src/place.js";
import { fake, client, fresh, until } from "./rig.js";

interface Mutation {
  key?: string;
}

function collect(stream: AsyncIterable<StreamEvent<Event>>, into: StreamEvent<Event>[]): Promise<void> {
  return (async () => {
    for await (const e of stream) {
      into.push(e);
    }
  })();
}

test("a stream loses and repeats nothing while its server is killed", async (t) => {
  const { amber, home } = fresh(t);
  const first = await amber.remember("before the stream");
  const end = new AbortController();
  const stream = amber.event.stream({}, { signal: end.signal });
  await stream.ready();
  const seen: StreamEvent<Event>[] = [];
  const over = collect(stream, seen);
  const written: string[] = [];
  for (let i = 0; i < 30; i++) {
    if (i === 10 || i === 20) {
      process.kill(privateServerPid(home) as number, "SIGKILL");
    }
    written.push((await amber.remember(`fact number ${i}`)).id);
  }
  const ids = (): (string | undefined)[] => seen.filter((e) => e.event === "mutated").map((e) => (e.data?.payload as Mutation | undefined)?.key);
  await until("every event has come", () => ids().length >= 30);
  await amber.remember("the last one");
  await until("the last event has come", () => ids().length >= 31);
  assert.deepEqual(ids().slice(0, 30), written);
  assert.ok(!ids().includes(first.id));
  end.abort();
  await over;

  const behind: StreamEvent<Event>[] = [];
  for await (const e of amber.event.stream({ after: (seen[28] as StreamEvent<Event>).position })) {
    if (behind.push(e) === 2) {
      break;
    }
  }
  assert.deepEqual(behind.map((e) => e.data?.id), seen.slice(29, 31).map((e) => e.data?.id));
});

test("a stream that is cut before its first event loses nothing", async (t) => {
  const { amber, home } = fresh(t);
  await amber.remember("before");
  const stream = amber.event.stream();
  await stream.ready();
  process.kill(privateServerPid(home) as number, "SIGKILL");
  const { id } = await amber.remember("after");
  for await (const e of stream) {
    assert.equal((e.data?.payload as Mutation).key, id);
    break;
  }
});

test("a restore is told, and close ends a stream", async (t) => {
  const { amber } = fresh(t);
  await amber.remember("before");
  const snapshot = await amber.snapshot.take({});
  const seen: StreamEvent<Event>[] = [];
  const stream = amber.event.stream();
  await stream.ready();
  const over = collect(stream, seen);
  await amber.remember("after");
  await until("the change has come", () => seen.length > 0);
  await amber.snapshot.restore(snapshot.id);
  await until("the restore has come", () => seen.some((e) => e.event === "restored" && e.data === undefined));
  await amber.close();
  await over;
});

test("a stream comes back with the place it was at, and ends with an error that does not pass", async (t) => {
  const places: (string | undefined)[] = [];
  const { url } = await fake(t, (request, response, count) => {
    places.push(request.headers["last-event-id"] as string | undefined);
    if (count === 4) {
      response.writeHead(403, { "Content-Type": "application/json" }).end('{"error":{"kind":"refused","message":"the token was revoked"}}');
      return;
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`: sign of life\n\nevent: mutated\nid: p${count}\ndata: {"id":"e${count}"}\n\nevent: mutated\nid: lost`);
    setImmediate(() => (count === 2 ? response.end() : response.destroy()));
  });
  const seen: (string | undefined)[] = [];
  await assert.rejects(async () => {
    for await (const e of client(t, { url }).event.stream({ after: "p0" })) {
      seen.push(e.data?.id);
    }
  }, { kind: "refused" });
  assert.deepEqual(seen, ["e1", "e2", "e3"]);
  assert.deepEqual(places, ["p0", "p1", "p2", "p3"]);
});

test("a listing in lines ends with its error, and with a cut", async (t) => {
  const { url } = await fake(t, (request, response, count) => {
    assert.equal(request.headers.accept, "application/x-ndjson");
    assert.equal(new URL(request.url ?? "", "http://x").searchParams.get("limit"), null);
    response.writeHead(200, { "Content-Type": "application/x-ndjson" });
    response.write('{"id":"a"}\n{"id":"b","error":"a field"}\n');
    if (count === 1) {
      response.end('{"error":{"kind":"damaged","message":"a row cannot be read"}}\n');
    } else {
      setTimeout(() => response.destroy(), 20);
    }
  });
  const amber = client(t, { url });
  for (const kind of ["damaged", "unreachable"]) {
    const ids: string[] = [];
    await assert.rejects(async () => {
      for await (const m of amber.memory.list({ limit: 5 }).lines()) {
        ids.push(m.id);
      }
    }, { kind });
    assert.deepEqual(ids, ["a", "b"]);
  }
});

test("pages and lines give the same", async (t) => {
  const { amber } = fresh(t);
  await amber.memory.write_batch({ items: Array.from({ length: 15 }, (_, i) => ({ content: `fact number ${i}` })) });
  const list = amber.memory.list({ limit: 4 });
  const ids = (await list.all()).map((m) => m.id);
  assert.equal(new Set(ids).size, 15);
  const lines: string[] = [];
  for await (const m of list.lines()) {
    lines.push(m.id);
  }
  assert.deepEqual(lines, ids);
  const page = await list.page();
  assert.deepEqual(page.items.map((m) => m.id), ids.slice(0, 4));
  assert.deepEqual((await list.page(page.next)).items.map((m) => m.id), ids.slice(4, 8));
});

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += size) {
    yield bytes.subarray(i, i + size);
  }
}

test("lines and events are read whatever pieces they come in", async () => {
  const text = "ä\r\n\nlong line\nlast";
  const sent = ": hello\nevent: e\nid: 1\ndata: {\ndata: }\n\nid: 2\n\ndata:x\n\nevent: cut\n";
  for (let size = 1; size < 30; size++) {
    const lines: string[] = [];
    for await (const line of splitLines(pieces(text, size), 100)) {
      lines.push(line.toString());
    }
    assert.deepEqual(lines, ["ä", "", "long line", "last"]);
    const events = [];
    for await (const e of readEvents(pieces(sent, size), 100)) {
      events.push(e);
    }
    assert.deepEqual(events, [{ id: "1", event: "e", data: "{\n}" }, { id: undefined, event: "", data: "x" }]);
  }
  await assert.rejects(async () => {
    for await (const line of splitLines(pieces("x".repeat(200), 10), 100)) {
      assert.fail(line.toString());
    }
  }, { kind: "damaged" });
});
