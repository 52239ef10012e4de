// The packages of the frameworks, which this package does not depend on.
import type { TestContext } from "node:test";

import type { Amber } from "../../src/index.js";
import { privateServerPid } from "../../src/place.js";

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- its types are not installed */
export type Loose = any;

/** A package of a framework. Where it is not installed the test is skipped, or fails when AMBER_FRAMEWORKS says that it has to be there. */
export async function framework(t: TestContext, name: string): Promise<Loose> {
  try {
    return await import(name);
  } catch (error) {
    if (required || (error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") {
      throw error;
    }
    t.skip(`the package ${name} is not installed: make test-frameworks-ts`);
    return undefined;
  }
}

/** It is read before rig.ts clears the environment. */
const required = process.env["AMBER_FRAMEWORKS"] === "required";

/** Kills the private server of a home. */
export function killServer(home: string): void {
  const pid = privateServerPid(home);
  if (pid === undefined) {
    throw new Error("there is no private server to kill");
  }
  process.kill(pid, "SIGKILL");
}

/** Kills the private server of a home after some time. */
export async function killSoon(home: string, milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  killServer(home);
}

/** How many changes a note has seen. */
export async function changes(amber: Amber, note: string): Promise<number> {
  return (await amber.note.log(note)).items.length;
}

/** Numbers that are the same at every run. */
export function numbers(seed: number): (below: number) => number {
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}
