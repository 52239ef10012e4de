// The types hold what they promise: this file is compiled, and every line that is marked must be an error.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Amber, type AmberOptions, type Hit, type Listing, type Memory, type MemoryWriteArgs, type Page, type Role, type StreamEvent, type Event, type WriteAck } from "../src/index.js";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<T extends true>(value?: T): void {
  assert.equal(value, undefined);
}

// It is compiled and never called.
async function compiled(amber: Amber, role: string): Promise<void> {
  is<Same<Awaited<ReturnType<Amber["remember"]>>, WriteAck>>();
  is<Same<Awaited<ReturnType<Amber["recall"]>>, Hit[]>>();
  is<Same<ReturnType<Amber["memory"]["list"]>, Listing<Memory>>>();
  is<Same<Awaited<ReturnType<Listing<Memory>["page"]>>, Page<Memory>>>();
  for await (const m of amber.memory.list({ limit: 3, kind: ["user_fact"] })) {
    is<Same<typeof m, Memory>>();
    const known: boolean = m.kind === "user_fact" || m.kind === "a word of a newer server";
    const text: string = m.content;
    // @ts-expect-error a time is a text
    const at: Date = m.created_at;
    void [known, text, at];
  }
  for await (const e of amber.event.stream({ after: "p" })) {
    is<Same<typeof e, StreamEvent<Event>>>();
  }
  await amber.turn.append("s", { role: "user", content: "x" }, { signal: AbortSignal.timeout(1), idempotencyKey: "k" });
  await amber.remember("x", { created_at: new Date(), tags: ["a"] as const, user_id: undefined });
  await amber.state.save("s", { exact: new Uint8Array() });
  await amber.import.upload(new Uint8Array(), { from: "jsonl" });
  const args: MemoryWriteArgs = { content: "x", scope: "user", user_id: "u" };
  const options: AmberOptions = { agent: "a", retryFor: 3 };
  await amber.as({ user_id: "u" }).memory.write(args);
  void options;
  // @ts-expect-error words that are sent are known
  await amber.turn.append("s", { role: "nobody", content: "x" });
  // @ts-expect-error a text may be any
  await amber.turn.append("s", { role, content: "x" });
  // @ts-expect-error there is no such argument
  await amber.recall("x", { limits: 3 });
  // @ts-expect-error the question is the first argument
  await amber.recall("x", { text: "y" });
  // @ts-expect-error a variable of the path comes first
  await amber.memory.get({ id: "x" });
  // @ts-expect-error there is no such option
  new Amber({ adress: "x" });
  // @ts-expect-error there is no such operation
  await amber.memory.remove("x");
  const said: Role = "user";
  void said;
}

test("the types are compiled", () => {
  assert.equal(typeof compiled, "function");
});
