/** What every object that lives in the instance has in common. */

import type { Engine, Input } from "./engine.ts";
import { type Operation, OPERATIONS } from "./operations.ts";
import { VodozemacError } from "./error.ts";

const engines: WeakMap<Handle, Engine> = new WeakMap();
const handles: WeakMap<Handle, number> = new WeakMap();

/**
 * An object in the WebAssembly instance. Dispose of it (`using`) as soon as it is not needed: that
 * wipes its secrets at once. One that is forgotten is wiped after it has been garbage collected.
 * Printing one shows nothing of it.
 *
 * @example
 * ```ts
 * import { Vodozemac } from "@greenroom/vodozemac-wasm";
 *
 * const { olm } = await Vodozemac.load();
 * using account = olm.createAccount();
 * console.log(account); // Account {}
 * ```
 */
export abstract class Handle implements Disposable {
  /** @internal */
  constructor(engine: Engine, handle: number) {
    engines.set(this, engine);
    handles.set(this, handle);
    engine.guard(this, handle);
  }

  /** Whether it has been disposed of or used up. */
  get disposed(): boolean {
    return !handles.has(this);
  }

  /** Drops the object and wipes its secrets. Doing so twice is no error. */
  [Symbol.dispose](): void {
    const handle = handles.get(this);
    if (handle === undefined) return;
    handles.delete(this);
    const engine = engineOf(this);
    engine.unguard(this);
    engine.free(handle);
  }
}

/** The instance in which an object lives. */
export function engineOf(object: Handle): Engine {
  const engine = engines.get(object);
  if (engine === undefined) throw new VodozemacError("bad_type", "use object");
  return engine;
}

/** Runs an operation on an object. */
export function call(object: Handle, operation: Operation, input: readonly Input[] = [], number = 0): number {
  const handle = handles.get(object);
  if (handle === undefined) throw new VodozemacError("disposed", OPERATIONS[operation]);
  return engineOf(object).call(operation, handle, input, number);
}

/** The number by which an operation of `one` can name `other`. */
export function peer(one: Handle, other: Handle, operation: Operation): number {
  if (!(other instanceof one.constructor)) throw new VodozemacError("bad_type", OPERATIONS[operation]);
  const handle = handles.get(other);
  if (handle === undefined) throw new VodozemacError("disposed", OPERATIONS[operation]);
  if (engineOf(one) !== engineOf(other)) throw new VodozemacError("wrong_instance", OPERATIONS[operation]);
  return handle;
}

/**
 * Runs an operation that uses an object up. The object counts as disposed whatever comes of it;
 * where the operation refused before it took the object, the object is freed here.
 */
export function consume(object: Handle, operation: Operation, input: readonly Input[]): number {
  const handle = handles.get(object);
  if (handle === undefined) throw new VodozemacError("disposed", OPERATIONS[operation]);
  const engine = engineOf(object);
  handles.delete(object);
  engine.unguard(object);
  try {
    return engine.call(operation, handle, input);
  } catch (error) {
    engine.free(handle);
    throw error;
  }
}
