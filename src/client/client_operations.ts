/**
 * The operations of a client as applications call them: made when they are read, with checks of what they are
 * given.
 *
 * Those of {@link SyncerAPI} are requests to the actors, and entries of the handler registry; all others
 * store what they learn of a room's state, and encrypt for encrypted rooms.
 *
 * Over 300 lines because operations and the way of a call to them are read together.
 *
 * @module
 */

import type {
  Delivered,
  Deliverer,
  DispatcherHandlers,
  Handler,
  HandlerOptions,
  HandlerRegistry,
  Task,
} from "../actors/dispatcher/dispatcher.ts";
import { type Actor, type ActorRef, isInside, unwrapped } from "../actors/kernel/mod.ts";
import type { StateStore } from "../actors/store/mod.ts";
import type { SyncerHandlers } from "../actors/syncer/syncer.ts";
import { type AllAPI, clientAPI, operations, RAW_NAMES, type RawAPI } from "../api/api.ts";
import { currentCall } from "../base/handler_call.ts";
import { callSite } from "../base/own_code.ts";
import { untilSignal } from "../base/until_signal.ts";
import { attachmentCipher } from "../crypto/attachments/attachments.ts";
import { checkOptions, noOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { MatrixEvent } from "../types/events/event.ts";
import { unknownType } from "../types/events/event_of.ts";
import {
  canBeOfClass,
  classOf,
  type EventType,
  type EventTypeRef,
  typeName,
} from "../types/events/event_type.ts";
import { isRoomId } from "../types/identifiers.ts";
import { isJsonObject } from "../types/json.ts";
import type { PushRuleEvaluation } from "../types/push_rules.ts";
import type { ClientBasics } from "./client_basics.ts";
import type { ClientLife } from "./client_life.ts";
import { encryptingAPI, EncryptionSends } from "./encrypting_api.ts";
import { OPTION_PLACES } from "./option_places.ts";
import type { PushRulesClient } from "./push_rules.ts";
import { notingEncryption, notingMembers, storeUpdatingAPI } from "./store_updating_api.ts";
import type { DispatchManualOptions, InternalEventOptions, SyncerAPI } from "./syncer_api.ts";

const GROUPS = operations("isRoomEncrypted encrypt shareGroupSession");

/**
 * Makes a client's operations, as its own parts call them.
 *
 * @param client What lasts.
 * @param life Has the actors of now.
 * @param stateStore Stores the state of rooms.
 */
export function clientOperations(
  client: ClientBasics,
  life: Pick<ClientLife, "hold" | "holdSoon" | "passes" | "ready">,
  stateStore: StateStore,
): AllAPI {
  const { session, log } = client;
  const { nextTransactionId, asUserId } = session.http;
  const encryptionSends = new EncryptionSends();
  const api: AllAPI = clientAPI(
    session,
    (core) => {
      const getProfile: AllAPI["getProfile"] = (...of) => api.getProfile(...of);
      const updating = storeUpdatingAPI(core, {
        stateStore,
        encryptionSends,
        getProfile,
        hold: life.holdSoon,
        log,
      });
      return encryptingAPI(updating, {
        encryption: client,
        stateStore,
        encryptionSends,
        clearRooms: client.clearRooms,
        blacklist: client.blacklist,
        hold: life.hold,
        ready: life.ready,
        passes: life.passes,
        nextTransactionId,
        asUserId,
      });
    },
    attachmentCipher,
    {
      groups: GROUPS,
      around: (plain) => ({
        ...notingEncryption(plain, stateStore, client, life.holdSoon),
        ...notingMembers(plain, client),
      }),
    },
  );
  return api;
}

/** The actors that the calls go to. */
interface FacadeCore {
  /** Asks for what is new. */
  readonly syncer: ActorRef<SyncerHandlers>;
  /** Brings it to handlers, who must not wait for themselves. */
  readonly dispatcher: Actor<DispatcherHandlers>;
  /** Brings single events to handlers. */
  readonly deliverer: Deliverer;
}

const INTERNAL: OptionNames<InternalEventOptions> = { customType: true };
const MANUAL: OptionNames<DispatchManualOptions> = { includeGlobalHandlers: true, forceSynchronous: true };

/**
 * Makes the operations of syncing and of handlers.
 *
 * @param life Has the actors of now; a signal closes it.
 * @param client Has the handlers and the rooms that are followed, and gets warnings.
 */
export function syncerFacade(
  life: { readonly core: FacadeCore; close(): Promise<void> },
  { registry, followed, log }: Pick<ClientBasics, "registry" | "followed" | "log">,
): SyncerAPI {
  const internal: SyncerAPI["dispatchInternalEvent"] = (eventType, data, options = {}) => {
    checkOptions(options, INTERNAL, "dispatch an event");
    const { customType = eventType } = options;
    return promises(life.core.deliverer.manual(refOf(customType), data as Delivered, { toAll: false }));
  };
  const add: HandlerRegistry["add"] = (type, handler, options) => {
    registry.add(type, handler, options);
    const unknown = type === undefined ? undefined : unknownType(type);
    if (unknown === undefined) return;
    const { nearest } = unknown;
    log.warn("A handler waits for a type of event that Matrix does not have", {
      type: typeName(type as EventType),
      mend: nearest === undefined
        ? "if others send it, name its class too: eventType(type, class)"
        : `did you mean ${nearest}?`,
    });
  };
  return {
    async start({ signal, signals = false, ...settings } = {}) {
      if (signal?.aborted) return;
      const run = () => unwrapped(life.core.syncer.run(settings, { signal }));
      await untilSignal(run, { signals, close: () => life.close(), log });
    },
    async stop() {
      const stopped = life.core.syncer.end();
      // The handler that calls is one the stop may wait for.
      if (isInside([life.core.dispatcher])) stopped.catch(() => {});
      else await stopped;
    },
    async syncOnce({ signal, passTimeout: _, ...settings } = {}) {
      const { events, isSettled } = await unwrapped(life.core.syncer.once(settings, { signal }));
      signal?.throwIfAborted();
      return { events, rounds: 1, left: isSettled ? undefined : "handlers" };
    },

    follow(roomId) {
      if (!isRoomId(roomId)) {
        throw new ValueError(`Cannot follow ${JSON.stringify(roomId)}: it is not the ID of a room`);
      }
      followed.add(roomId);
    },

    addEventHandler(...args: unknown[]): void {
      const { type, handler, options } = handlerArguments(args);
      add(type, handler, options);
    },
    removeEventHandler(...args: unknown[]): void {
      const { type, handler } = handlerArguments(args);
      registry.remove(type, handler);
    },
    on: ((...given: unknown[]) => {
      const [first] = given;
      if (typeof first !== "function" && given.length === 1) return decorator(add, first as EventType);
      const args = handlerArguments(typeof first === "function" ? [first] : given);
      add(args.type, args.handler, args.options);
      return args.handler;
    }) as SyncerAPI["on"],

    dispatchEvent: (event: MatrixEvent, source) => promises(life.core.deliverer.event({ ...event, source })),
    dispatchInternalEvent: internal,
    runInternalEvent: async (eventType, data, options) => {
      await Promise.all(internal(eventType, data, options));
    },
    dispatchManualEvent(eventType, data, options = {}) {
      checkOptions(options, MANUAL, "dispatch an event");
      const { includeGlobalHandlers = false, forceSynchronous = false } = options;
      const toAll = includeGlobalHandlers && !canBeOfClass(eventType, "internal");
      const tasks = life.core.deliverer.manual(refOf(eventType), data as Delivered, { toAll });
      return promises(forceSynchronous ? tasks : tasks.filter(({ waitSync }) => waitSync));
    },
    async handleSync(data) {
      if (!isJsonObject(data) || typeof data.next_batch !== "string") {
        throw new ValueError("Cannot handle the sync response: it has no next_batch");
      }
      // Events are tagged in place.
      const batch = await unwrapped(life.core.syncer.take(structuredClone(data)));
      // Why it was closed or failed is in `done`.
      return [life.core.dispatcher.settled(batch).catch(() => {})];
    },
  };
}

function decorator(add: HandlerRegistry["add"], type: EventType): unknown {
  return <H extends Handler<never>>(handler: H, context?: ClassMethodDecoratorContext): H => {
    if (context === undefined) add(type, handler);
    else {
      context.addInitializer(function () {
        add(type, handler.bind(this) as Handler<never>);
      });
    }
    return handler;
  };
}

/** A handler alone is one of all events. */
function handlerArguments(args: readonly unknown[]) {
  const [type, handler, options] = typeof args[0] === "function" ? [undefined, ...args] : args;
  return {
    type: type as EventType | undefined,
    handler: handler as Handler<never>,
    options: options as HandlerOptions | undefined,
  };
}

function refOf(type: EventType): EventTypeRef {
  return { type: typeName(type), class: classOf(type) };
}

function promises(tasks: readonly Task[]): Promise<void>[] {
  return tasks.map(({ done }) => done.then(() => {}));
}

/** Evaluates push rules, by what is loaded with the first call. */
export function lazyPushRules(client: PushRulesClient): PushRuleEvaluation {
  let loading: Promise<PushRuleEvaluation> | undefined;
  return {
    evaluate: async (event) => {
      loading ??= import("./push_rules.ts").then(({ PushRules }) => new PushRules(client));
      return await (await loading).evaluate(event);
    },
  };
}

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
    const syncing = syncerFacade(life, client);
    this.#api = api as never;
    this.#syncing = {
      ...syncing,
      ...life.api(syncing, api),
    } as never;
  }

  /** Their names, but those of {@link raw}. */
  get names(): string[] {
    const names = new Set([...GROUPS.names, ...Object.keys(this.#syncing)]);
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
    return applied(name, operation);
  }

  /** Those that applications find apart. */
  get raw(): RawAPI {
    return this.#raw ??= Object.fromEntries(
      Object.keys(RAW_NAMES).map((name) => [name, this.get(name)]),
    ) as unknown as RawAPI;
  }

  /**
   * Has an object get its operations from here, and what is made over it: by `Object.create()`, as a `Proxy`.
   */
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
 * Gives a class the operations of its instances, as getters, so that a subclass can override one and call
 * that of `super`. What is set on an instance is the instance's own.
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

/**
 * The same operation for applications: it refuses what is no options where they belong, and what
 * comes after them; and a handler that calls it waits for its end.
 */
function applied(name: string, operation: Operation): Operation {
  const found = OPTION_PLACES.findIndex((names) => names.split(" ").includes(name));
  const place = found < 0 ? Infinity : found; // it has none
  const isCounted = name !== "sync"; // a loop of it may not end
  const called: Operation = (...given) => {
    const options = place < given.length ? given[place] : undefined;
    if (
      given.length > place + 1 ||
      (options !== undefined && (options === null || Object.getPrototypeOf(options) !== Object.prototype))
    ) {
      const error = misuse(name, place, given);
      if (error !== undefined && name.startsWith("iterate")) throw error;
      if (error !== undefined) return Promise.reject(error);
    }
    const result = operation(...given);
    const call = isCounted ? currentCall() : undefined;
    return call !== undefined && result instanceof Promise ? call.begin(result, callSite(called)) : result;
  };
  return called;
}

/** The option that is meant by what stands in the place of the options. */
const MEANT: Readonly<Record<string, string>> = {
  ...{ redact: "reason", kickUser: "reason", banUser: "reason", unbanUser: "reason", inviteUser: "reason" },
  ...{ leaveRoom: "reason", setPresence: "presence", getStateEvent: "stateKey", setTyping: "timeout" },
  ...{ sendText: "html", sendNotice: "html", sendEmote: "html" },
};

/** What is wrong with the arguments of an operation; undefined: nothing is. */
function misuse(name: string, place: number, given: readonly unknown[]): ValueError | undefined {
  const options = given[place];
  const what = options === undefined ? undefined : noOptions(options);
  const after = given.findLastIndex((each) => each !== undefined);
  if (what === undefined && after <= place) return undefined;
  const like = Object.hasOwn(MEANT, name) ? `, like { ${MEANT[name]} }` : "";
  const state = what !== undefined
    ? `argument ${place + 1} is ${what}, and must be an object with its options${like}`
    : `it takes ${place + 1} arguments, not ${after + 1}`;
  return new ValueError(`Cannot ${name}: ${state}`);
}
