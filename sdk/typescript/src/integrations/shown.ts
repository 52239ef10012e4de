// How the memory tool shows notes and folders, word for word as the server does to agent hosts.
import { InvalidError } from "../errors.js";
import type { Note } from "../generated/models.js";
import { fileName, root } from "./paths.js";

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

/** The lines of a text; the last one may lack its line break. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
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
    throw new InvalidError(`File ${path} exceeds maximum line limit of 999,999 lines.`);
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
  const [first, last] = range as unknown as [number, number];
  if (first < 1 || (last !== -1 && last < first)) {
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

/** What is in a folder, two levels deep, folders with what they hold in all. Names of notes are as seen from the root. */
export function viewFolder(path: string, dir: string, notes: readonly Pick<Note, "name" | "bytes">[]): string {
  const sizes = new Map<string, number>();
  let total = 0;
  for (const { name, bytes } of notes) {
    total += bytes;
    const parts = (dir === "" ? name : name.slice(dir.length + 1)).split("/");
    for (let depth = 1; depth <= Math.min(2, parts.length); depth++) {
      const inside = parts.slice(0, depth).join("/");
      const entry = depth === parts.length ? fileName(name) : `${root}/${dir === "" ? "" : dir + "/"}${inside}`;
      sizes.set(entry, (sizes.get(entry) ?? 0) + bytes);
    }
  }
  const entries = [...sizes].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const out = [`Here're the files and directories up to 2 levels deep in ${path}, excluding hidden items and node_modules:`, `${human(total)}\t${path}`];
  let size = Buffer.byteLength(out.join("\n"));
  for (const [i, [name, bytes]] of entries.entries()) {
    if (size > viewBytes) {
      out.push(`[cut: ${entries.length - i} more; view a folder inside]`);
      break;
    }
    out.push(`${human(bytes)}\t${name}`);
    size += Buffer.byteLength(out[out.length - 1] as string) + 1;
  }
  return out.join("\n");
}

/** A size as du tells it. */
function human(bytes: number): string {
  if (bytes < 1024) {
    return `${bytes}B`;
  }
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)}K` : `${(bytes / (1 << 20)).toFixed(1)}M`;
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
