/**
 * What Deno's JavaScript has and Node 24's has not yet: hexadecimal and base64 of bytes, and maps that make what they
 * lack.
 *
 * A file of its own because Deno has all of it.
 *
 * @module
 */

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
