/**
 * The memory tool of Claude on the notes of Amber, for the Anthropic SDK:
 *
 *     const memory = betaMemoryTool(memoryHandlers(amber));
 *     await anthropic.beta.messages.toolRunner({ ..., tools: [memory] });
 */
import type { Amber } from "../client.js";
import { AmberError, ConflictError, InvalidError, NotFoundError, RefusedError } from "../errors.js";
import type { Note } from "../generated/models.js";
import { checkedName, noteName } from "./paths.js";
import { clip, lineAt, linesOf, snippet, viewFolder, viewNote } from "./shown.js";

export interface ViewCommand {
  command: "view";
  path: string;
  view_range?: number[];
}

export interface CreateCommand {
  command: "create";
  path: string;
  file_text: string;
}

export interface StrReplaceCommand {
  command: "str_replace";
  path: string;
  old_str: string;
  new_str: string;
}

export interface InsertCommand {
  command: "insert";
  path: string;
  insert_line: number;
  insert_text: string;
}

export interface DeleteCommand {
  command: "delete";
  path: string;
}

export interface RenameCommand {
  command: "rename";
  old_path: string;
  new_path: string;
}

/** What `betaMemoryTool` of the Anthropic SDK is given. */
export interface MemoryHandlers {
  view(command: ViewCommand): Promise<string>;
  create(command: CreateCommand): Promise<string>;
  str_replace(command: StrReplaceCommand): Promise<string>;
  insert(command: InsertCommand): Promise<string>;
  delete(command: DeleteCommand): Promise<string>;
  rename(command: RenameCommand): Promise<string>;
}

export interface MemoryToolOptions {
  /**
   * The folder of notes that the model sees as /memories, as in `users/ada`; it sees nothing outside of it. The default is all notes of
   * the agent.
   */
  folder?: string | undefined;
}

/** The most bytes of a text that an error repeats. */
const errorBytes = 2000;
const mostFound = 100;

/** How often a change is sent of which a crash of the server leaves open whether it was done. */
const attempts = 5;

/**
 * Handlers of the memory tool. Notes belong to an agent and have no user, whatever the client is bound to: give each user a folder, or an
 * agent, where they must not read each other's.
 *
 * What the model did wrong is an AmberError whose message is meant for it.
 */
export function memoryHandlers(client: Amber, options: MemoryToolOptions = {}): MemoryHandlers {
  const folder = new Folder(client, options.folder === undefined ? "" : checkedName(options.folder) + "/");
  // One command at a time, as each looks before it writes. What two programs change at one moment is a conflict.
  let last: Promise<unknown> = Promise.resolve();
  const alone = (work: () => Promise<string>): Promise<string> => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
  return {
    view: (c) => alone(() => folder.view(c)),
    create: (c) => alone(() => folder.create(c)),
    str_replace: (c) => alone(() => folder.replace(c)),
    insert: (c) => alone(() => folder.insert(c)),
    delete: (c) => alone(() => folder.remove(c)),
    rename: (c) => alone(() => folder.rename(c)),
  };
}

/** Notes as files below /memories. Names are as the model sees them. */
class Folder {
  readonly #client: Amber;
  readonly #above: string;

  constructor(client: Amber, above: string) {
    this.#client = client;
    this.#above = above;
  }

  async view(c: ViewCommand): Promise<string> {
    const name = noteName(c.path);
    const note = await this.#find(name);
    if (note !== undefined) {
      return viewNote(c.path, note.content, c.view_range);
    }
    const inside = await this.#below(name);
    if (name !== "" && inside.length === 0) {
      throw new NotFoundError(`The path ${c.path} does not exist. Please provide a valid path.`);
    }
    return viewFolder(c.path.replace(/\/$/, ""), name, inside);
  }

  async create(c: CreateCommand): Promise<string> {
    const text = textOf("file_text", c.file_text);
    const name = noteName(c.path);
    if (name === "") {
      throw new InvalidError("path is the folder itself");
    }
    await this.#free(name, `File ${c.path} already exists`);
    await this.#write(name, text);
    return `File created successfully at: ${c.path}`;
  }

  async replace(c: StrReplaceCommand): Promise<string> {
    const note = await this.#read(c.path, `The path ${c.path} does not exist. Please provide a valid path.`);
    const old = textOf("old_str", c.old_str);
    const put = c.new_str === undefined || c.new_str === null ? "" : textOf("new_str", c.new_str);
    if (old === "") {
      throw new InvalidError("old_str is missing");
    }
    const found = occurrences(note.content, old);
    if (found.length === 0) {
      throw new InvalidError(`No replacement was performed, old_str \`${clip(old, errorBytes)}\` did not appear verbatim in ${c.path}.`);
    }
    if (found.length > 1) {
      const lines = found.map((at) => lineAt(note.content, at)).join(", ");
      throw new InvalidError(`No replacement was performed. Multiple occurrences of old_str \`${clip(old, errorBytes)}\` in lines: ${lines}. Please ensure it is unique`);
    }
    const at = found[0] as number;
    const content = note.content.slice(0, at) + put + note.content.slice(at + old.length);
    await this.#write(noteName(c.path), content, note);
    return `The memory file has been edited.\n${snippet(content, at, at + put.length)}`;
  }

  async insert(c: InsertCommand): Promise<string> {
    const note = await this.#read(c.path, `The path ${c.path} does not exist`);
    const text = textOf("insert_text", c.insert_text);
    if (!Number.isSafeInteger(c.insert_line)) {
      throw new InvalidError("insert_line is missing, or not a whole number");
    }
    const lines = linesOf(note.content);
    if (c.insert_line < 0 || c.insert_line > lines.length) {
      throw new InvalidError(`Invalid \`insert_line\` parameter: ${c.insert_line}. It should be within the range of lines of the file: [0, ${lines.length}]`);
    }
    lines.splice(c.insert_line, 0, text.replace(/\n$/, ""));
    await this.#write(noteName(c.path), lines.join("\n") + "\n", note);
    return `The file ${c.path} has been edited.`;
  }

  /** Deletes a note, or a folder with everything in it. */
  async remove(c: DeleteCommand): Promise<string> {
    const name = noteName(c.path);
    if (name === "") {
      throw new RefusedError("the root folder of notes cannot be deleted");
    }
    for (const one of await this.#meant(name, `The path ${c.path} does not exist`)) {
      await this.#delete(one);
    }
    return `Successfully deleted ${c.path}`;
  }

  /** Writes every note under its new name before it deletes one: whatever interrupts it, nothing is lost. */
  async rename(c: RenameCommand): Promise<string> {
    const from = noteName(c.old_path);
    const to = noteName(c.new_path);
    if (from === "" || to === "" || to.startsWith(from + "/")) {
      throw new InvalidError("a folder cannot be moved into itself");
    }
    const found = await this.#meant(from, `The path ${c.old_path} does not exist`);
    await this.#free(to, `The destination ${c.new_path} already exists`);
    const moved = found.map((name) => checkedName(to + name.normalize("NFC").slice(from.length)));
    for (const [i, name] of found.entries()) {
      const { content } = await this.#client.note.get(this.#above + name);
      await this.#write(moved[i] as string, content);
    }
    for (const name of found) {
      await this.#delete(name);
    }
    return `Successfully renamed ${c.old_path} to ${c.new_path}`;
  }

  /** The note of a name, if there is one. */
  async #find(name: string): Promise<Note | undefined> {
    return name === "" ? undefined : orNothing(this.#client.note.get(checkedName(this.#above + name)));
  }

  async #read(path: string, missing: string): Promise<Note> {
    const note = await this.#find(noteName(path));
    if (note === undefined) {
      throw new NotFoundError(missing);
    }
    return note;
  }

  /** The notes in a folder, by the names that the model sees. */
  async #below(dir: string): Promise<{ name: string; bytes: number }[]> {
    const start = this.#above + (dir === "" ? "" : dir + "/");
    const { items } = await this.#client.note.list();
    return items.filter((n) => n.name.normalize("NFC").startsWith(start)).map(({ name, bytes }) => ({ name: name.normalize("NFC").slice(this.#above.length), bytes }));
  }

  /** The notes that a name stands for: one note, or those of a folder. */
  async #meant(name: string, missing: string): Promise<string[]> {
    if ((await this.#find(name)) !== undefined) {
      return [name];
    }
    const inside = await this.#below(name);
    if (inside.length === 0) {
      throw new NotFoundError(missing);
    }
    return inside.map((n) => n.name);
  }

  /** Checks that neither a note nor a folder has a name. */
  async #free(name: string, taken: string): Promise<void> {
    if ((await this.#find(name)) !== undefined || (await this.#below(name)).length > 0) {
      throw new ConflictError(taken);
    }
  }

  /**
   * Writes a note, over another one only if it is still as it was. Where a crash of the server leaves open whether that was done, the note
   * itself tells: it has the text, or it is as before and is written again.
   */
  async #write(name: string, content: string, over?: Note): Promise<void> {
    const whole = checkedName(this.#above + name);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#client.note.write(whole, { content, if_match: over?.commit });
        return;
      } catch (error) {
        if (!(error instanceof ConflictError)) {
          throw error;
        }
        const stored = await orNothing(this.#client.note.get(whole));
        if (stored?.content === content) {
          return;
        }
        if (stored?.commit !== over?.commit || attempt === attempts) {
          throw error;
        }
      }
    }
  }

  /** Deletes a note; one that is gone is no error. */
  async #delete(name: string): Promise<void> {
    const whole = checkedName(this.#above + name);
    for (let attempt = 1; ; attempt++) {
      try {
        await orNothing(this.#client.note.delete(whole));
        return;
      } catch (error) {
        if (!(error instanceof ConflictError) || attempt === attempts) {
          throw error;
        }
      }
    }
  }
}

async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof AmberError && error.kind === "not_found") {
      return undefined;
    }
    throw error;
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new InvalidError(`${name} is missing, or not a text`);
  }
  return value;
}

/** Where a text begins in another, places that overlap too. */
function occurrences(content: string, old: string): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(old); at >= 0 && found.length < mostFound; at = content.indexOf(old, at + 1)) {
    found.push(at);
  }
  return found;
}
