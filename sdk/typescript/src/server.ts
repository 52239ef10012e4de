// A private server that this process has started.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

import { AmberError, errorIn, errorOf, UnreachableError } from "./errors.js";
import { Failed } from "./failed.js";
import { parseWhere, type Where } from "./home.js";

const maxSaid = 64 << 10;
const keptLog = 8 << 10;
const startWithin = 60_000;
const endWithin = 10_000;

/** A running server, or the word of one that another process serves. */
export interface Started {
  readonly where: Where;
  /** undefined: another process serves the home. */
  readonly server: PrivateServer | undefined;
}

/** A private server. It ends when its standard input does, and so with this process, however that ends. */
export class PrivateServer {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #log = Buffer.alloc(0);
  #running = true;

  constructor(binary: string, home: string) {
    this.#child = spawn(binary, ["serve", "--private", "--json", "--home", home], {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // Ctrl-C is for this program, and it ends the server when it is done
      windowsHide: true,
    });
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#running = false;
        resolve();
      };
      this.#child.once("exit", end);
      this.#child.once("error", end);
    });
    this.#child.stdin?.on("error", () => undefined); // it has ended
    this.#child.stderr?.on("error", () => undefined);
    this.#child.stderr?.on("data", (piece: Buffer) => {
      this.#log = Buffer.concat([this.#log, piece]).subarray(-keptLog);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Waits for the server to say where it listens. Errors: those of the command, as [Failed]; unreachable. */
  said(): Promise<{ where: Where; started: boolean }> {
    return new Promise((resolve, reject) => {
      let said = "";
      const timer = setTimeout(() => fail(new UnreachableError(`amber serve --private has not said where it listens within ${startWithin} ms`)), startWithin);
      const fail = (error: AmberError): void => {
        clearTimeout(timer);
        this.#child.kill("SIGKILL");
        reject(new Failed(error, error.kind === "busy" || (error.kind === "unreachable" && error.reason === "serving") ? "always" : "never"));
      };
      this.#child.once("error", (cause) => fail(new UnreachableError(`cannot start ${this.#child.spawnfile}: ${cause.message}`, { hint: "the option binary, or $AMBER_BINARY, names the program amber", cause })));
      this.#child.once("close", (code, signal) => fail(this.#failure(said, code, signal)));
      this.#child.stdout?.on("error", () => undefined);
      this.#child.stdout?.on("data", (piece: Buffer) => {
        if (said.length > maxSaid) {
          return; // nothing more is of use, and it must not be kept from going on
        }
        said += piece.toString("utf8");
        const where = said.trimEnd().endsWith("}") ? parseWhere(said) : undefined;
        if (where !== undefined) {
          clearTimeout(timer);
          this.#detach();
          resolve({ where, started: (JSON.parse(said) as { started?: unknown }).started === true });
        }
      });
    });
  }

  /** Ends the server and waits for that. */
  async end(): Promise<void> {
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), endWithin);
    this.#child.ref();
    await this.#ended;
    clearTimeout(timer);
  }

  /** Lets this process end while the server runs. */
  #detach(): void {
    this.#child.unref();
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      (pipe as Socket | null)?.unref?.();
    }
  }

  /** Why the server has ended before it said where it listens. */
  #failure(said: string, code: number | null, signal: string | null): AmberError {
    try {
      const error = errorIn(JSON.parse(said));
      if (error !== undefined) {
        return errorOf(error.kind, error.message, { hint: error.hint, reason: error.kind === "unreachable" ? "serving" : error.reason });
      }
    } catch {
      // It said something else.
    }
    const log = this.#log.toString("utf8").trim();
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    return new UnreachableError(`amber serve --private has ended ${how}${log === "" ? "" : ": " + log}`);
  }
}

/** Starts a private server, or finds the one that serves the home. Errors: those of the command, as [Failed]; unreachable. */
export async function startServer(binary: string, home: string): Promise<Started> {
  const server = new PrivateServer(binary, home);
  const { where, started } = await server.said();
  return { where, server: started ? server : undefined };
}
