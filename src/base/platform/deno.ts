/**
 * What Deno gives.
 *
 * @module
 */

import type { AsyncScope, Platform, PlatformCrypto } from "./port.ts";

/** What of Deno is no part of its API; one that is {@link KNOWN} has it so. */
interface Core {
  /** What V8 carries from where something is started to what then runs. */
  getAsyncContext(): Readonly<Record<symbol, unknown>> | undefined;
  setAsyncContext(carried: object | undefined): void;
  createTimer(call: () => void, ms: number, given: undefined, repeats: boolean, keepsAlive: boolean): object;
  cancelTimer(timer: object): void;
  isProxy(value: unknown): boolean;
}

const core: Core | undefined = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;

/**
 * Whether it is the very Deno whose {@link Core} the tests have seen: any other gets what is documented, but
 * for scopes, which are tried.
 */
const KNOWN = Deno.version.deno === "2.9.6";

/** A module of Node, loaded with the first call: an import would have every program load it. */
// deno-lint-ignore no-process-global -- it is there; to import it takes as long
const nodeModule = ((name: string) => process.getBuiltinModule(name)) as typeof process.getBuiltinModule;

/**
 * A scope beside those of `AsyncLocalStorage`, which make a dictionary and an entry of a weak map a call:
 * with their garbage, a third of what an event of a large sync takes.
 */
class CarriedScope<Value> implements AsyncScope<Value> {
  readonly #name = Symbol();

  run<Given extends unknown[], Result>(
    value: Value,
    call: (...given: Given) => Result,
    ...given: Given
  ): Result {
    const before = core?.getAsyncContext();
    core?.setAsyncContext({ ...before, [this.#name]: value });
    try {
      return call(...given);
    } finally {
      core?.setAsyncContext(before);
    }
  }

  getStore(): Value | undefined {
    return core?.getAsyncContext()?.[this.#name] as Value | undefined;
  }
}

/** Whether this Deno carries values so; with any other than the known one it is seen beside Node's scopes. */
function isCarried(): boolean {
  const own = new CarriedScope<number>();
  try {
    const isAlone = own.run(2, () => own.getStore() === 2) && own.getStore() === undefined;
    if (!isAlone || KNOWN) return isAlone;
    const other = new (nodeModule("node:async_hooks").AsyncLocalStorage)<number>();
    const within = () =>
      other.run(3, () => own.getStore() === 2 && other.getStore() === 3) && other.getStore() === 1;
    return other.run(1, () => own.run(2, within)) && own.getStore() === undefined;
  } catch {
    return false;
  }
}

const REPEATS_NOT = false;

/** How a program finds `setTimeout`, if it has not put another one there, as tests do. */
const lateTimeout = Object.getOwnPropertyDescriptor(globalThis, "setTimeout")?.get;

/** Deno loads much of Node to read `setTimeout` for the first time, a tenth of the start of a bot. */
const startTimer: Platform["startTimer"] = (call, ms, { keepsAlive = true } = {}) => {
  const isLate = KNOWN && lateTimeout !== undefined &&
    Object.getOwnPropertyDescriptor(globalThis, "setTimeout")?.get === lateTimeout;
  if (isLate && core?.createTimer !== undefined) {
    const context = core.getAsyncContext();
    const timer = core.createTimer(
      () => {
        const before = core.getAsyncContext();
        core.setAsyncContext(context);
        try {
          call();
        } finally {
          core.setAsyncContext(before);
        }
      },
      ms,
      undefined,
      REPEATS_NOT,
      keepsAlive,
    );
    return () => core.cancelTimer(timer);
  }
  const timer = setTimeout(call, ms);
  if (!keepsAlive) Deno.unrefTimer?.(timer as unknown as number);
  return () => clearTimeout(timer);
};

let crypto: Promise<PlatformCrypto> | undefined;

export const platform: Platform = {
  AsyncLocalStorage: isCarried() ? CarriedScope : nodeModule("node:async_hooks").AsyncLocalStorage,
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
  cryptoNow: () => nodeModule("node:crypto"),
  hasDenoKv: () => typeof Deno.openKv === "function",
  inScope: (value) => value,
  serialize: (value) => nodeModule("node:v8").serialize(value),
  deserialize: (bytes) => nodeModule("node:v8").deserialize(bytes),
  isProxy: (KNOWN ? core?.isProxy : undefined) ?? ((value) => nodeModule("node:util").types.isProxy(value)),
  inspect: (value, options) => Deno.inspect(value, options),
  nextTask: (call) => void setImmediate(call),
  startTimer,
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
