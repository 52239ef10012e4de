// A request as it travels, made of an operation and arguments.
import { randomUUID } from "node:crypto";

import type { CallOptions, Operation } from "./call.js";
import { InvalidError } from "./errors.js";
import { type Body, bodyOf, type Upload } from "./upload.js";

/** Whose agent is asked. */
export interface Target {
  readonly tenant: string;
  readonly agent: string;
}

/** One request. It may be sent several times. */
export interface Request {
  readonly id: string;
  readonly method: string;
  /** With its query, below the root of the server. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | null;
  /** Sent twice, it is carried out once. */
  readonly repeatable: boolean;
  /** The answer may take an hour. */
  readonly long: boolean;
}

/** Operations that are done once for each id, so that they can be repeated where nobody knows whether they were done. */
const once = new Set(["turn.append", "compaction.add", "approval.request"]);

/** Makes the request of an operation. Arguments that the operation does not have are errors. */
export function requestOf(o: Operation, target: Target, variables: readonly string[], args: object, options: CallOptions, data?: Upload): Request {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  for (const [name, value] of given) {
    if (o.body !== null && Object.hasOwn(o.body, name)) {
      body[o.body[name] as string] = value;
    } else if (Object.hasOwn(o.query, name)) {
      addQuery(query, o, name, value);
    } else if (Object.hasOwn(o.headers, name)) {
      headers[o.headers[name] as string] = headerValue(o, name, value);
    } else {
      throw new InvalidError(`${o.id}: there is no argument ${JSON.stringify(name)}`, { hint: `want one of ${argumentNames(o).join(", ") || "none"}` });
    }
  }
  if (once.has(o.id) && body["id"] === undefined && options.idempotencyKey === undefined) {
    body["id"] = randomUUID();
  }
  if (o.key) {
    headers["Idempotency-Key"] = headerValue(o, "idempotencyKey", options.idempotencyKey ?? randomUUID());
  }
  let content: Body | null = null;
  if (o.raw) {
    content = bodyOf(data as Upload);
    headers["Content-Type"] = "application/octet-stream";
  } else if (o.body !== null) {
    content = { bytes: Buffer.from(encode(o, body)) };
    headers["Content-Type"] = "application/json";
  }
  const text = query.toString();
  return {
    id: o.id,
    method: o.method,
    path: pathOf(o, target, variables) + (text === "" ? "" : "?" + text),
    headers,
    body: content,
    repeatable: !o.changes || o.key,
    long: o.long,
  };
}

/** The names of the arguments of an operation that are not part of its path. */
export function argumentNames(o: Operation): string[] {
  return [...Object.keys(o.body ?? {}), ...Object.keys(o.query), ...Object.keys(o.headers)];
}

function pathOf(o: Operation, target: Target, variables: readonly string[]): string {
  const values = new Map<string, string>();
  Object.entries(o.variables).forEach(([name, wire], i) => values.set(wire, element(o, name, variables[i])));
  return o.path.replace(/\{([^}]+)\}/g, (_, name: string) => values.get(name) ?? element(o, name, name === "tenant" ? target.tenant : target.agent));
}

/** One element of a path. A dot would be taken for the folder. */
function element(o: Operation, name: string, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new InvalidError(`${o.id}: ${name} is ${value === "" ? "empty" : typeof value}, want a text`);
  }
  try {
    const escaped = encodeURIComponent(value);
    return escaped === "." || escaped === ".." ? escaped.replaceAll(".", "%2E") : escaped;
  } catch (cause) {
    throw new InvalidError(`${o.id}: ${name} is no valid Unicode`, { cause });
  }
}

function addQuery(query: URLSearchParams, o: Operation, name: string, value: unknown): void {
  for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
    query.append(o.query[name] as string, scalar(o, name, one));
  }
}

/** Tags are in quotes where they travel. */
function headerValue(o: Operation, name: string, value: unknown): string {
  let text = scalar(o, name, value);
  if ((name === "if_match" || name === "if_none_match") && !/^("|W\/|\*$)/.test(text)) {
    text = `"${text}"`;
  }
  if (!/^[\x20-\x7e]+$/.test(text)) {
    throw new InvalidError(`${o.id}: ${name} has characters that cannot be sent, want printable ASCII`);
  }
  return text;
}

function scalar(o: Operation, name: string, value: unknown): string {
  if (value instanceof Date) {
    return instant(o, name, value);
  }
  if (typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) {
    return String(value);
  }
  throw new InvalidError(`${o.id}: ${name} is ${value === null ? "null" : typeof value}, want a text, a number, true or false, or a date`);
}

function instant(o: Operation, name: string, value: Date): string {
  if (Number.isNaN(value.getTime())) {
    throw new InvalidError(`${o.id}: ${name} is no valid date`);
  }
  return value.toISOString();
}

/** The JSON of a body: dates in the form of RFC 3339, bytes as base64. */
function encode(o: Operation, body: object): string {
  try {
    return JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
      const given = this[name];
      if (given instanceof Date) {
        return instant(o, name, given);
      }
      if (given instanceof Uint8Array) {
        return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString("base64");
      }
      if (typeof given === "number" && !Number.isFinite(given)) {
        throw new InvalidError(`${o.id}: ${name} is ${given}, want a number`);
      }
      return value;
    });
  } catch (cause) {
    if (cause instanceof InvalidError) {
      throw cause;
    }
    throw new InvalidError(`${o.id}: the arguments cannot be written as JSON`, { cause });
  }
}
