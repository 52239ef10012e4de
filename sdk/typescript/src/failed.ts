// Why an attempt failed, and whether another one may help.
import type { Endpoint } from "./endpoint.js";
import { DamagedError, UnreachableError } from "./errors.js";

/**
 * A failed attempt. It may be made again: `always`, since nothing was sent; `repeatable`, where the request may be sent twice; `never`.
 */
export class Failed extends Error {
  readonly error: unknown;
  readonly again: "always" | "repeatable" | "never";
  /** Nothing listens there any more. */
  readonly gone: boolean;
  /** How long the server wants to be left alone. */
  readonly pauseMs: number | undefined;

  constructor(error: unknown, again: "always" | "repeatable" | "never", gone = false, pauseMs?: number) {
    super("the attempt failed");
    this.error = error;
    this.again = again;
    this.gone = gone;
    this.pauseMs = pauseMs;
  }
}

const passing = new Set([
  "ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ENOENT", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN", "EAGAIN",
]);

/** The failure of a connection. */
export function transportFailure(endpoint: Endpoint, cause: unknown, sent: boolean): Failed {
  const { code, message } = cause as { code?: string; message?: string };
  if (code?.startsWith("HPE_")) {
    const error = new DamagedError(`the server at ${endpoint.name} gave an answer that is not HTTP (${code})`, { hint: "check the address of the server", cause });
    return new Failed(error, "never");
  }
  const trust = code !== undefined && /CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(code);
  const hint = trust ? "the option ca names the certificates to trust, if you trust the server" : sent ? undefined : "check that amber serve runs there";
  const error = new UnreachableError(`cannot reach the server at ${endpoint.name}: ${code ?? message ?? "the connection failed"}`, { hint, cause });
  if (code === undefined || !passing.has(code)) {
    return new Failed(error, "never");
  }
  const gone = !sent && (code === "ECONNREFUSED" || code === "ENOENT");
  return new Failed(error, sent ? "repeatable" : "always", gone);
}
