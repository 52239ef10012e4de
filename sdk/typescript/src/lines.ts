// Answers that are lines: one JSON document on each, or fields of server-sent events.
import { DamagedError } from "./errors.js";

/** Splits pieces into lines, which end with a line feed; the last one need not. A carriage return before it belongs to the end. */
export async function* splitLines(pieces: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    let from = 0;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      yield trimmed(Buffer.concat([...rest, bytes.subarray(from, at)]));
      rest = [];
      size = 0;
      from = at + 1;
    }
    if (from < bytes.length) {
      size += bytes.length - from;
      if (size > most) {
        throw new DamagedError(`a line of the answer is too long: it has more than ${most} bytes`);
      }
      rest.push(bytes.subarray(from));
    }
  }
  if (size > 0) {
    yield trimmed(Buffer.concat(rest));
  }
}

function trimmed(line: Buffer): Buffer {
  return line.length > 0 && line[line.length - 1] === 13 ? line.subarray(0, -1) : line;
}
