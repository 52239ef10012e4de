// Where the program amber is.
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { UnreachableError } from "./errors.js";

const program = process.platform === "win32" ? "amber.exe" : "amber";

/** The program: that of the option, of $AMBER_BINARY, of the package for this platform, or of $PATH. Errors: unreachable. */
export function findBinary(option: string | undefined, env: NodeJS.ProcessEnv): string {
  const named = option ?? (env["AMBER_BINARY"] || undefined);
  if (named !== undefined) {
    return path.resolve(named);
  }
  const found = packaged() ?? onPath(env);
  if (found === undefined) {
    throw new UnreachableError(`the program amber was not found: neither the package ${packageName()} nor a folder of $PATH has it`, {
      hint: `npm install ${packageName()}, or set $AMBER_BINARY`,
    });
  }
  return found;
}

function packageName(): string {
  return `amber-memory-${process.platform}-${process.arch}`;
}

function packaged(): string | undefined {
  try {
    const about = createRequire(import.meta.url).resolve(`${packageName()}/package.json`);
    return runnable(path.join(path.dirname(about), "bin", program));
  } catch {
    return undefined;
  }
}

function onPath(env: NodeJS.ProcessEnv): string | undefined {
  for (const folder of (env["PATH"] ?? env["Path"] ?? "").split(path.delimiter)) {
    const found = path.isAbsolute(folder) ? runnable(path.join(folder, program)) : undefined;
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function runnable(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return file;
  } catch {
    return undefined;
  }
}
