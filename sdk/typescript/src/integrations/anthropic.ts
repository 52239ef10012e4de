/**
 * The memory tool of Claude on the notes of Amber, for the Anthropic SDK:
 *
 *     const memory = betaMemoryTool(memoryHandlers(amber));
 *     await anthropic.beta.messages.toolRunner({ ..., tools: [memory] });
 */
import type { Amber } from "../client.js";
import { ConflictError, InvalidError, NotFoundError, RefusedError } from "../errors.js";
import type { Note } from "../generated/models.js";
import { checkedName, noteOf, type Place, placeOf, root } from "./paths.js";
import { orNothing } from "./stored.js";
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
    const { note, folder } = placeOf(c.path);
    const inside = await this.#below(folder);
    if (folder === "" || inside.length > 0) {
      return viewFolder(c.path.replace(/\/$/, ""), folder, inside);
    }
    const found = await this.#find(note);
    if (found === undefined) {
      throw new NotFoundError(`The path ${c.path} does not exist. Please provide a valid path.`);
    }
    return viewNote(c.path, found.content, c.view_range);
  }

  async create(c: CreateCommand): Promise<string> {
    const text = textOf("file_text", c.file_text);
    const place = placeOf(c.path);
    await this.#free(place, c.path, `File ${c.path} already exists`);
    await this.#write(place.note, text);
    return `File created successfully at: ${c.path}`;
  }

  async replace(c: StrReplaceCommand): Promise<string> {
    const note = await this.#read(c.path);
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
    await this.#write(placeOf(c.path).note, content, note);
    return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet(content, at, at + put.length)}`;
  }

  async insert(c: InsertCommand): Promise<string> {
    const note = await this.#read(c.path);
    const text = textOf("insert_text", c.insert_text);
    if (!Number.isSafeInteger(c.insert_line)) {
      throw new InvalidError("insert_line is missing, or not a whole number");
    }
    const lines = linesOf(note.content);
    if (c.insert_line < 0 || c.insert_line > lines.length) {
      throw new InvalidError(`Invalid \`insert_line\` parameter: ${c.insert_line}. It should be within the range of lines of the file: [0, ${lines.length}]`);
    }
    lines.splice(c.insert_line, 0, text.replace(/\n$/, ""));
    await this.#write(placeOf(c.path).note, lines.join("\n"), note);
    return `The file ${c.path} has been edited.`;
  }

  /** Deletes a note, or a folder with everything in it. */
  async remove(c: DeleteCommand): Promise<string> {
    const place = placeOf(c.path);
    if (place.folder === "") {
      throw new RefusedError(`Cannot delete the ${root} directory itself`);
    }
    for (const [name] of await this.#meant(place, `The path ${c.path} does not exist`)) {
      await this.#delete(name);
    }
    return `Successfully deleted ${c.path}`;
  }

  /** Writes every note under its new name before it deletes one: whatever interrupts it, nothing is lost. */
  async rename(c: RenameCommand): Promise<string> {
    const from = placeOf(c.old_path);
    const to = placeOf(c.new_path);
    if (from.folder === "") {
      throw new RefusedError(`Cannot rename the ${root} directory itself`);
    }
    await this.#free(to, c.new_path, `The destination ${c.new_path} already exists`);
    const found = await this.#meant(from, `The path ${c.old_path} does not exist`);
    if (to.folder.startsWith(from.folder + "/") && found.every(([, inside]) => inside !== "")) {
      throw new InvalidError("a folder cannot be moved into itself");
    }
    const moved = found.map(([, inside]) => (inside === "" ? to.note : checkedName(to.folder + inside)));
    for (const [i, [name]] of found.entries()) {
      const { content } = await this.#client.note.get(this.#above + name);
      await this.#write(moved[i] as string, content);
    }
    for (const [name] of found) {
      await this.#delete(name);
    }
    return `Successfully renamed ${c.old_path} to ${c.new_path}`;
  }

  /** The note of a name, if there is one. Inside of a file there is none. */
  async #find(name: string): Promise<Note | undefined> {
    if (name === "") {
      return undefined;
    }
    const whole = checkedName(this.#above + name);
    try {
      return await orNothing(this.#client.note.get(whole));
    } catch (error) {
      if (error instanceof ConflictError) {
        return undefined;
      }
      throw error;
    }
  }

  async #read(path: string): Promise<Note> {
    const { note, folder } = placeOf(path);
    if (folder === "" || (await this.#below(folder)).length > 0) {
      throw new InvalidError(`The path ${path} is not a file.`);
    }
    const found = await this.#find(note);
    if (found === undefined) {
      throw new NotFoundError(`The path ${path} does not exist. Please provide a valid path.`);
    }
    return found;
  }

  /** The notes in a folder, by the names that the model sees. */
  async #below(dir: string): Promise<{ name: string; bytes: number }[]> {
    const start = this.#above + (dir === "" ? "" : dir + "/");
    const { items } = await this.#client.note.list();
    return items.filter((n) => n.name.normalize("NFC").startsWith(start)).map(({ name, bytes }) => ({ name: name.normalize("NFC").slice(this.#above.length), bytes }));
  }

  /** The notes that a place stands for: those of a folder, with where they are in it, or one note. */
  async #meant({ note, folder }: Place, missing: string): Promise<[name: string, inside: string][]> {
    const inside = await this.#below(folder);
    if (inside.length > 0) {
      return inside.map(({ name }) => [name, name.slice(folder.length)]);
    }
    if ((await this.#find(note)) === undefined) {
      throw new NotFoundError(missing);
    }
    return [[note, ""]];
  }

  /** Checks that neither a note nor a folder is at a place, and that no file is where its folder would be. */
  async #free({ note, folder }: Place, path: string, taken: string): Promise<void> {
    for (let end = folder.lastIndexOf("/"); end > 0; end = folder.lastIndexOf("/", end - 1)) {
      const above = noteOf(folder.slice(0, end));
      if (above !== undefined && (await this.#find(above)) !== undefined) {
        throw new ConflictError(`The path ${path} is inside of a file`);
      }
    }
    if (folder === "" || (await this.#find(note)) !== undefined || (await this.#below(folder)).length > 0) {
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
