// Paths of the memory tool, and the names of notes that they stand for.
import { posix } from "node:path";

import { InvalidError } from "../errors.js";

/** The folder that every path begins with. */
export const root = "/memories";

const longestName = 200;
const devices = /^(con|prn|aux|nul|com[1-9]|lpt[1-9])$/;

/** What a path may stand for. */
export interface Place {
  /** The name of the note there, "" for the root. A path with and without .md names the same note. */
  readonly note: string;
  /** The name of the folder there, "" for the root. */
  readonly folder: string;
}

/** What is at a path. */
export function placeOf(path: unknown): Place {
  if (typeof path !== "string") {
    throw new InvalidError("path is missing");
  }
  const rest = path.startsWith(root) ? path.slice(root.length) : undefined;
  if (rest === undefined || (rest !== "" && !rest.startsWith("/"))) {
    throw new InvalidError(`Path must start with ${root}, got: ${cut(path, 100)}`);
  }
  if (!`${posix.normalize(path)}/`.startsWith(root + "/")) {
    throw new InvalidError(`Path ${cut(path, 100)} would escape ${root} directory`);
  }
  const inside = rest.replace(/^\//, "").replace(/\/$/, "");
  return { note: inside === "" ? "" : checkedName(inside), folder: inside.normalize("NFC") };
}

/** The note whose file would have a name, as "plan" for plan.md; undefined where no file is shown by it. */
export function noteOf(file: string): string | undefined {
  return fileName(file) === file ? checkedName(file) : undefined;
}

/** The name of a note in the form that it is stored in. The rules are those of the server, so that a bad name is never sent. */
export function checkedName(given: string): string {
  const name = given.endsWith(".md") ? given.slice(0, -".md".length) : given;
  const fail = (why: string): never => {
    throw new InvalidError(`${quoted(name, 40)} ${why}`);
  };
  if (name === "") {
    return fail("is empty");
  }
  if (Buffer.byteLength(name) > longestName) {
    return fail(`is longer than ${longestName} bytes`);
  }
  if (/\p{Cs}/u.test(name)) {
    return fail("is not valid UTF-8");
  }
  for (const part of name.split("/")) {
    if (part === "" || part === "." || part === "..") {
      return fail("is not a plain relative path");
    }
    const why = badPart(part);
    if (why !== undefined) {
      return fail(why);
    }
  }
  return name.normalize("NFC");
}

function badPart(part: string): string | undefined {
  const bad = /[^\p{L}\p{M}\p{Nd} ._\-@+,]/u.exec(part);
  if (bad !== null) {
    return `contains ${JSON.stringify(bad[0])}`;
  }
  if (/^[. -]/.test(part)) {
    return "has an element that starts with a dot, a space or a dash";
  }
  if (/[. ]$/.test(part)) {
    return "has an element that ends with a dot or a space";
  }
  const folded = part.toLowerCase();
  return devices.test(folded.split(".")[0] as string) ? "is a device name on some systems" : undefined;
}

/** The name that a note is shown with. One without an extension gets the one that its file has. */
export function fileName(note: string): string {
  const base = note.slice(note.lastIndexOf("/") + 1);
  return base.includes(".") ? note : note + ".md";
}

function cut(text: string, most: number): string {
  const marks = [...text];
  return marks.length > most ? marks.slice(0, most).join("") + "…" : text;
}

function quoted(text: string, most: number): string {
  return JSON.stringify(cut(text, most));
}
