/**
 * The operations of a client as applications call them: made when they are read, with checks of what they are
 * given.
 *
 * @module
 */

import { type AllAPI, RAW_NAMES, type RawAPI } from "../api/api.ts";
import { currentCall } from "../base/handler_call.ts";
import { callSite } from "../base/own_code.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { ClientBasics } from "./client_basics.ts";
import type { ClientLife } from "./client_life.ts";
import { syncerFacade } from "./client_operations.ts";
import { OPTION_PLACES } from "./option_places.ts";

/**
 * The operations as applications call them: handlers wait for those that they begin. Each is made when it is
 * read first, since a client uses few of them.
 */
export class ApplicationOperations {
  readonly #api: Readonly<Record<string, Operation>>;
  /** Those of syncing, which come in front of the others of their names. */
  readonly #syncing: Readonly<Record<string, Operation>>;
  /** Those that have been read. */
  readonly #made = new Map<string, Operation>();
  #raw: RawAPI | undefined;

  /**
   * @param api The operations.
   * @param client What lasts.
   * @param life Has the actors of now.
   */
  constructor(api: AllAPI, client: ClientBasics, life: ClientLife) {
    const { logout, logoutAll, deactivateAccount } = api;
    const syncing = syncerFacade(life, client.registry, client.log);
    this.#api = api as never;
    this.#syncing = {
      ...syncing,
      ...life.api({ ...syncing, logout, logoutAll, deactivateAccount }),
    } as never;
  }

  /** Their names, but those of {@link raw}. */
  get names(): string[] {
    const names = new Set([...Object.keys(this.#api), ...Object.keys(this.#syncing)]);
    return [...names].filter((name) => !(name in RAW_NAMES));
  }

  /** One of them, made when it is read first. */
  get(name: string): Operation | undefined {
    const made = this.#made.get(name) ?? this.#make(name);
    if (made !== undefined) this.#made.set(name, made);
    return made;
  }

  #make(name: string): Operation | undefined {
    const syncing = this.#syncing[name];
    const operation = this.#api[name];
    if (syncing !== undefined || operation === undefined) return syncing;
    const checked = checkedCall(name, operation);
    return name === "sync" ? checked : counted(checked); // a loop of it may not end
  }

  /** Those that applications find apart. */
  get raw(): RawAPI {
    return this.#raw ??= Object.fromEntries(
      Object.keys(RAW_NAMES).map((name) => [name, this.get(name)]),
    ) as unknown as RawAPI;
  }

  /** Has an object get its operations from here, and what is made over it: by `Object.create()`, as a `Proxy`. */
  of(client: object): this {
    Object.defineProperty(client, OPERATIONS, { value: this }); // not enumerable: no log shows it
    return this;
  }
}

/** Where a client has its operations. */
const OPERATIONS = Symbol("operations");

/**
 * The operations of a client.
 *
 * @throws {ValueError} If there are none, as of a class's prototype.
 */
export function operationsOf(client: object): ApplicationOperations {
  const { [OPERATIONS]: operations } = client as { readonly [OPERATIONS]?: ApplicationOperations };
  if (operations !== undefined) return operations;
  throw new ValueError("Cannot read an operation: only clients have them; make one by new Client()");
}

/** Whether a class has its operations already: all clients have the same. */
const SHARED = Symbol("shared");

/**
 * Gives a class the operations of its instances, as getters, so that a subclass can override one and call that of
 * `super`. What is set on an instance is the instance's own.
 */
export function shareOperations(prototype: object, operations: ApplicationOperations): void {
  if (Object.hasOwn(prototype, SHARED)) return;
  Object.defineProperty(prototype, SHARED, { value: true });
  for (const name of operations.names) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get(this: object) {
        return operationsOf(this).get(name);
      },
      set(this: object, value: unknown) {
        Object.defineProperty(this, name, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }
}

type Operation = (...given: unknown[]) => unknown;

/** By the name of an operation, how many arguments stand in front of its options. */
const PLACES: ReadonlyMap<string, number> = new Map(
  OPTION_PLACES.flatMap((names, place) => names.split(" ").map((name) => [name, place] as const)),
);

/** The same operation; it refuses what is no options where they belong, and what comes after them. */
function checkedCall(name: string, operation: Operation): Operation {
  const place = PLACES.get(name);
  if (place === undefined) return operation; // it has none
  return (...given) => {
    const options = given[place];
    const isWrong = options !== undefined &&
      (typeof options !== "object" || options === null || Array.isArray(options));
    if (!isWrong && given.length <= place + 1) return operation(...given);
    const after = given.findLastIndex((each) => each !== undefined);
    if (!isWrong && after <= place) return operation(...given);
    const state = isWrong
      ? `argument ${place + 1} is ${kindOf(options)}, and must be an object with its options`
      : `it takes ${place + 1} arguments, not ${after + 1}`;
    const error = new ValueError(`Cannot ${name}: ${state}`);
    if (name.startsWith("iterate")) throw error;
    return Promise.reject(error);
  };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function counted(operation: Operation): Operation {
  const called: Operation = (...given) => {
    const result = operation(...given);
    const call = currentCall();
    return call !== undefined && result instanceof Promise ? call.begin(result, callSite(called)) : result;
  };
  return called;
}
