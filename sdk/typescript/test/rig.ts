// What the tests share: homes, servers and programs that are gone when a test ends.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { Amber, type AmberOptions } from "../src/index.js";

/** The program under test. */
export const binary = ((): string => {
  const named = process.env["AMBER_BINARY"];
  if (named === undefined || !existsSync(named)) {
    throw new Error("set AMBER_BINARY to the program amber, as built by make build");
  }
  return path.resolve(named);
})();

/** The compiled package, for programs. */
export const index = fileURLToPath(new URL("../src/index.js", import.meta.url));

/** The folder of the package. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

// No test sees the home or the servers of the user who runs it.
const user = mkdtempSync(path.join(tmpdir(), "amber-ts-user-"));
for (const name of Object.keys(process.env)) {
  if (name.startsWith("AMBER_") || name.startsWith("XDG_")) {
    delete process.env[name];
  }
}
process.env["AMBER_BINARY"] = binary;
process.env["HOME"] = user;
process.once("exit", () => rmSync(user, { recursive: true, force: true }));

const ends = new WeakMap<TestContext, (() => unknown)[]>();

/** Does something after the test, before what was asked for earlier: a server ends before its folder is removed. */
export function after(t: TestContext, end: () => unknown): void {
  const known = ends.get(t);
  if (known !== undefined) {
    known.unshift(end);
    return;
  }
  const list = [end];
  ends.set(t, list);
  t.after(async () => {
    for (const end of list) {
      await end();
    }
  });
}

/** A folder that is removed after the test. */
export function folder(t: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), "amber-ts-"));
  after(t, () => removed(dir));
  return dir;
}

/** Removes a folder, also while a program that was killed leaves its last files there. */
async function removed(dir: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      rmSync(dir, { recursive: true, force: true });
      return;
    } catch (cause) {
      if (tries === 100) {
        throw cause;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** A client that is closed after the test. */
export function client(t: TestContext, o: AmberOptions): Amber {
  const c = new Amber(o);
  after(t, () => c.close());
  return c;
}

/** A client of a new home. */
export function fresh(t: TestContext, o: AmberOptions = {}): { amber: Amber; home: string } {
  const home = path.join(folder(t), "home");
  return { amber: client(t, { home, ...o }), home };
}

/** A program that is killed after the test. */
export function run(t: TestContext, command: string, args: string[], env: Record<string, string> = {}): Program {
  const p = new Program(spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } }));
  after(t, () => p.kill());
  return p;
}

/** A program in JavaScript. */
export function script(t: TestContext, code: string, env: Record<string, string> = {}): Program {
  return run(t, process.execPath, ["--input-type=module", "-e", `import * as amber from ${JSON.stringify(index)};\nimport { privateServerPid } from ${JSON.stringify(path.join(path.dirname(index), "place.js"))};\n${code}`], env);
}

/** A command of Amber that is waited for. */
export async function command(t: TestContext, ...args: string[]): Promise<string> {
  const p = run(t, binary, args);
  const code = await p.ended;
  if (code !== 0) {
    throw new Error(`amber ${args.join(" ")}: exit code ${code}: ${p.errors}`);
  }
  return p.output;
}

/** A running program. */
export class Program {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output = "";
  errors = "";
  #waiting: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.on("data", (b: Buffer) => {
      this.output += b.toString();
      this.#wake();
    });
    child.stderr?.on("data", (b: Buffer) => (this.errors += b.toString()));
    this.ended = new Promise((resolve) => {
      child.once("close", (code) => {
        resolve(code);
        this.#wake();
      });
      child.once("error", () => resolve(-1));
    });
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) {
      go();
    }
  }

  /** Waits until the output has a text. */
  async says(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`the program has ended and not said ${text}: ${this.output} ${this.errors}`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** The server of a home at a port, with what serve.json says about it. */
export async function serve(t: TestContext, home: string, ...args: string[]): Promise<{ url: string; program: Program }> {
  const program = run(t, binary, ["serve", "--json", "--home", home, "--listen", "127.0.0.1:0", ...args]);
  await program.says("\n}");
  return { url: (JSON.parse(program.output) as { url: string }).url, program };
}

/** What serve.json of a home says. */
export function where(home: string): { url: string; private?: boolean; socket?: string } {
  return JSON.parse(readFileSync(path.join(home, "serve.json"), "utf8")) as { url: string };
}

/** Waits until something is so, for at most 20 seconds. */
export async function until(what: string, so: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await so())) {
    if (Date.now() > end) {
      throw new Error(`waited in vain: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether a process runs. */
export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A server that answers as a test says. */
export async function fake(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse, count: number) => void): Promise<{ url: string; count: () => number; server: Server }> {
  let count = 0;
  const server = createServer((request, response) => answer(request, response, ++count));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count, server };
}
