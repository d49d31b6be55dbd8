/**
 * Events that are sent and asked for: types, contents and transaction IDs, checked before they leave; events
 * and contents that servers answer with and others wrote, checked before they are handed out.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#transaction-identifiers | Transaction identifiers}
 * @module
 */

import { currentHandler, type Outgoing } from "../../base/handler_call.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { Misfit, type Notes, type Shape } from "../../types/checks/shape.ts";
import {
  contentCheckOf,
  type EventDefinition,
  Malformed,
  validateContent,
} from "../../types/events/define_event.ts";
import type { ContentOf, ContentsByClass } from "../../types/events/event_of.ts";
import { type EventClass, type EventType, eventType } from "../../types/events/event_type.ts";
import type { TransactionID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Parse } from "./endpoint.ts";
import type { RequestOptions } from "./request_options.ts";

/**
 * The content of a type of event, where its class is known; any object of an unknown type.
 */
export type ContentAs<T extends EventType, Class extends keyof ContentsByClass> = T extends string
  ? T extends keyof ContentsByClass[Class] ? Extract<ContentsByClass[Class][T], object> : JsonObject
  : ContentOf<T>;

/** What may be sent as the content of a type of event. */
export type SendableContent<T extends EventType, Class extends keyof ContentsByClass> = T extends string
  ? T extends keyof ContentsByClass[Class] ? Extract<ContentsByClass[Class][T], object> : object
  : ContentOf<T>;

/** An event that may be sent. */
export interface OutgoingEvent {
  /** Its type, as the wire has it. */
  readonly eventType: string;
  /** Its content, as the schema of the type's definition returned it, if there is one. */
  readonly content: object;
}

/**
 * Checks an event before it is sent.
 *
 * @param type The type, by name, with its class, or defined by the application.
 * @param eventClass The class that events have which are sent this way.
 * @param content The content.
 * @throws {ValueError} If the type is empty or of another class, or the content is no object, refused by the
 *   schema, or has what JSON can't say.
 */
export function outgoingEvent(
  type: EventType,
  eventClass: EventClass,
  content: object,
): OutgoingEvent | Promise<OutgoingEvent> {
  const eventType = checkedType(type, eventClass);
  if (!isJsonObject(content)) {
    throw new ValueError(`Cannot send ${eventType}: its content must be an object`);
  }
  if (typeof type !== "string" && "schema" in type) return validated(type as EventDefinition, content);
  const all = new Set<object>([content]); // grows while it is gone through, and has what is in a cycle once
  for (const object of all) {
    if (object instanceof Promise || object instanceof Map || object instanceof Set) {
      throw unsaid(eventType, object);
    }
    for (const value of Object.values(object)) {
      if (typeof value === "object") value !== null && all.add(value);
      else if (typeof value === "number" && !Number.isFinite(value)) throw unsaid(eventType, value);
    }
  }
  return { eventType, content };
}

/** Refuses what JSON would make `{}` or `null` without a word. */
function unsaid(eventType: string, value: unknown): ValueError {
  const [what, mend] = value instanceof Promise
    ? ["a promise", "await it"]
    : typeof value === "number"
    ? [value, "give a number that JSON has"]
    : ["a Map or a Set", "make it an object or a list"];
  return new ValueError(`Cannot send ${eventType}: its content has ${what} in it; ${mend}`);
}

async function validated(type: EventDefinition, content: object): Promise<OutgoingEvent> {
  return await outgoingEvent(type.type, type.class, await validateContent(type, content));
}

/**
 * The name of a type that must be of a class. A bare name may be of any.
 *
 * @throws {ValueError} If it is empty, or said to be of another class.
 */
export function checkedType(type: EventType, eventClass: EventClass): string {
  const name = typeof type === "string" ? type : type?.type;
  if (typeof name !== "string" || name === "") throw new ValueError("Cannot use the event type: it is empty");
  if (typeof type !== "string" && type.class !== eventClass) {
    throw new ValueError(
      `Cannot use the event type ${name}: it is of class ${type.class}, and not ${eventClass}`,
    );
  }
  return name;
}

/** What makes a repeated send one send, if the caller says. */
export interface TransactionOptions extends RequestOptions {
  /**
   * The transaction ID: the server takes two sends with the same one, from the same device, for
   * one. Default: made of `key`, or of what is sent, in a handler of an event that a crash lets
   * come again; elsewhere a new one. All tries of a call share it.
   */
  txnId?: TransactionID;
  /**
   * Names this send among those of the handler that makes it, whatever it says: should a crash have
   * the handler run again, it is sent once, though it says something else then (the time, a random
   * number, what a model made up). Of two sends with one key the server keeps the first, and both
   * resolve with its ID. Not empty. It has no effect where nothing comes again: outside of
   * handlers, in those of events that are not of a room's timeline, and without a `store`. Default:
   * the content names it, and how often the handler has sent the same.
   */
  key?: string;
}

/**
 * Makes transaction IDs that no other maker makes, in this process, another, or one before a
 * restart: 96 random bits once, then a count.
 */
export function transactionIds(): () => TransactionID {
  const random = crypto.getRandomValues(new Uint8Array(12)).toHex();
  let count = 0;
  return () => `gr-${random}-${(count++).toString(36)}`;
}

/** Who sends. */
export interface SendingUser {
  /** Makes a new transaction ID. */
  readonly nextTransactionId: () => TransactionID;
  /** As whom, if that is not the token's own user and the request does not say. */
  readonly asUserId?: UserID;
}

/** Options of a send that has its transaction ID. */
export type Identified<Options extends TransactionOptions> = Omit<Options, "key"> & {
  readonly txnId: TransactionID;
};

/** Returns whether it depends on what is sent which transaction ID it gets. */
export function isToldByContent({ txnId, key }: TransactionOptions): boolean {
  return !isGiven(txnId) && key === undefined && currentHandler() !== undefined;
}

/** Returns whether there is a transaction ID: JSON says `null` where there is none. */
function isGiven(txnId: TransactionID | null | undefined): txnId is TransactionID {
  return txnId !== undefined && txnId !== null;
}

/**
 * Gives a send its transaction ID: the one that the caller says; one that is the same when a crash
 * has the handler run again; or a new one.
 *
 * @param outgoing What is about to be sent.
 * @param options What the caller says of it.
 * @param user Who sends.
 * @throws {ValueError} If `key` is empty, given beside `txnId`, or used for something else by the
 *   same run of the handler.
 */
export function identified<Options extends TransactionOptions>(
  outgoing: Omit<Outgoing, "asUserId">,
  { key, ...options }: Options,
  { nextTransactionId, asUserId: user }: SendingUser,
): Identified<Options> | Promise<Identified<Options>> {
  const { txnId, asUserId = user } = options;
  if (key === "") throw new ValueError(`Cannot send ${outgoing.type}: its key is empty; leave it out`);
  if (key !== undefined && isGiven(txnId)) {
    throw new ValueError(`Cannot send ${outgoing.type}: it has both a txnId and a key; give one of them`);
  }
  if (isGiven(txnId)) return options as Identified<Options>;
  const told = currentHandler()?.transactionId({ ...outgoing, asUserId }, key);
  if (told === undefined) return { ...options, txnId: nextTransactionId() };
  return told.then((made) => ({ ...options, txnId: made }));
}

/**
 * Returns a body of a shape, without optional members and items that do not fit. Events that are left out are
 * logged; those of a room that was asked about need not say which it is.
 */
export function shaped<T>(shape: Shape<T>): Parse<T> {
  return (body, request, { room, log } = {}) => {
    const notes: Notes = { taken: [], depth: 0, ...(room !== undefined && { room }) };
    const fitting = shape(body, notes);
    if (notes.leftOut !== undefined) {
      const [first] = notes.taken;
      const why = first && `${first.path.join(".")} ${first.problem}`;
      log?.warn("Left out events of an answer that do not belong to the request", {
        request,
        events: notes.leftOut,
        ...(why && { why }),
      });
    }
    if (!(fitting instanceof Misfit)) return fitting;
    const { path, problem } = fitting;
    throw new ServiceResponseError(
      `Cannot use the answer to ${request}: ${path.join(".") || "it"} ${problem}`,
    );
  };
}

/**
 * Checks the content of an event that was asked for.
 *
 * @param type The type, by name, with its class, or defined by the application.
 * @param eventClass The class that such events have.
 * @param content The content, as the server gave it.
 * @returns The content without what may be absent and does not fit.
 * @throws {MalformedContentError} If it is not what its type says.
 */
export async function incomingContent(
  type: EventType,
  eventClass: EventClass,
  content: object,
): Promise<object> {
  const check = contentCheckOf(typeof type === "string" ? eventType(type, eventClass) : type);
  const checked = check === undefined ? content : await check(content);
  if (!(checked instanceof Malformed)) return checked;
  if (checked.content === undefined) throw checked.reason;
  return checked.content;
}
