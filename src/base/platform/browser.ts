/**
 * What browsers give. The npm package has this in place of `deno.ts` for them.
 *
 * @module
 */

import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { addNewerLanguage, deserialize, serialize } from "./tagged_codec.ts";
import type { AsyncScope, Digest, Platform, PlatformCrypto } from "./port.ts";

addNewerLanguage();

const LITTLE_ENDIAN = true;

/** A hash of `@noble/hashes`. */
interface Hashing {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

class BrowserDigest implements Digest {
  readonly #hashing: Hashing;

  constructor(hashing: Hashing) {
    this.#hashing = hashing;
  }

  update(data: string | Uint8Array, encoding: "utf8" | "utf16le" = "utf8"): this {
    this.#hashing.update(bytesOf(data, encoding));
    return this;
  }

  digest(): Uint8Array;
  digest(encoding: "base64" | "base64url"): string;
  digest(encoding?: "base64" | "base64url"): Uint8Array | string {
    const bytes = this.#hashing.digest();
    return encoding === undefined
      ? bytes
      : bytes.toBase64({ alphabet: encoding, omitPadding: encoding === "base64url" });
  }
}

function bytesOf(data: string | Uint8Array, encoding: "utf8" | "utf16le" = "utf8"): Uint8Array {
  if (typeof data !== "string") return data;
  if (encoding === "utf8") return new TextEncoder().encode(data);
  const bytes = new DataView(new ArrayBuffer(2 * data.length));
  for (let at = 0; at < data.length; at++) bytes.setUint16(2 * at, data.charCodeAt(at), LITTLE_ENDIAN);
  return new Uint8Array(bytes.buffer);
}

const crypto: PlatformCrypto = {
  createHash: () => new BrowserDigest(sha256.create()),
  createHmac: (_name, key) => new BrowserDigest(hmac.create(sha256, bytesOf(key))),
  hkdfSync: (_name, key, salt, info, length) =>
    hkdf(sha256, key, bytesOf(salt), bytesOf(info), length).slice().buffer as ArrayBuffer,
  timingSafeEqual: (one, other) => {
    if (one.length !== other.length) throw new RangeError("Input buffers must have the same byte length");
    let difference = 0;
    for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
    return difference === 0;
  },
};

function missing(what: string): never {
  throw new DOMException(`There is no ${what} in a browser`, "NotSupportedError");
}

const noFile = () => missing("disk");

type Frame = ReadonlyMap<object, unknown> | undefined;

/** Where the build's `async` functions find the frame that they keep. */
const state: { frame: Frame } =
  (globalThis as Record<symbol, unknown>)[Symbol.for("@greenroom/matrix scope")] = { frame: undefined };

function inFrame<Result>(frame: Frame, call: () => Result): Result {
  const before = state.frame;
  state.frame = frame;
  try {
    return call();
  } finally {
    state.frame = before;
  }
}

/** A value that calls inside find, until the first `await` of an application. */
class BrowserScope<Value> implements AsyncScope<Value> {
  run<Given extends unknown[], Result>(
    value: Value,
    call: (...given: Given) => Result,
    ...given: Given
  ): Result {
    return inFrame(new Map(state.frame).set(this, value), () => call(...given));
  }

  getStore(): Value | undefined {
    return state.frame?.get(this) as Value | undefined;
  }
}

/** The object behind one of {@link inScope}. */
const BEHIND = Symbol();

/** An object whose methods are called in the scope in which this was. */
function inScope<Value extends object>(value: Value): Value {
  return state.frame === undefined ? value : scoped(behind(value) as Value, state.frame);
}

function scoped<Value extends object>(value: Value, frame: Frame): Value {
  const call = (method: (...given: unknown[]) => unknown, given: unknown[]) =>
    // What the package itself calls has a scope already, which may be a narrower one.
    carried(inFrame(state.frame ?? frame, () => Reflect.apply(method, value, given.map(behind))), frame);
  return new Proxy(value, {
    get(target, name) {
      if (name === BEHIND) return target;
      const found = inFrame(state.frame ?? frame, () => Reflect.get(target, name, target));
      const own = Reflect.getOwnPropertyDescriptor(target, name);
      if (name === "constructor" || own?.configurable === false) return found;
      return typeof found === "function"
        ? (...given: unknown[]) => call(found as (...given: unknown[]) => unknown, given)
        : carried(found, frame);
    },
    set: (target, name, given) => Reflect.set(target, name, behind(given), target),
  });
}

function behind(value: unknown): unknown {
  return typeof value === "object" && value !== null
    ? (value as { [BEHIND]?: object })[BEHIND] ?? value
    : value;
}

/** What comes out of an object in a scope, in the same one if it has methods of this package. */
function carried(value: unknown, frame: Frame): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Promise) return value.then((result) => carried(result, frame));
  return hasMethods(value) ? scoped(value, frame) : value;
}

function hasMethods(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) {
    return Reflect.ownKeys(value).some((name) =>
      typeof Reflect.getOwnPropertyDescriptor(value, name)?.value === "function"
    );
  }
  return !/\{\s*\[native code\]\s*\}$/.test(String(prototype.constructor));
}

export const platform: Platform = {
  AsyncLocalStorage: BrowserScope,
  files: {
    // deno-lint-ignore require-await -- what fails is to reject
    open: async () => noFile(),
    openSync: noFile,
    // deno-lint-ignore require-await -- likewise
    mkdir: async () => noFile(),
    // deno-lint-ignore require-await -- likewise
    makeTempFile: async () => noFile(),
    // deno-lint-ignore require-await -- likewise
    remove: async () => noFile(),
    readTextFileSync: noFile,
    modeOf: () => null,
    isPermitted: () => false,
    problemOf: () => undefined,
  },
  process: {
    pid: undefined,
    variables: () => [],
    variable: () => undefined,
    addSignalListener: () => missing("signal"),
    removeSignalListener: () => {},
    exit: () => {},
    endWith: () => {},
    print: () => missing("standard output"),
  },
  crypto: () => Promise.resolve(crypto),
  cryptoNow: () => crypto,
  hasDenoKv: () => false,
  inScope,
  serialize,
  deserialize,
  isProxy: (value) => {
    try {
      structuredClone(value);
      return false;
    } catch { // it is one, or has one in it, or no plain data
      return true;
    }
  },
  inspect: (value) => {
    try {
      const shown = (_: string, member: unknown) => member instanceof Error ? String(member) : member;
      return (typeof value === "object" ? JSON.stringify(value, shown) : undefined) ?? String(value);
    } catch { // it is circular, for one
      return String(value);
    }
  },
  nextTask: (call) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      call();
    };
    port2.postMessage(null);
  },
  startTimer: (call, ms) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  onUnawaited: () => {}, // no scope tells whose it is: the browser reports it
  // deno-lint-ignore require-await -- what fails is to reject
  serve: async () => missing("server"),
};
