/**
 * The text of a key file: base64 between two lines that say what it is.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { KeyFileError } from "../../errors/encryption_error.ts";
import { decodeBase64 } from "../../types/base64.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const BEGIN = "-----BEGIN MEGOLM SESSION DATA-----";
const END = "-----END MEGOLM SESSION DATA-----";

/** The bytes of a line, which are 96 characters, as Element writes them. */
const LINE_BYTES = 72;

/** Writes the text, as its bytes come. */
export class ArmorWriter {
  #rest: Bytes = new Uint8Array();
  #begun = false;

  /** Adds bytes; returns the lines that are full. */
  add(bytes: Uint8Array): Bytes {
    const all = concat([this.#rest, bytes]);
    const full = all.length - all.length % LINE_BYTES;
    this.#rest = all.slice(full);
    return this.#lines(all.subarray(0, full));
  }

  /** Returns the rest of the text. */
  end(): Bytes {
    return concat([this.#lines(this.#rest), new TextEncoder().encode(`${END}\n`)]);
  }

  #lines(bytes: Bytes): Bytes {
    const lines = this.#begun ? [] : [BEGIN];
    this.#begun = true;
    for (let start = 0; start < bytes.length; start += LINE_BYTES) {
      lines.push(bytes.subarray(start, start + LINE_BYTES).toBase64());
    }
    return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  }
}

/**
 * Reads the text, whatever stands before its first line and behind its last.
 *
 * @param blocks The text as bytes; the first block has the first line.
 * @returns The bytes in it, in parts.
 * @throws {KeyFileError} If it is no such text, cut off, or no base64.
 */
export async function* readArmor(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes> {
  const decoder = new TextDecoder("latin1"); // one character for each byte; what is not ASCII is no base64
  let text = "";
  let isInside = false;
  for await (const block of blocks) {
    text += decoder.decode(block);
    if (!isInside) {
      const start = text.indexOf(BEGIN);
      if (start < 0) throw unusable("it is none; use what was exported as one, from its first line on");
      text = text.slice(start + BEGIN.length);
      isInside = true;
    }
    const end = text.indexOf("-"); // which is not in base64
    const clean = (end < 0 ? text : text.slice(0, end)).replaceAll(/\s+/g, "");
    const whole = end < 0 ? clean.length - clean.length % 4 : clean.length;
    const bytes = decodeBase64(clean.slice(0, whole));
    if (bytes === undefined) throw damaged();
    yield bytes;
    text = clean.slice(whole) + (end < 0 ? "" : text.slice(end));
    if (end >= 0 && text.length >= END.length) {
      if (text.startsWith(END)) return;
      throw damaged();
    }
  }
  throw unusable("its end is missing; get all of it");
}

/** The error for a file that is not as it was written. */
export function damaged(): KeyFileError {
  return unusable("it is damaged; get it again from where it was made");
}

/** The error for a file that can't be used. */
export function unusable(why: string): KeyFileError {
  return new KeyFileError(`Cannot import the key file: ${why}`, { problem: "format" });
}
