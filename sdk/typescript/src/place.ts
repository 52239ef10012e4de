// The server of a home. All clients of this process that use a home share it.
import { realpathSync } from "node:fs";
import path from "node:path";

import { findBinary } from "./binary.js";
import type { Endpoint, Place } from "./endpoint.js";
import { UnreachableError } from "./errors.js";
import { Failed } from "./failed.js";
import { endpointOf, readWhere, type Where } from "./home.js";
import { type PrivateServer, startServer } from "./server.js";
import { pause } from "./wait.js";

/** How long a server that has left may be replaced by the one it has left for. */
const handover = 500;
const lookAgain = 25;

/** How servers of a home are found and started. */
export interface HomeOptions {
  readonly home: string;
  readonly binary: string | undefined;
  readonly token: string | undefined;
  readonly ca: string | undefined;
  /** Whether a server is started where there is none. */
  readonly start: boolean;
}

/** The servers of this process by home. */
const servers = new Map<string, SharedServer>();

/** The path of a home without links. The home, and folders above it, are made when the server starts. */
function canonical(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    const above = path.dirname(home);
    return above === home ? home : path.join(canonical(above), path.basename(home));
  }
}

/** The server of a home for all clients of this process. */
class SharedServer {
  readonly #home: string;
  #users = 0;
  #server: PrivateServer | undefined;
  #starting: Promise<Where> | undefined;

  constructor(home: string) {
    this.#home = home;
  }

  static of(home: string): SharedServer {
    const known = canonical(home);
    const shared = servers.get(known) ?? new SharedServer(home);
    servers.set(known, shared);
    shared.#users++;
    return shared;
  }

  get pid(): number | undefined {
    return this.#server?.running ? this.#server.pid : undefined;
  }

  /** Starts a server, once for all who ask at one time. */
  start(binary: string | undefined): Promise<Where> {
    this.#starting ??= this.#start(binary).finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #start(binary: string | undefined): Promise<Where> {
    const { where, server } = await startServer(findBinary(binary, process.env), this.#home);
    if (server !== undefined) {
      this.#server = server;
    }
    return where;
  }

  /** Ends the server with its last client. */
  async release(): Promise<void> {
    if (--this.#users > 0) {
      return;
    }
    for (const [home, shared] of servers) {
      if (shared === this) {
        servers.delete(home);
      }
    }
    await this.#starting?.catch(() => undefined);
    await this.#server?.end();
  }
}

/** The process id of the private server that this process has started for a home. */
export function privateServerPid(home: string): number | undefined {
  return servers.get(canonical(home))?.pid;
}

/** Finds the server of a home, and starts one where there is none. */
export class Home implements Place {
  readonly local = true;
  readonly #o: HomeOptions;
  #shared: SharedServer | undefined;
  #current: Promise<Endpoint> | undefined;
  #known: { endpoint: Endpoint; where: Where } | undefined;
  /** The secret of a server that does not answer any more. */
  #dead: string | undefined;
  #seen = false;

  constructor(o: HomeOptions) {
    this.#o = o;
  }

  endpoint(signal: AbortSignal): Promise<Endpoint> {
    // Others wait for the same search, so it does not end with one of them.
    this.#current ??= this.#find().catch((cause: unknown) => {
      this.#current = undefined;
      throw cause;
    });
    return ended(this.#current, signal);
  }

  lost(endpoint: Endpoint): void {
    if (this.#known?.endpoint === endpoint) {
      this.#dead = this.#known.where.secret;
      this.#known = undefined;
      this.#current = undefined;
    }
  }

  async close(): Promise<void> {
    this.#known?.endpoint.agent.destroy();
    await this.#current?.catch(() => undefined);
    await this.#shared?.release();
  }

  async #find(): Promise<Endpoint> {
    this.#shared ??= SharedServer.of(this.#o.home); // also where it runs: it must not end before this client
    const found = await this.#served();
    if (found !== undefined) {
      return found;
    }
    if (!this.#o.start) {
      throw new Failed(new UnreachableError(`no server of the home ${this.#o.home} was found`, { hint: "run amber serve, or leave out startServer: false" }), "always");
    }
    const where = await this.#shared.start(this.#o.binary);
    // What is printed has no secret, which shows that the server of a port is the one that was meant.
    const written = await readWhere(this.#o.home);
    const endpoint = await this.#use(written?.url === where.url ? written : where);
    if (endpoint === undefined) {
      throw new Failed(new UnreachableError(`the server of the home ${this.#o.home} has ended`), "always");
    }
    return endpoint;
  }

  /** The server that serve.json tells of. One that has left removes the file; the one it left for writes another soon. */
  async #served(): Promise<Endpoint | undefined> {
    const until = Date.now() + (this.#seen ? handover : 0);
    for (;;) {
      const where = await readWhere(this.#o.home);
      if (where !== undefined) {
        return where.secret === this.#dead ? undefined : await this.#use(where);
      }
      if (Date.now() >= until) {
        return undefined;
      }
      await pause(lookAgain, never);
    }
  }

  async #use(where: Where): Promise<Endpoint | undefined> {
    const endpoint = await endpointOf(where, this.#o.token, this.#o.ca, AbortSignal.timeout(5000)).catch((cause: unknown) => {
      if ((cause as Error).name === "TimeoutError") {
        return undefined;
      }
      throw cause;
    });
    if (endpoint !== undefined) {
      this.#known = { endpoint, where };
      this.#seen = true;
    }
    return endpoint;
  }
}

const never = new AbortController().signal;

/** Waits for something, or for the end of a signal. */
function ended<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) {
      stop();
    }
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
