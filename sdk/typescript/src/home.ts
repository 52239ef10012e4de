// What the server of a home says about itself in serve.json.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Stats } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";

import { readAll } from "./answer.js";
import { type Endpoint, socketEndpoint, urlEndpoint } from "./endpoint.js";
import { UntrustedError } from "./errors.js";
import { exchange } from "./http.js";

const maxWhere = 4096;

/** Where the server of a home listens. */
export interface Where {
  readonly url: string;
  /** Of the page for people; "" without a port. */
  readonly page: string;
  /** Shows that a server is the one that wrote this. */
  readonly secret: string;
  readonly socket: string | undefined;
  readonly key: string | undefined;
  readonly private: boolean;
}

/** The folder that commands use: $AMBER_HOME, else `amber` in the folder for data of the user. */
export function defaultHome(env: NodeJS.ProcessEnv): string {
  const named = env["AMBER_HOME"];
  if (named) {
    return path.resolve(named);
  }
  const data = env["XDG_DATA_HOME"] || path.join(env["HOME"] || homedir(), ".local", "share");
  return path.resolve(data, "amber");
}

/** Reads serve.json; undefined where there is none that says anything. Errors: untrusted for a file of somebody else. */
export async function readWhere(home: string): Promise<Where | undefined> {
  const file = path.join(home, "serve.json");
  const info = await look(file);
  if (info === undefined) {
    return undefined;
  }
  if (!info.isFile()) {
    throw new UntrustedError(`${file}: want a file, found something else`);
  }
  mine(file, info);
  let text: string;
  try {
    const handle = await open(file, "r");
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(maxWhere + 1), 0, maxWhere + 1, 0);
      text = buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined; // it was removed just now
  }
  return text.length > maxWhere ? undefined : parseWhere(text);
}

/** Reads what a server says about itself; undefined where it says nothing of use. */
export function parseWhere(text: string): Where | undefined {
  let v: Record<string, unknown>;
  try {
    v = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (typeof v !== "object" || v === null || typeof v["url"] !== "string") {
    return undefined;
  }
  const of = (name: string): string => (typeof v[name] === "string" ? (v[name] as string) : "");
  const socket = of("socket");
  return {
    url: of("url"), page: of("page"), secret: of("secret"),
    socket: socket !== "" && path.isAbsolute(socket) ? socket : undefined,
    key: of("key") || undefined,
    private: v["private"] === true,
  };
}

/**
 * The way to a server of a home: its socket, which must be of this user, or its port. A port may belong to another program by now,
 * so the server there must show that it wrote the file. Undefined: nothing is there. Errors: untrusted.
 */
export async function endpointOf(w: Where, token: string | undefined, ca: string | undefined, signal: AbortSignal): Promise<Endpoint | undefined> {
  if (w.socket !== undefined) {
    return (await checkSocket(w.socket)) ? socketEndpoint(w.socket, token) : undefined;
  }
  if (w.url.startsWith("unix://") || w.page === "") {
    return undefined;
  }
  const endpoint = urlEndpoint(w.url, token ?? (w.private ? w.key : undefined), ca);
  return (await prove(w, endpoint, signal)) ? endpoint : undefined;
}

/** Checks that a socket, and the folder it is in, belong to this user alone. False: there is none. */
async function checkSocket(socket: string): Promise<boolean> {
  const folder = path.dirname(socket);
  const [at, above] = await Promise.all([look(socket), look(folder)]);
  if (at === undefined || above === undefined) {
    return false;
  }
  if (!at.isSocket() || !above.isDirectory()) {
    throw new UntrustedError(`${socket}: want a socket in a folder, found something else`);
  }
  mine(folder, above);
  mine(socket, at);
  return true;
}

async function look(file: string): Promise<Stats | undefined> {
  try {
    return await lstat(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return undefined;
    }
    throw new UntrustedError(`${file} cannot be looked at: ${code ?? message}`, { cause });
  }
}

/** Checks that a file is of this user, and that no other can reach it. */
function mine(file: string, info: Stats): void {
  const user = process.getuid?.();
  if (user === undefined) {
    return; // Windows has no such modes; the folder of a user is closed to others
  }
  if (info.uid !== user) {
    throw new UntrustedError(`${file} belongs to user ${info.uid}, want user ${user}, who runs this program`);
  }
  if ((info.mode & 0o077) !== 0) {
    throw new UntrustedError(`${file} has mode ${(info.mode & 0o777).toString(8)}, want nothing for others`, { hint: `chmod go= ${file}` });
  }
}

/** Asks a server whether it wrote the file. The token is not shown before that. */
async function prove(w: Where, endpoint: Endpoint, signal: AbortSignal): Promise<boolean> {
  const challenge = randomBytes(16).toString("hex");
  const r = { id: "find server", method: "GET", path: `/ui/-/proof?challenge=${challenge}`, headers: {}, body: null, repeatable: true, long: false };
  try {
    const bare = { ...endpoint, token: undefined };
    const response = await exchange(bare, r, { accept: "*/*", apart: true, goesOn: false }, signal);
    const answer = await readAll(bare, response, maxWhere, signal);
    const want = Buffer.from(createHmac("sha256", w.secret).update(challenge).digest("hex"));
    return w.secret !== "" && response.statusCode === 200 && answer.length === want.length && timingSafeEqual(answer, want);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
