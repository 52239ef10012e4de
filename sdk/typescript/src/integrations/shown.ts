// How the memory tool shows notes and folders: as the Anthropic SDK's own tool on files does.
import { InvalidError } from "../errors.js";
import type { Note } from "../generated/models.js";
import { fileName } from "./paths.js";

/** The most bytes of a view; view_range reads the rest. */
const viewBytes = 32 << 10;
const snippetBytes = 8 << 10;
const mostLines = 999_999;

/** A text of at most so many bytes, cut between two characters. */
export function clip(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) {
    return text;
  }
  let end = most;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) {
    end--;
  }
  return bytes.subarray(0, end).toString() + "…";
}

/** The lines of a text. Behind its last line break is one more, which is empty. */
export function linesOf(text: string): string[] {
  return text.split("\n");
}

/** The number of the line that a place in a text is in. */
export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

function numbered(line: number, text: string): string {
  return `${String(line).padStart(6)}\t${text}`;
}

/** A note with the numbers of its lines. */
export function viewNote(path: string, content: string, range: readonly number[] | null | undefined): string {
  const lines = linesOf(content);
  if (lines.length > mostLines) {
    throw new InvalidError(`File ${path} has too many lines (${lines.length}). Maximum is 999,999 lines.`);
  }
  const [first, last] = span(range ?? [], lines.length);
  const out = [`Here's the content of ${path} with line numbers:`];
  let size = Buffer.byteLength(out[0] as string);
  for (let i = first; i <= last; i++) {
    const line = lines[i - 1] as string;
    if (size + Buffer.byteLength(line) > viewBytes && i > first) {
      out.push(`[cut: call again with view_range [${i}, -1]]`);
      break;
    }
    const shown = numbered(i, clip(line, viewBytes));
    out.push(shown);
    size += Buffer.byteLength(shown) + 1;
  }
  return out.join("\n");
}

function span(range: readonly number[], count: number): [number, number] {
  if (!Array.isArray(range) || (range.length !== 0 && range.length !== 2) || !range.every(Number.isSafeInteger)) {
    throw badRange();
  }
  if (range.length === 0) {
    return [1, count];
  }
  const last = range[1] as number;
  const first = Math.max(1, range[0] as number);
  if (last !== -1 && last < first) {
    throw badRange();
  }
  if (first > count) {
    throw new InvalidError(`view_range begins at line ${first}, there are ${count}`);
  }
  return [first, last === -1 ? count : Math.min(last, count)];
}

function badRange(): InvalidError {
  return new InvalidError("view_range is the first and the last line, as in [1, 10] or [11, -1]");
}

interface Folder {
  bytes: number;
  inside: Map<string, Folder>;
}

/** What is in a folder, two levels deep, folders with what they hold in all. Names of notes are as seen from the root. */
export function viewFolder(path: string, dir: string, notes: readonly Pick<Note, "name" | "bytes">[]): string {
  const top: Folder = { bytes: 0, inside: new Map() };
  for (const { name, bytes } of notes) {
    let at = top;
    top.bytes += bytes;
    const parts = fileName(name).slice(dir === "" ? 0 : dir.length + 1).split("/");
    for (const [i, part] of parts.slice(0, 2).entries()) {
      const shown = i < parts.length - 1 ? part + "/" : part;
      const next = at.inside.get(shown) ?? { bytes: 0, inside: new Map() };
      next.bytes += bytes;
      at.inside.set(shown, next);
      at = next;
    }
  }
  const entries = listed(top, path + "/");
  const out = [`Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`, `${human(top.bytes)}\t${path}`];
  let size = Buffer.byteLength(out.join("\n"));
  for (const [i, entry] of entries.entries()) {
    if (size > viewBytes) {
      out.push(`[cut: ${entries.length - i} more; view a folder inside]`);
      break;
    }
    out.push(entry);
    size += Buffer.byteLength(entry) + 1;
  }
  return out.join("\n");
}

/** The entries of a folder, each folder before what is in it. */
function listed(folder: Folder, above: string): string[] {
  const bare = (name: string): string => name.replace(/\/$/, "");
  return [...folder.inside]
    .filter(([name]) => bare(name) !== "node_modules")
    .sort(([a], [b]) => (bare(a) < bare(b) ? -1 : 1))
    .flatMap(([name, inside]) => [`${human(inside.bytes)}\t${above}${name}`, ...listed(inside, above + name)]);
}

/** A size in the largest unit. */
function human(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(3, Math.floor(Math.log(bytes) / Math.log(1024)));
  const size = bytes / 1024 ** unit;
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${"BKMG"[unit]}`;
}

/** The lines from one place of a text to another, and two around them. */
export function snippet(content: string, start: number, end: number): string {
  const lines = linesOf(content);
  const out: string[] = [];
  let size = 0;
  const last = Math.min(lines.length, lineAt(content, end) + 2);
  for (let i = Math.max(1, lineAt(content, start) - 2); i <= last && size < snippetBytes; i++) {
    const shown = numbered(i, clip(lines[i - 1] as string, snippetBytes));
    out.push(shown);
    size += Buffer.byteLength(shown) + 1;
  }
  return out.join("\n");
}
