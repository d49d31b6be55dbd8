/**
 * What Deno gives.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { isProxy } from "node:util/types";
import { deserialize, serialize } from "node:v8";
import type { AsyncScope, Platform, PlatformCrypto } from "./port.ts";

/** What V8 carries from where something is started to what then runs. */
interface Carried {
  getAsyncContext(): Readonly<Record<symbol, unknown>> | undefined;
  setAsyncContext(carried: object | undefined): void;
}

const carried: Carried | undefined = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;

/**
 * A scope beside those of `AsyncLocalStorage`, which make a dictionary and an entry of a weak map a call: with
 * their garbage, a third of what an event of a large sync takes.
 */
class CarriedScope<Value> implements AsyncScope<Value> {
  readonly #name = Symbol();

  run<Given extends unknown[], Result>(
    value: Value,
    call: (...given: Given) => Result,
    ...given: Given
  ): Result {
    const before = carried?.getAsyncContext();
    carried?.setAsyncContext({ ...before, [this.#name]: value });
    try {
      return call(...given);
    } finally {
      carried?.setAsyncContext(before);
    }
  }

  getStore(): Value | undefined {
    return carried?.getAsyncContext()?.[this.#name] as Value | undefined;
  }
}

/** Whether this Deno carries values as Deno 2.9 does: that is no part of its API. */
function isCarried(): boolean {
  try {
    const [own, other] = [new CarriedScope<number>(), new AsyncLocalStorage<number>()];
    const within = () =>
      other.run(3, () => own.getStore() === 2 && other.getStore() === 3) && other.getStore() === 1;
    return other.run(1, () => own.run(2, within)) && own.getStore() === undefined;
  } catch {
    return false;
  }
}

let crypto: Promise<PlatformCrypto> | undefined;

export const platform: Platform = {
  AsyncLocalStorage: isCarried() ? CarriedScope : AsyncLocalStorage,
  files: {
    open: (path, options) => Deno.open(path, options),
    openSync: (path, options) => Deno.openSync(path, options),
    mkdir: (path, options) => Deno.mkdir(path, options),
    makeTempFile: (options) => Deno.makeTempFile(options),
    remove: (path) => Deno.remove(path),
    readTextFileSync: (path) => Deno.readTextFileSync(path),
    modeOf: (path) => Deno.statSync(path).mode,
    isPermitted: (name, path) => Deno.permissions.querySync({ name, path }).state === "granted",
    problemOf: (error) =>
      error instanceof Deno.errors.NotFound
        ? "missing"
        : error instanceof Deno.errors.AlreadyExists
        ? "there"
        : error instanceof Deno.errors.NotCapable
        ? "forbidden"
        : undefined,
  },
  process: {
    get pid() {
      return Deno.pid;
    },
    variables: () =>
      Deno.permissions.querySync({ name: "env" }).state === "granted" // Deno would prompt
        ? Object.keys(Deno.env.toObject())
        : [],
    variable: (name) => Deno.env.get(name),
    addSignalListener: (signal, listener) => Deno.addSignalListener(signal, listener),
    removeSignalListener: (signal, listener) => Deno.removeSignalListener(signal, listener),
    exit: (status) => Deno.exit(status),
    endWith: (status) => {
      Deno.exitCode = status;
    },
    print: (line) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`)),
  },
  crypto: () => crypto ??= import("node:crypto"),
  // deno-lint-ignore no-process-global -- it is there; to import it would have every program load it
  cryptoNow: () => process.getBuiltinModule("node:crypto"),
  hasDenoKv: () => typeof Deno.openKv === "function",
  inScope: (value) => value,
  serialize,
  deserialize,
  isProxy,
  inspect: (value, options) => Deno.inspect(value, options),
  nextTask: setImmediate,
  unref: (timer) => Deno.unrefTimer?.(timer as number),
  onUnawaited: (saw) =>
    globalThis.addEventListener("unhandledrejection", (event) => {
      if (!event.defaultPrevented && saw(event.reason)) event.preventDefault();
    }),
  serve: (at, handler) => {
    // Without onError, Deno writes to the console about every body that breaks off.
    const onError = () => new Response(null, { status: 500 });
    const server = Deno.serve({ ...at, onListen: () => {}, onError }, handler);
    return Promise.resolve({ port: server.addr.port, shutdown: () => server.shutdown() });
  },
};
