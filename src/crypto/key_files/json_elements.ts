/**
 * The elements of a JSON array, as its bytes come.
 *
 * Not a parser: it only finds where elements end, so that each is bounded before `JSON.parse()`
 * gets it, however large the array is.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { unusable } from "./armor.ts";

/** How long an element may be, in bytes: a session takes 700. */
const MAX_LENGTH = 65_536;
/** How deep an element may be. */
const MAX_DEPTH = 16;

const [QUOTE, BACKSLASH, COMMA, BEGIN, END] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d];
const OPEN: ReadonlySet<number> = new Set([BEGIN, 0x7b]);
const CLOSE: ReadonlySet<number> = new Set([END, 0x7d]);
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Splits a JSON array into its elements. */
export class JsonElements {
  /** How many brackets are open; the first is the array's. */
  #depth = 0;
  #string: "outside" | "inside" | "escaped" = "outside";
  #isOver = false;
  /** The beginning of the element that is read. */
  #parts: Uint8Array[] = [];
  #length = 0;
  #isGood = true;
  #count = 0;

  /**
   * Adds the next bytes.
   *
   * @returns The elements that end in them; undefined in place of one that is too long or too deep.
   * @throws {KeyFileError} If it is no array.
   */
  add(bytes: Uint8Array): (Uint8Array | undefined)[] {
    const found: (Uint8Array | undefined)[] = [];
    let start = 0;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number; // within the bounds
      if (this.#string !== "outside") this.#readString(byte);
      else if (this.#depth === 0) {
        if (this.#readOutside(byte)) start = index + 1;
      } else if (byte === QUOTE) this.#string = "inside";
      else if (OPEN.has(byte)) this.#isGood = ++this.#depth <= MAX_DEPTH && this.#isGood;
      else if (CLOSE.has(byte) && this.#depth > 1) this.#depth--;
      else if (byte === COMMA && this.#depth === 1) {
        found.push(this.#finish(bytes.subarray(start, index)));
        start = index + 1;
      } else if (CLOSE.has(byte)) {
        if (byte !== END) throw noArray();
        this.#depth = 0;
        this.#isOver = true;
        const last = this.#finish(bytes.subarray(start, index));
        const isEmpty = this.#count === 1 && last?.every((each) => SPACE.has(each)) === true;
        if (!isEmpty) found.push(last);
      }
    }
    if (this.#depth > 0) this.#keep(bytes.slice(start));
    return found;
  }

  /**
   * Says that no more bytes come.
   *
   * @throws {KeyFileError} If the array has not ended.
   */
  end(): void {
    if (!this.#isOver) throw noArray();
  }

  #readString(byte: number): void {
    if (this.#string === "escaped") this.#string = "inside";
    else if (byte === BACKSLASH) this.#string = "escaped";
    else if (byte === QUOTE) this.#string = "outside";
  }

  /** Reads what is around the array; whether it begins here. */
  #readOutside(byte: number): boolean {
    if (SPACE.has(byte)) return false;
    if (this.#isOver || byte !== BEGIN) throw noArray();
    this.#depth = 1;
    return true;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    this.#isGood &&= this.#length <= MAX_LENGTH;
    if (this.#isGood) this.#parts.push(part);
    else this.#parts = [];
  }

  #finish(part: Uint8Array): Uint8Array | undefined {
    this.#keep(part);
    const element = this.#isGood ? concat(this.#parts) : undefined;
    this.#parts = [];
    this.#length = 0;
    this.#isGood = true;
    this.#count++;
    return element;
  }
}

function noArray() {
  return unusable("its content is no list of keys; get it again from where it was made");
}
