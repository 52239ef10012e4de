// Where a server listens.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";

import { InvalidError, RefusedError } from "./errors.js";

/** Most connections to a server at one time, streams excepted. */
const connections = 32;

/** One server. */
export interface Endpoint {
  /** For people. */
  readonly name: string;
  readonly secure: boolean;
  readonly socketPath: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
  /** Before every path, without a slash at its end. */
  readonly root: string;
  /** The header Host; undefined: that of the host. */
  readonly asked: string | undefined;
  readonly token: string | undefined;
  readonly ca: string | undefined;
  readonly agent: HttpAgent;
}

/** Finds the server that requests go to. */
export interface Place {
  /** The server, which is looked for, or started, when it is not known. */
  endpoint(signal: AbortSignal): Promise<Endpoint>;
  /** Says that nothing listens at the endpoint any more. */
  lost(endpoint: Endpoint): void;
  /** Whether another server may take the place of one that is gone. */
  readonly local: boolean;
  close(): Promise<void>;
}

/** A server at a socket of this machine. */
export function socketEndpoint(path: string, token: string | undefined): Endpoint {
  return {
    name: `socket ${path}`, secure: false, socketPath: path, host: "localhost", port: undefined, root: "", asked: "localhost", token, ca: undefined,
    agent: new HttpAgent({ keepAlive: true, maxSockets: connections }),
  };
}

/** A server at a URL. Errors: invalid; refused for a token that would cross a network in the clear. */
export function urlEndpoint(text: string, token: string | undefined, ca: string | undefined): Endpoint {
  let u: URL;
  try {
    u = new URL(text);
  } catch {
    // The text is not repeated: it may be a token, or hold a password.
    throw new InvalidError("this is not the URL of a server, want the form http://127.0.0.1:7411");
  }
  if ((u.protocol !== "http:" && u.protocol !== "https:") || u.hostname === "") {
    throw new InvalidError("this is not the URL of a server, want the form http://127.0.0.1:7411");
  }
  if (u.username !== "" || u.password !== "" || u.search !== "" || u.hash !== "") {
    throw new InvalidError("the URL of the server has more than scheme, host and path", { hint: "give the token with token or tokenFile" });
  }
  const secure = u.protocol === "https:";
  const host = u.hostname.replace(/^\[|\]$/g, "");
  if (token !== undefined && !secure && !loopback(host)) {
    throw new RefusedError(`a token is not sent over plain HTTP to another machine (${u.host})`, { hint: `use https://${u.host}` });
  }
  const o = { keepAlive: true, maxSockets: connections };
  return {
    name: u.origin, secure, socketPath: undefined, host, port: u.port === "" ? undefined : Number(u.port), root: u.pathname.replace(/\/+$/, ""), asked: undefined, token, ca,
    agent: secure ? new HttpsAgent({ ...o, ...(ca === undefined ? {} : { ca }) }) : new HttpAgent(o),
  };
}

function loopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A server that is elsewhere, or was named. It is never replaced. */
export class Remote implements Place {
  readonly local = false;
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  async endpoint(): Promise<Endpoint> {
    return this.#endpoint;
  }

  lost(): void {}

  async close(): Promise<void> {
    this.#endpoint.agent.destroy();
  }
}
