/**
 * What a request has told, and must not be told by what is said of it: a server may repeat it in
 * its answer, what carries the request in its errors.
 *
 * It is found as it stands, escaped as in JSON and percent-encoded, in capitals or not, and in
 * part. What is hidden in another way by a server that wants to is not: it has it anyway.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../types/json.ts";

/** What stands in the place of a text that repeats something. */
const LEFT_OUT = "(left out: it repeats what was sent)";

/**
 * So many characters in a row of a credential are a repetition, or all if there are fewer; what has
 * fewer still is no secret.
 */
const CREDENTIAL = 8;
const MIN_CREDENTIAL = 4;

/** So many characters in a row of anything else. */
const TEXT = 16;

/** Members of a body in which all is a credential. */
const CREDENTIALS = /pass|token|secret|auth|private/i;

/**
 * Of what is longer, all that is said about it is left out: to look for its parts would take too
 * long.
 */
const MAX_LENGTH = 1 << 17;

/** Members that say what is proved or published, or is encrypted, and are no secret. */
const OPEN = new Set([
  ...["type", "session", "identifier", "user", "device_keys", "one_time_keys", "fallback_keys"],
  ...["master_key", "self_signing_key", "user_signing_key", "signatures", "ciphertext"],
]);

/** Identifiers, content URIs, and names as of types: what errors have to be able to name. */
const NAME = /^(?:[@!#$]\S+|mxc:\/\/\S+|\w+(?:\.[\w-]+)+)$/;

/**
 * Words of the specification, which may be a password: stages and codes, and the names of
 * members.
 */
const WORD = /^(?:m\.[a-z\d_.]+|M_[A-Z_]+)$/;
const MEMBER = /^[a-z_]{1,24}$/;

/** Nothing of Matrix is nested as deeply. */
const MAX_DEPTH = 16;

/** The parts of a request. */
interface SentParts {
  /** The whole address. */
  readonly url: string;
  /** The headers that the caller gave. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, if it is JSON. */
  readonly json?: string;
  /** What authorises requests; empty texts count for nothing. */
  readonly credentials?: () => readonly string[];
}

/** One request, as what is said of it has to know it. */
export class Sent {
  readonly #parts: SentParts;
  #runs: Runs | undefined;

  /** @param parts What is sent. Nothing is done with it before something is to be said. */
  constructor(parts: SentParts) {
    this.#parts = parts;
  }

  /** Whom it goes to. */
  get host(): string {
    return new URL(this.#parts.url).host;
  }

  /** A text, unless it repeats something. */
  shown(text: string): string {
    return this.repeats(text) ? LEFT_OUT : text;
  }

  /** Returns whether a text repeats something. */
  repeats(text: string): boolean {
    if (WORD.test(text)) return false;
    const runs = this.#runs ??= runsOf(this.#parts);
    if (runs === TOO_LONG) return text !== "";
    return spellings(text).some((each) => runs.entries().some(([length, parts]) => has(each, length, parts)));
  }

  /** The body of a refusal without the texts and members that repeat something. */
  shownBody(body: JsonObject): JsonObject {
    return this.#members(body, 0);
  }

  /** An error of what carries the request: the same, or one like it if it would tell something. */
  shownError(error: unknown, depth = 0): unknown {
    if (!(error instanceof Error)) return this.repeats(asText(error)) ? LEFT_OUT : error;
    const { name, stack = "" } = error;
    const message = error.message.replace(/https?:\/\/[^\s)]*/g, (url) => url.split(/[?#]/, 1)[0] ?? "");
    const cause = error.cause === undefined || depth === MAX_DEPTH
      ? undefined
      : this.shownError(error.cause, depth + 1);
    const isSame = message === error.message && cause === error.cause && !(error instanceof AggregateError) &&
      !this.repeats(`${name} ${stack} ${asText({ ...error })}`);
    if (isSame) return error;
    const shown = new TypeError(this.shown(message), cause === undefined ? undefined : { cause });
    const places = stack.split("\n").filter((line) => /^ +at /.test(line) && !this.repeats(line));
    Object.defineProperty(shown, "name", { value: this.shown(name) });
    Object.defineProperty(shown, "stack", { value: [`${shown}`, ...places].join("\n") });
    return shown;
  }

  #members(object: JsonObject, depth: number): JsonObject {
    const members = Object.entries(object).filter(([name]) => MEMBER.test(name) || !this.repeats(name));
    return Object.fromEntries(members.map(([name, value]) => [name, this.#value(value, depth + 1)]));
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.shown(value);
    if (depth === MAX_DEPTH) return undefined;
    if (Array.isArray(value)) return value.map((item) => this.#value(item, depth + 1));
    return isJsonObject(value) ? this.#members(value, depth) : value;
  }
}

/** All runs of characters that are a repetition, by their length. */
type Runs = ReadonlyMap<number, ReadonlySet<string>> | typeof TOO_LONG;

const TOO_LONG = "too long";

function runsOf({ url, headers = {}, json = "{}", credentials }: SentParts): Runs {
  const runs = new Map<number, Set<string>>();
  let left = MAX_LENGTH;
  const add = (text: string, most: number): void => {
    const lower = text.toLowerCase();
    const length = Math.min(most, lower.length);
    left -= lower.length;
    if (length < MIN_CREDENTIAL || left < 0) return;
    const parts = runs.get(length) ?? new Set();
    runs.set(length, parts);
    for (let start = 0; start + length <= lower.length; start++) {
      parts.add(lower.slice(start, start + length));
    }
  };
  for (const text of credentials?.() ?? []) add(text, CREDENTIAL);
  const take = (value: unknown, isCredential: boolean): void => {
    if (typeof value === "string") {
      if (isCredential) add(value, CREDENTIAL);
      else if (value.length >= TEXT && !NAME.test(value)) add(value, TEXT);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (!OPEN.has(name)) take(member, isCredential || CREDENTIALS.test(name));
      }
    }
  };
  const isCredential = false;
  take(JSON.parse(json), isCredential);
  take(Object.fromEntries(new URL(url).searchParams), isCredential);
  take(headers, isCredential);
  return left < 0 ? TOO_LONG : runs;
}

function has(text: string, length: number, parts: ReadonlySet<string>): boolean {
  for (let start = 0; start + length <= text.length; start++) {
    if (parts.has(text.slice(start, start + length))) return true;
  }
  return false;
}

/** A text in small letters, and what it says if it is escaped. */
function spellings(text: string): string[] {
  const found = [text];
  if (text.includes("%")) found.push(text.replace(/(?:%[\da-f]{2})+/gi, decoded));
  for (let last = text, twice = 0; twice < 2 && last.includes("\\"); twice++) {
    found.push(last = unescaped(last));
  }
  return found.map((spelling) => spelling.toLowerCase());
}

function decoded(escapes: string): string {
  return new TextDecoder().decode(Uint8Array.fromHex(escapes.replaceAll("%", "")));
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([\da-f]{4})|(.))/gi,
    (_, unit, letter) => unit === undefined ? letter : String.fromCharCode(parseInt(unit, 16)),
  );
}

/** Returns what a value may show; all that can't be told counts as nothing. */
function asText(value: unknown): string {
  try {
    return typeof value === "string" ? value : JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
