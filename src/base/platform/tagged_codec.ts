/**
 * What programs lack on some runtimes: plain data as bytes where there is no serialization of V8, as in Bun
 * and in browsers, by JSON with tags; and hexadecimal, base64 and maps that make what they lack, which Deno's
 * JavaScript has and Node 24's has not yet.
 *
 * What is plain data, structured clone decides: a program can't see what is a proxy.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";

/** The first byte, as of V8's, and one for this form: V8's versions are higher. */
const HEAD = Uint8Array.of(0xff, 0x00);

const VIEWS = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView],
  ...(globalThis.Float16Array === undefined ? [] : [Float16Array]), // which some browsers have not yet
] as const;
const ERRORS = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError] as const;

/** One value: a primitive, or a tag and what it takes; objects in it are numbers of others. */
type Node = readonly [tag: string, ...parts: unknown[]];

/**
 * Makes bytes.
 *
 * @throws {DOMException} If structured clone refuses the value.
 * @throws {TypeError} If it is of a kind that is not stored, such as a blob.
 */
export function serialize(value: unknown): Uint8Array {
  const numbers = new Map<object, number>();
  const nodes: Node[] = [];
  const add = (each: unknown): unknown => {
    if (typeof each === "string" || typeof each === "boolean" || each === null) return each;
    if (typeof each === "number" && Number.isFinite(each) && !Object.is(each, -0)) return each;
    if (typeof each === "number") return ["n", Object.is(each, -0) ? "-0" : String(each)];
    if (typeof each === "undefined") return ["u"];
    if (typeof each === "bigint") return ["i", String(each)];
    const object = each as object; // a clone has no functions and symbols
    let number = numbers.get(object);
    if (number === undefined) {
      number = nodes.length;
      numbers.set(object, number);
      nodes.push(["u"]);
      nodes[number] = nodeOf(object, add);
    }
    return [number];
  };
  const root = add(structuredClone(value));
  const text = new TextEncoder().encode(JSON.stringify([root, nodes]));
  return concat([HEAD, text]);
}

function nodeOf(value: object, add: (each: unknown) => unknown): Node {
  const entries = () =>
    Object.keys(value).map((name) => [name, add((value as Record<string, unknown>)[name])]);
  if (Array.isArray(value)) return ["a", value.length, entries()];
  if (value instanceof Map) return ["m", [...value].map(([key, each]) => [add(key), add(each)])];
  if (value instanceof Set) return ["s", [...value].map(add)];
  if (value instanceof Date) return ["d", add(value.getTime())];
  if (value instanceof RegExp) return ["r", value.source, value.flags];
  if (value instanceof ArrayBuffer) return ["b", new Uint8Array(value).toBase64()];
  if (ArrayBuffer.isView(value)) {
    const kind = VIEWS.findIndex((View) => value instanceof View);
    const { buffer, byteOffset, byteLength } = value;
    return ["v", kind, new Uint8Array(buffer, byteOffset, byteLength).toBase64()];
  }
  if (kindOf(value) === "Error") {
    const error = value as Error;
    const kind = Math.max(ERRORS.findIndex(({ name }) => name === error.name), 0);
    return ["e", kind, error.message, error.stack ?? "", add(error.cause)];
  }
  if (
    value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt
  ) {
    return ["o", add(value.valueOf())];
  }
  if (kindOf(value) !== "Object") throw new TypeError(`A value of the kind ${kindOf(value)} can't be cloned`);
  return ["p", entries()];
}

/** The kind of a clone, which has no tag of its own. */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Reads bytes of {@link serialize}. */
export function deserialize(bytes: Uint8Array): unknown {
  if (HEAD.some((byte, at) => bytes[at] !== byte)) throw new TypeError("It is of another form");
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(HEAD.length));
  const [root, nodes] = JSON.parse(text) as [unknown, Node[]];
  const made = new Map<number, object>();
  const get = (each: unknown): unknown => {
    if (!Array.isArray(each)) return each;
    const [tag, part] = each as [unknown, string];
    if (tag === "u") return undefined;
    if (tag === "i") return BigInt(part);
    if (tag === "n") return Number(part);
    const number = tag as number;
    const known = made.get(number);
    if (known !== undefined) return known;
    const node = nodes[number];
    if (node === undefined) throw new TypeError("It is damaged");
    return objectOf(node, get, (object) => made.set(number, object));
  };
  return get(root);
}

/** @param keep Gets the object before what is in it is made, which may be the object. */
function objectOf(
  [tag, first, second, third, fourth]: Node,
  get: (each: unknown) => unknown,
  keep: (object: object) => void,
): object {
  const kept = <Kind extends object>(object: Kind): Kind => (keep(object), object);
  const fill = <Kind extends object>(object: Kind, entries: unknown): Kind => {
    for (const [name, each] of entries as [string, unknown][]) {
      const value = get(each);
      Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
    }
    return object;
  };
  switch (tag) {
    case "a":
      return fill(kept(new Array(first as number)), second);
    case "p":
      return fill(kept({}), first);
    case "m": {
      const map = kept(new Map<unknown, unknown>());
      for (const [key, each] of first as [unknown, unknown][]) map.set(get(key), get(each));
      return map;
    }
    case "s": {
      const set = kept(new Set<unknown>());
      for (const each of first as unknown[]) set.add(get(each));
      return set;
    }
    case "d":
      return kept(new Date(get(first) as number));
    case "r":
      return kept(new RegExp(first as string, second as string));
    case "b":
      return kept(Uint8Array.fromBase64(first as string).buffer);
    case "v": {
      const View = VIEWS[first as number];
      if (View === undefined) throw new TypeError("It is damaged");
      const Kind = View as new (buffer: ArrayBuffer) => ArrayBufferView; // each takes one
      return kept(new Kind(Uint8Array.fromBase64(second as string).buffer));
    }
    case "e": {
      const error = kept(new (ERRORS[first as number] ?? Error)(second as string));
      Object.defineProperty(error, "stack", { value: third, writable: true, configurable: true });
      const cause = get(fourth); // it may be the error
      return cause === undefined
        ? error
        : Object.defineProperty(error, "cause", { value: cause, writable: true, configurable: true });
    }
    case "o":
      return kept(Object(get(first)) as object);
    default:
      throw new TypeError("It is damaged");
  }
}

type Options = { alphabet?: "base64" | "base64url"; omitPadding?: boolean; lastChunkHandling?: string };

const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const ALPHABETS = { base64: STANDARD, base64url: STANDARD.replace("+/", "-_") };
/** More arguments than a call takes would be too many. */
const STEP = 0x2000;

function toHex(this: Uint8Array): string {
  return Array.from(this, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || /[^\da-f]/i.test(text)) throw new SyntaxError("It is not hexadecimal");
  return Uint8Array.from(
    { length: text.length / 2 },
    (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16),
  );
}

function toBase64(this: Uint8Array, { alphabet = "base64", omitPadding = false }: Options = {}): string {
  let binary = "";
  for (let at = 0; at < this.length; at += STEP) {
    binary += String.fromCharCode(...this.subarray(at, at + STEP));
  }
  const text = btoa(binary);
  const padded = omitPadding ? text.replace(/={1,2}$/, "") : text;
  return alphabet === "base64" ? padded : padded.replaceAll("+", "-").replaceAll("/", "_");
}

function fromBase64(
  text: string,
  { alphabet = "base64", lastChunkHandling = "loose" }: Options = {},
): Uint8Array {
  const letters = ALPHABETS[alphabet];
  const content = text.replace(/[\t\n\f\r ]/g, "");
  const bare = content.replace(/={1,2}$/, "");
  const spare = bare.length % 4;
  const isWhole = content.length === bare.length
    ? spare === 0 || (lastChunkHandling === "loose" && spare !== 1)
    : content.length % 4 === 0;
  const strays = [0, 0, 0b1111, 0b11][spare] ?? 0;
  const last = letters.indexOf(bare.at(-1) ?? "");
  if (
    !isWhole || [...bare].some((letter) => !letters.includes(letter)) ||
    (lastChunkHandling === "strict" && (last & strays) !== 0)
  ) throw new SyntaxError("It is not base64");
  const binary = atob(bare.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

function add(target: object, functions: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(functions)) {
    if (!(name in target)) Object.defineProperty(target, name, { value, writable: true, configurable: true });
  }
}

type AnyMap = Pick<Map<unknown, unknown>, "has" | "get" | "set">;

function getOrInsert(this: AnyMap, key: unknown, value: unknown): unknown {
  if (!this.has(key)) this.set(key, value);
  return this.get(key);
}

function getOrInsertComputed(this: AnyMap, key: unknown, make: (key: unknown) => unknown): unknown {
  if (!this.has(key)) this.set(key, make(key));
  return this.get(key);
}

/** Adds what is not there. */
export function addNewerLanguage(bytes: typeof Uint8Array = Uint8Array): void {
  add(bytes.prototype, { toHex, toBase64 });
  add(bytes, { fromHex, fromBase64 });
  for (const { prototype } of [Map, WeakMap]) add(prototype, { getOrInsert, getOrInsertComputed });
}
