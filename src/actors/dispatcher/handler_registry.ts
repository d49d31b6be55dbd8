/**
 * The handlers of a client, by the types of event that they handle.
 * Over 300 lines because the options of handlers are described here.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { type ContentCheck, contentCheckOf } from "../../types/events/define_event.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";
import { classOf, type EventClass, type EventType, typeName } from "../../types/events/event_type.ts";
import { type MatrixEvent, SyncStream } from "../../types/events/event.ts";
import { isJsonObject } from "../../types/json.ts";
import type { HandlerContext } from "./handler_context.ts";

/**
 * What is called with an event, and with what it may need to know beside; what it returns is
 * awaited, and otherwise ignored.
 */
export type Handler<Event, State = undefined> = (event: Event, context: HandlerContext<State>) => unknown;

/** How a handler is called. */
export interface HandlerOptions {
  /** Whether the next sync request waits until the handler has settled. Default: false. */
  waitSync?: boolean;
  /**
   * Whether the handler gets a room's next event only when its promise for the one before has
   * settled; rooms do not wait for each other. Default: false: it is started for each event at
   * once, in the order of the events.
   */
  sequential?: boolean;
  /**
   * Whether a handler of a type of event also gets events that were redacted: their content is
   * empty, or has the few members that redactions leave, and `unsigned.redacted_because` says why.
   * Handlers of all events, and of Greenroom's own events, get them anyway. Default: false.
   */
  redacted?: boolean;
  /**
   * Whether the handler also gets history: what stood in a room before the user came, again
   * perhaps, as far as the server shows it at the join and `fillGaps` lets read on, and the state
   * that the room had; of Greenroom's own events, those about such events. Such an event has
   * `SyncStream.HISTORY` in its `source`. Room state as it was then is not known. Default: false.
   * The very first sync is no history: see `ignoreInitialSync`.
   */
  history?: boolean;
  /**
   * Of an application service: whether the handler also gets what its own users have sent. Default:
   * false.
   */
  own?: boolean;
  /**
   * Only events from one of these parts of a sync response: flags of `SyncStream`. Default: from
   * anywhere.
   */
  source?: SyncStream;
  /**
   * Names the handler among those of its type: what it has handled, and sent, is noted under that
   * name, across restarts and new versions of your program. Letters, digits, `_` and `-`. Default: a
   * hash of the function's name and text: handlers may change their order, and an edited function is
   * a new handler. Handlers that are alike in both are told apart by the order in which they are added.
   */
  name?: string;
}

/** How a handler that has a session is called. */
export interface SessionHandlerOptions<State extends object> extends HandlerOptions {
  /** What it remembers from one event to the next, as `context.session`. */
  session: SessionDefinition<State>;
}

const OPTIONS: OptionNames<SessionHandlerOptions<object>> = {
  ...{ waitSync: true, sequential: true, redacted: true, history: true, own: true, source: true },
  ...{ name: true, session: true },
};

/** A handler with its options. */
export interface HandlerEntry {
  /** The type of event; `*`: all. */
  readonly type: string;
  /** The function. */
  readonly handler: Handler<never, never>;
  /** See {@link HandlerOptions.waitSync}. */
  readonly waitSync: boolean;
  /** See {@link HandlerOptions.sequential}. */
  readonly sequential: boolean;
  /** See {@link HandlerOptions.history}. */
  readonly history: boolean;
  /** See {@link HandlerOptions.own}. */
  readonly own: boolean;
  /** See {@link HandlerOptions.source}; undefined: from anywhere. */
  readonly source: SyncStream | undefined;
  /** The same after a restart: its type, and its name or what its code is. */
  readonly id: string;
  /** Checks the event's content; undefined: its type promises nothing. */
  readonly check: ContentCheck | undefined;
  /** Whether it gets redacted events. */
  readonly redacted: boolean;
  /** See {@link SessionHandlerOptions.session}; undefined: it has none. */
  readonly session: SessionDefinition<object> | undefined;
  /** The work of a sequential handler, by room. */
  readonly queues: Map<string, Promise<unknown>>;
}

type Change = (entries: readonly HandlerEntry[]) => readonly HandlerEntry[];

const NONE: readonly HandlerEntry[] = [];
const NAME = /^[\w-]{1,50}$/;

/** The handlers of one client. A change takes effect with the next event. */
export class HandlerRegistry {
  readonly #byType = new Map<string, Map<EventClass, readonly HandlerEntry[]>>();
  /** The handlers of all events but internal ones. */
  forAll: readonly HandlerEntry[] = NONE;
  /** What {@link HandlerRegistry.wanting} has put together since the last change. */
  readonly #wanting = new Map<string, Map<EventClass, readonly HandlerEntry[]>>();
  /** How many handlers of a type have been added that are alike. */
  readonly #added = new Map<string, number>();
  /** How many handlers the next sync request has to wait for, and how many want history. */
  readonly #counts = { waitSync: 0, history: 0 };
  /** Whether the next sync request has to wait for any of them. */
  waits = false;
  /** Whether any of them wants history. */
  wantsHistory = false;
  /** Whether there are no handlers. */
  isEmpty = true;

  /** The types of state that have a handler, and those whose class is unknown. */
  get stateTypes(): readonly string[] {
    return [...this.#byType].filter(([, byClass]) => byClass.has("state") || byClass.has("unknown"))
      .map(([type]) => type);
  }

  /** Returns whether there are handlers of a type, in whatever class. */
  has(type: string): boolean {
    return this.#byType.has(type);
  }

  /**
   * The handlers of a type in a class; those of a type whose class is unknown are under
   * `unknown`.
   */
  of(eventClass: EventClass, type: string): readonly HandlerEntry[] {
    return this.#byType.get(type)?.get(eventClass) ?? NONE;
  }

  /**
   * The handlers of all events and those of an event's type in its class, in the order in which they get it.
   */
  wanting(event: MatrixEvent): readonly HandlerEntry[] {
    if (this.#byType.size === 0) return this.forAll; // nothing to look up
    const { type } = event;
    const eventClass = eventClassOf(event);
    const known = this.#wanting.get(type)?.get(eventClass);
    if (known !== undefined) return known;
    if (!this.has(type)) return this.forAll; // not cached: a server can make up any number of types
    const byClass = this.#wanting.get(type) ?? new Map<EventClass, readonly HandlerEntry[]>();
    const entries = [...this.forAll, ...this.typed(eventClass, type)];
    this.#wanting.set(type, byClass.set(eventClass, entries));
    return entries;
  }

  /**
   * The handlers of a type in a class, and those of a type whose class is unknown: in any
   * but Greenroom's own.
   */
  typed(eventClass: EventClass, type: string): readonly HandlerEntry[] {
    const entries = this.of(eventClass, type);
    return eventClass === "unknown" || eventClass === "internal"
      ? entries
      : [...entries, ...this.of("unknown", type)];
  }

  /**
   * Adds a handler; one that is there already gets the new options.
   *
   * @param type The type of event; undefined: all.
   * @throws {ValueError} If there is no such type or no handler, or an option can't be used.
   */
  add(
    type: EventType | undefined,
    handler: Handler<never, never>,
    options: HandlerOptions & Partial<SessionHandlerOptions<object>> = {},
  ): void {
    if (typeof handler !== "function") {
      throw new ValueError(`Cannot add an event handler: it must be a function, and is ${typeof handler}`);
    }
    checkOptions(options, OPTIONS, "add an event handler");
    const { waitSync = false, sequential = false, redacted = false, history = false, own = false } = options;
    const { source, session, name } = options;
    if (name !== undefined && !NAME.test(name)) {
      throw new ValueError("Cannot add an event handler: its name may have 1 to 50 letters, digits, _ and -");
    }
    this.#change(type, (entries) => {
      const kind = type === undefined ? "*" : typeName(type);
      const old = entries.find((entry) => entry.handler === handler);
      const entry: HandlerEntry = {
        type: kind,
        handler,
        waitSync,
        sequential,
        history,
        own,
        source,
        session,
        check: type === undefined ? undefined : contentCheckOf(type),
        redacted: redacted || type === undefined || classOf(type) === "internal",
        id: this.#id(kind, { handler, name, old, entries }),
        queues: old?.queues ?? new Map(),
      };
      return old === undefined ? [...entries, entry] : entries.map((each) => each === old ? entry : each);
    });
  }

  /** Removes a handler; what it has begun goes on. Does nothing if it is not there. */
  remove(type: EventType | undefined, handler: Handler<never, never>): void {
    this.#change(type, (entries) => entries.filter((entry) => entry.handler !== handler));
  }

  #id(
    kind: string,
    { handler, name, old, entries }: Pick<HandlerEntry, "handler"> & {
      readonly name: string | undefined;
      readonly old: HandlerEntry | undefined;
      readonly entries: readonly HandlerEntry[];
    },
  ): string {
    if (name === undefined) {
      if (old !== undefined) return old.id;
      const code = `${kind}.${codeOf(handler)}`;
      const alike = this.#added.get(code) ?? 0;
      this.#added.set(code, alike + 1);
      return alike === 0 ? code : `${code}.${alike}`;
    }
    const id = `${kind}:${name}`;
    // An event reaches handlers of its class and of those of unknown class: a name is one among all
    // of the type.
    const all = kind === "*" ? entries : [...this.#byType.get(kind)?.values() ?? []].flat();
    if (all.some((entry) => entry.id === id && entry !== old)) {
      throw new ValueError(
        `Cannot add an event handler: another of ${kind} is named "${name}"; choose another name`,
      );
    }
    return id;
  }

  /** Replaces the list of handlers: a delivery that is under way goes on with the old one. */
  #change(type: EventType | undefined, change: Change): void {
    if (type === undefined) this.forAll = this.#counted(this.forAll, change);
    else this.#changeTyped(type, (entries) => this.#counted(entries, change));
    this.#wanting.clear();
    this.waits = this.#counts.waitSync > 0;
    this.wantsHistory = this.#counts.history > 0;
    this.isEmpty = this.forAll.length === 0 && this.#byType.size === 0;
  }

  #counted(entries: readonly HandlerEntry[], change: Change): readonly HandlerEntry[] {
    const changed = change(entries);
    for (const option of ["waitSync", "history"] as const) {
      const count = (list: readonly HandlerEntry[]) => list.filter((entry) => entry[option]).length;
      this.#counts[option] += count(changed) - count(entries);
    }
    return changed;
  }

  #changeTyped(type: EventType, change: Change): void {
    const name = typeof type === "string" || isJsonObject(type) ? typeName(type) : undefined;
    if (typeof name !== "string" || name === "") {
      throw new ValueError(
        "Cannot add an event handler: the event type must be a string that is not empty, or a type with its class",
      );
    }
    const eventClass = classOf(type);
    const byClass = this.#byType.get(name) ?? new Map<EventClass, readonly HandlerEntry[]>();
    const entries = change(byClass.get(eventClass) ?? NONE);
    if (entries.length > 0) byClass.set(eventClass, entries);
    else byClass.delete(eventClass);
    if (byClass.size > 0) this.#byType.set(name, byClass);
    else this.#byType.delete(name);
  }
}

/**
 * Tells a function from others by its name and text, wherever it stands:
 * FNV-1a, since `node:crypto` loads slowly.
 */
function codeOf(handler: Handler<never, never>): string {
  let hash = 0xcbf29ce484222325n;
  for (const each of `${handler.name} ${Function.prototype.toString.call(handler)}`) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(each.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return hash.toString(36);
}

/** Returns whether a handler wants events from a source. */
export function takes(entry: HandlerEntry, source: SyncStream): boolean {
  if ((source & SyncStream.HISTORY) !== 0 && !entry.history) return false;
  if ((source & SyncStream.OWN) !== 0 && !entry.own) return false;
  return entry.source === undefined || (entry.source & source) !== 0;
}

/** The class of an event that came with a sync: by its source, and in rooms by its state key. */
export function eventClassOf(event: MatrixEvent): EventClass {
  const { source } = event;
  if ((source & SyncStream.TO_DEVICE) !== 0) return "to_device";
  if ((source & SyncStream.ACCOUNT_DATA) !== 0) return "account_data";
  if ((source & (SyncStream.EPHEMERAL | SyncStream.PRESENCE)) !== 0) return "ephemeral";
  // This is faster than `in`.
  return (event as { readonly state_key?: string }).state_key === undefined ? "message" : "state";
}
