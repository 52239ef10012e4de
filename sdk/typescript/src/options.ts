import { readFileSync, statSync } from "node:fs";
import path from "node:path";

import { type Place, Remote, urlEndpoint } from "./endpoint.js";
import { InvalidError, NotFoundError } from "./errors.js";
import { defaultHome } from "./home.js";
import type { Identity } from "./identity.js";
import { Home } from "./place.js";

/** What a client is told. Without any of it, it uses the server of $AMBER_REMOTE, else that of the home, which it starts where there is none. */
export interface AmberOptions extends Identity {
  /** The address of a server, as https://memory.example.org. Default: $AMBER_REMOTE. */
  url?: string | undefined;
  /** The token to show. */
  token?: string | undefined;
  /** A file with the token. Default for a server of $AMBER_REMOTE or url: $AMBER_TOKEN_FILE. */
  tokenFile?: string | undefined;
  /** A PEM file with the certificates to trust, or its text. Default: $AMBER_REMOTE_CA, else those of Node. */
  ca?: string | undefined;
  /** The folder of the home, instead of a server elsewhere. Default: $AMBER_HOME, else ~/.local/share/amber. */
  home?: string | undefined;
  /** Default: $AMBER_TENANT, else default. */
  tenant?: string | undefined;
  /** Default: $AMBER_AGENT, else default. The first write makes an agent. */
  agent?: string | undefined;
  /** The program amber. Default: $AMBER_BINARY, else that of the package for this platform, else that of $PATH. */
  binary?: string | undefined;
  /** How long a call may take with all its repetitions. Default: 2 minutes, 65 minutes for what takes long. */
  timeoutMs?: number | undefined;
  /** For how many seconds a request is repeated while the server is busy or away. Default: 30. */
  retryFor?: number | undefined;
  /** Whether a private server is started where none serves the home. Default: true. */
  startServer?: boolean | undefined;
}

const maxToken = 4096;
const maxCA = 1 << 20;
const names = new Set([
  "url", "token", "tokenFile", "ca", "home", "tenant", "agent", "binary", "timeoutMs", "retryFor", "startServer", "user_id", "project_id", "session_id", "workspace_id",
]);

/**
 * Checks that every option is known.
 * @internal
 */
export function checkOptions(o: object, known: ReadonlySet<string> = names): void {
  for (const name of Object.keys(o)) {
    if (!known.has(name)) {
      throw new InvalidError(`there is no option ${JSON.stringify(name)}`, { hint: `want one of ${[...known].join(", ")}` });
    }
  }
}

/**
 * Where the server is that the options and the environment name. It touches no network. Errors: invalid, not_found, refused.
 * @internal
 */
export function placeOf(o: AmberOptions, env: NodeJS.ProcessEnv): Place {
  if (o.url !== undefined && o.home !== undefined) {
    throw new InvalidError("the options url and home name two servers, want one of them");
  }
  const url = o.url ?? (o.home === undefined ? env["AMBER_REMOTE"] || undefined : undefined);
  if (url === undefined) {
    const ca = o.ca === undefined ? undefined : certificates(o.ca);
    const home = o.home === undefined ? defaultHome(env) : path.resolve(o.home);
    return new Home({ home, binary: o.binary, token: tokenOf(o, undefined), ca, start: o.startServer ?? true });
  }
  const ca = o.ca ?? (env["AMBER_REMOTE_CA"] || undefined);
  return new Remote(urlEndpoint(url, tokenOf(o, env["AMBER_TOKEN_FILE"] || undefined), ca === undefined ? undefined : certificates(ca)));
}

function tokenOf(o: AmberOptions, usual: string | undefined): string | undefined {
  const file = o.tokenFile ?? (o.token === undefined ? usual : undefined);
  if (o.token !== undefined && o.tokenFile !== undefined) {
    throw new InvalidError("the options token and tokenFile are both given, want one of them");
  }
  const token = file === undefined ? o.token : readBounded(file, maxToken).trim();
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new InvalidError(`the token${file === undefined ? "" : " in " + file} is empty or has characters that are not valid`);
  }
  return token;
}

function certificates(given: string): string {
  const text = given.includes("-----BEGIN") ? given : readBounded(given, maxCA);
  if (!text.includes("-----BEGIN CERTIFICATE-----")) {
    throw new InvalidError("ca: the file has no certificate in PEM");
  }
  return text;
}

function readBounded(file: string, most: number): string {
  try {
    const info = statSync(file);
    if (!info.isFile() || info.size > most) {
      throw new InvalidError(`${file}: want a file of at most ${most} bytes`);
    }
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof InvalidError) {
      throw cause;
    }
    const { code, message } = cause as NodeJS.ErrnoException;
    throw code === "ENOENT" ? new NotFoundError(`${file}: there is no such file`) : new InvalidError(`${file}: ${code ?? message}`, { cause });
  }
}
