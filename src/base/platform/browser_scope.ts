/**
 * Scopes where the language has none that outlive an `await`: of this package they do, since its build for browsers
 * lets each `async` function keep the scope in which it was called; the application's functions get it by the objects
 * that they are given.
 *
 * A file of its own because other platforms have that.
 *
 * @module
 */

import type { AsyncScope } from "./port.ts";

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
export class BrowserScope<Value> implements AsyncScope<Value> {
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
export function inScope<Value extends object>(value: Value): Value {
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
