import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { privateServerPid } from "../src/place.js";
import { type Case, mismatch, runCase } from "./contract.js";
import { alive, fresh, root, until } from "./rig.js";

function cases(file: string): Case[] {
  return (JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] }).cases;
}

const shared = path.join(root, "..", "contract", "cases.json");
const all = [...cases(path.join(root, "test", "cases.json")), ...(existsSync(shared) ? cases(shared) : [])];

test("the contract", async (t) => {
  const { amber, home } = fresh(t);
  const kill = async (): Promise<void> => {
    const pid = privateServerPid(home);
    if (pid !== undefined) {
      process.kill(pid, "SIGKILL");
      await until("the server is gone", () => !alive(pid) || privateServerPid(home) !== pid);
    }
  };
  for (const [i, c] of all.entries()) {
    await t.test(c.name, () => runCase(amber.as({ agent: `case-${i + 1}` }), c, kill));
  }
});

test("a case that does not hold is told", () => {
  const found = { id: "x", tags: ["a", "b"], n: 1 };
  for (const want of [{ id: "x" }, { tags: ["a", { $any: true }] }, { tags: { $count: 2 } }, { tags: { $has: "b" } }, { tags: { $not: { $has: "c" } } }, { gone: { $not: { $any: true } } }]) {
    assert.equal(mismatch(found, want, ""), undefined, JSON.stringify(want));
  }
  for (const want of [{ id: "y" }, { tags: ["a"] }, { tags: { $count: 1 } }, { tags: { $has: "c" } }, { n: "1" }, { gone: { $any: true } }, { n: { $not: 1 } }, []]) {
    assert.notEqual(mismatch(found, want, ""), undefined, JSON.stringify(want));
  }
});
