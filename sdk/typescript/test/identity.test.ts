import assert from "node:assert/strict";
import { test } from "node:test";

import { operations } from "../src/index.js";
import { withIdentity } from "../src/identity.js";
import { fresh } from "./rig.js";

test("what is written under one identity is found under no other", async (t) => {
  const { amber } = fresh(t);
  for (const name of ["user_id", "project_id", "session_id", "workspace_id"] as const) {
    const mine = amber.as({ agent: name.replace("_", "-"), [name]: "one" });
    const other = mine.as({ [name]: "two" });
    const { id, scope } = await mine.remember(`the parrot of ${name} is green`);
    assert.equal(scope, name.replace("_id", ""));
    const [batch] = (await mine.memory.write_batch({ items: [{ content: `the cat of ${name} is black` }] })).items;
    assert.deepEqual((await mine.memory.list().all()).map((m) => m.id).sort(), [id, batch?.id].sort(), name);
    assert.deepEqual(await other.memory.list().all(), [], name);
    assert.ok((await mine.recall("parrot")).some((h) => h.id === id), name);
    assert.deepEqual((await other.recall("parrot")).filter((h) => h.id !== ""), [], name);
    assert.match((await mine.context("")).text, /green/, name);
    assert.doesNotMatch((await other.context("")).text, /green/, name);
    // The call says more than the client.
    assert.ok((await other.recall("parrot", { [name]: "one" })).some((h) => h.id === id), name);
  }
});

test("neighbours of another identity are not shown", async (t) => {
  const { amber } = fresh(t);
  const mine = amber.as({ user_id: "one" });
  const a = await amber.remember("a thing for all");
  const b = await mine.remember("a thing of one user");
  await mine.relation.relate({ from: a.id, to: b.id, type: "related" });
  assert.deepEqual((await mine.relation.neighbours(a.id)).memories.map((m) => m.id), [a.id, b.id]);
  assert.deepEqual((await mine.as({ user_id: "two" }).relation.neighbours(a.id)).memories.map((m) => m.id), [a.id]);
});

test("an identity goes with memories and questions alone", () => {
  const identity = { user_id: "u", session_id: "s" };
  assert.deepEqual(withIdentity(operations["memory.write"], { user_id: "v" }, identity), { user_id: "v", session_id: "s" });
  assert.deepEqual(withIdentity(operations["memory.write_batch"], { items: [{ content: "x" }, { session_id: "t" }] }, identity), {
    items: [{ content: "x", user_id: "u", session_id: "s" }, { session_id: "t", user_id: "u" }],
  });
  assert.deepEqual(withIdentity(operations["memory.write"], { scope: "global" }, identity), { scope: "global" });
  assert.deepEqual(withIdentity(operations["memory.list"], { all: true }, identity), { all: true });
  for (const id of ["memory.recall", "memory.context", "memory.list", "relation.neighbours", "snapshot.recall", "snapshot.memories"] as const) {
    assert.deepEqual(withIdentity(operations[id], {}, identity), identity, id);
  }
  for (const id of ["task.list", "memory.edit", "session.list", "turn.append"] as const) {
    assert.deepEqual(withIdentity(operations[id], {}, identity), {}, id);
  }
});
