// Reading answers. What comes from a server is not believed until it was looked at.
import type { IncomingMessage } from "node:http";

import type { Endpoint } from "./endpoint.js";
import { type AmberError, DamagedError, errorIn, UnreachableError } from "./errors.js";
import { Failed, transportFailure } from "./failed.js";

/** Most bytes of an answer that is kept in memory. */
export const maxAnswer = 64 << 20;

const maxFailure = 1 << 20;
const maxShown = 200;

/** Reads a whole answer. It throws [Failed]. */
export async function readAll(endpoint: Endpoint, response: IncomingMessage, most: number, signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response) {
      size += (piece as Buffer).length;
      if (size > most) {
        response.destroy();
        throw new Failed(new DamagedError(`the answer of the server is too large: it has more than ${most} bytes`, { status: statusOf(response) }), "never");
      }
      pieces.push(piece as Buffer);
    }
  } catch (cause) {
    throw cutOff(endpoint, cause, signal);
  }
  return Buffer.concat(pieces, size);
}

/** The failure of an answer that did not come to its end. */
export function cutOff(endpoint: Endpoint, cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) {
    return signal.reason;
  }
  return cause instanceof Failed ? cause : transportFailure(endpoint, cause, true);
}

/** Reads a JSON answer. It throws [Failed]. */
export async function readJSON(endpoint: Endpoint, response: IncomingMessage, most: number, signal: AbortSignal): Promise<unknown> {
  if (mediaType(response) !== "application/json") {
    throw new Failed(notAmber(endpoint, response, await beginning(endpoint, response, signal)), "never");
  }
  const bytes = await readAll(endpoint, response, most, signal);
  return parse(bytes, statusOf(response));
}

/** The value of a JSON text. Errors: damaged, as [Failed]. */
export function parse(bytes: Uint8Array, status?: number): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    // The cause of JSON.parse quotes the text, which is data of the user.
    const what = cause instanceof SyntaxError ? "JSON" : "UTF-8";
    throw new Failed(new DamagedError(`the answer of the server is not ${what}`, { status }), "never");
  }
}

/** Checks the status of an answer. It throws [Failed] for everything that is not a success. */
export async function checkStatus(endpoint: Endpoint, response: IncomingMessage, signal: AbortSignal): Promise<void> {
  const status = statusOf(response);
  if (status >= 200 && status < 300) {
    return;
  }
  const pause = retryAfter(response);
  const text = hide(endpoint, (await readSome(endpoint, response, maxFailure, signal)).toString("utf8"));
  const error = amberError(response, text);
  if (error === undefined) {
    throw new Failed(notAmber(endpoint, response, text), status === 502 || status === 503 || status === 504 || status === 429 ? "repeatable" : "never", false, pause);
  }
  // A reason says more than that it may be tried again, as that a queue is full.
  const passing = error.reason === undefined && (error.kind === "busy" || error.kind === "unreachable");
  throw new Failed(error, passing ? "repeatable" : "never", false, pause);
}

function amberError(response: IncomingMessage, text: string): AmberError | undefined {
  if (mediaType(response) !== "application/json") {
    return undefined;
  }
  const id = response.headers["x-request-id"];
  try {
    return errorIn(JSON.parse(text), { status: statusOf(response), requestId: typeof id === "string" ? id : undefined });
  } catch {
    return undefined;
  }
}

/** The error of an answer that no Amber gives. */
function notAmber(endpoint: Endpoint, response: IncomingMessage, text: string): AmberError {
  const status = statusOf(response);
  const redirect = status >= 300 && status < 400 ? ", a redirect, which is not followed," : "";
  const shown = text.replace(/[\s\x00-\x1f\x7f-\x9f]+/g, " ").trim();
  const quoted = shown === "" ? "" : `: ${shown.length > maxShown ? shown.slice(0, maxShown) + "…" : shown}`;
  return new UnreachableError(`the server at ${endpoint.name} answers with status ${status}${redirect} and not as Amber does${quoted}`, { status, hint: "check the address of the server" });
}

async function beginning(endpoint: Endpoint, response: IncomingMessage, signal: AbortSignal): Promise<string> {
  return hide(endpoint, (await readSome(endpoint, response, 4096, signal)).toString("utf8"));
}

/** Reads at most so many bytes; the rest is not waited for. */
async function readSome(endpoint: Endpoint, response: IncomingMessage, most: number, signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size >= most) {
        break;
      }
    }
  } catch (cause) {
    throw cutOff(endpoint, cause, signal);
  }
  return Buffer.concat(pieces).subarray(0, most);
}

/** Takes the token out of a text, which a server may have repeated. */
function hide(endpoint: Endpoint, text: string): string {
  return endpoint.token === undefined ? text : text.replaceAll(endpoint.token, "***");
}

/** The type of an answer, without parameters. */
export function mediaType(response: IncomingMessage): string {
  return (response.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Checks that an answer is of a type. It throws [Failed]. */
export async function checkType(endpoint: Endpoint, response: IncomingMessage, want: string, signal: AbortSignal): Promise<void> {
  if (mediaType(response) !== want) {
    throw new Failed(notAmber(endpoint, response, await beginning(endpoint, response, signal)), "never");
  }
}

/** Checks an answer that has no content: a page that a proxy sends does not say that something was done. */
export async function checkNothing(endpoint: Endpoint, response: IncomingMessage, signal: AbortSignal): Promise<void> {
  if (statusOf(response) !== 204) {
    throw new Failed(notAmber(endpoint, response, await beginning(endpoint, response, signal)), "never");
  }
  response.resume();
}

function statusOf(response: IncomingMessage): number {
  return response.statusCode ?? 0;
}

/** How long the server wants to be left alone, in milliseconds. */
function retryAfter(response: IncomingMessage): number | undefined {
  const text = response.headers["retry-after"];
  if (text === undefined) {
    return undefined;
  }
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * 1000;
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
