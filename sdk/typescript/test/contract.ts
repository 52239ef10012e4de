// Runs the cases that the packages of all languages run.
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import { type Amber, AmberError, FileAnswer, Listing, operations, type OperationId } from "../src/index.js";

export interface Step {
  do: string;
  with?: Record<string, unknown>;
  as?: string;
  gives?: unknown;
  fails?: string;
}

export interface Case {
  name: string;
  steps: Step[];
}

/** Runs one case. Kill kills the server. */
export async function runCase(amber: Amber, c: Case, kill: () => Promise<void>): Promise<void> {
  const answers: Record<string, unknown> = {};
  for (const [i, step] of c.steps.entries()) {
    const at = `${c.name}, step ${i + 1} (${step.do})`;
    if (step.do === "server.kill") {
      await kill();
      continue;
    }
    let answer: unknown;
    try {
      answer = await call(amber, step.do, resolve(step.with ?? {}, answers) as Record<string, unknown>);
    } catch (e) {
      if (step.fails === undefined || !(e instanceof AmberError)) {
        throw new Error(`${at}: ${(e as Error).message}`, { cause: e });
      }
      assert.equal(e.kind, step.fails, `${at}: ${e.message}`);
      continue;
    }
    assert.equal(step.fails, undefined, `${at}: want the error ${step.fails}, found an answer`);
    if (step.as !== undefined) {
      answers[step.as] = answer;
    }
    if (step.gives !== undefined) {
      const missed = mismatch(answer, resolve(step.gives, answers), "answer");
      assert.equal(missed, undefined, `${at}: ${missed}`);
    }
  }
}

/** Calls an operation by its id, with arguments by name. */
async function call(amber: Amber, id: string, args: Record<string, unknown>): Promise<unknown> {
  const o = operations[id as OperationId];
  assert.ok(o, `there is no operation ${id}`);
  const rest = { ...args };
  const values: unknown[] = [];
  for (const name of Object.keys(o.variables)) {
    values.push(rest[name]);
    delete rest[name];
  }
  if (o.raw) {
    values.push(Buffer.from(String(rest["data"])));
    delete rest["data"];
  }
  const options = rest["idempotency_key"] === undefined || !o.key ? {} : { idempotencyKey: rest["idempotency_key"] };
  if (o.key) {
    delete rest["idempotency_key"];
  }
  const takes = Object.keys({ ...o.body, ...o.query, ...o.headers }).length > 0;
  assert.ok(takes || Object.keys(rest).length === 0, `${id} has no arguments ${Object.keys(rest).join(", ")}`);
  const [group, name] = id.split(".") as [string, string];
  const methods = (amber as unknown as Record<string, Record<string, (...values: unknown[]) => unknown>>)[group];
  const answer = await (methods?.[name] as (...values: unknown[]) => unknown).call(methods, ...values, ...(takes ? [rest] : []), options);
  if (answer instanceof Listing) {
    return answer.all();
  }
  return answer instanceof FileAnswer ? Buffer.from(await answer.bytes()).toString("utf8") : answer;
}

/** Puts earlier answers in the place of texts like "$a.items.0.id". */
function resolve(value: unknown, answers: Record<string, unknown>): unknown {
  if (typeof value === "string" && /^\$[A-Za-z_][\w]*(\.[\w]+)*$/.test(value)) {
    return value.slice(1).split(".").reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], answers);
  }
  if (Array.isArray(value)) {
    return value.map((v) => resolve(v, answers));
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolve(v, answers)]));
  }
  return value;
}

/** Says where a value is not what is wanted; undefined where it is. */
export function mismatch(found: unknown, want: unknown, at: string): string | undefined {
  const said = `${at}: want ${JSON.stringify(want)}, found ${JSON.stringify(found)}`;
  if (Array.isArray(want)) {
    if (!Array.isArray(found) || found.length !== want.length) {
      return said;
    }
    return first(want.map((w, i) => mismatch(found[i], w, `${at}[${i}]`)));
  }
  if (typeof want !== "object" || want === null) {
    return isDeepStrictEqual(found, want) ? undefined : said;
  }
  const w = want as Record<string, unknown>;
  if ("$any" in w) {
    return found === undefined || found === null ? said : undefined;
  }
  if ("$count" in w) {
    const list = found ?? []; // an empty list may be left out
    return Array.isArray(list) && list.length === w["$count"] ? undefined : said;
  }
  if ("$has" in w) {
    return Array.isArray(found) && found.some((f) => mismatch(f, w["$has"], at) === undefined) ? undefined : said;
  }
  if ("$not" in w) {
    return mismatch(found, w["$not"], at) === undefined ? said : undefined;
  }
  if (typeof found !== "object" || found === null) {
    return said;
  }
  return first(Object.entries(w).map(([name, v]) => mismatch((found as Record<string, unknown>)[name], v, `${at}.${name}`)));
}

function first(missed: (string | undefined)[]): string | undefined {
  return missed.find((m) => m !== undefined);
}
