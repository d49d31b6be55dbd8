/**
 * From a type of event to the event: what a handler of it is given.
 *
 * @module
 */

import type { WriteInstead } from "../../errors/hints.ts";
import { nearestName } from "../../errors/known_names.ts";
import { knownTypes } from "../checks/content_shapes.ts";
import type { JsonObject } from "../json.ts";
import type { EventDefinition } from "./define_event.ts";
import type {
  AccountDataEvent,
  EphemeralEvent,
  MatrixEvent,
  MessageEvent,
  PresenceEvent,
  StateEvent,
  StrippedStateEvent,
  ToDeviceEvent,
} from "./event.ts";
import type {
  AccountDataContents,
  AccountDataEventType,
  EphemeralContents,
  EphemeralEventType,
  MessageContents,
  MessageEventType,
  StateContents,
  StateEventType,
  ToDeviceContents,
  ToDeviceEventType,
} from "./event_map.ts";
import {
  classOf,
  type EventClass,
  type EventType,
  type EventTypeRef,
  InternalEventType,
} from "./event_type.ts";
import type { InternalEvents } from "./internal_event.ts";

/** The contents of each class, by type. */
export interface ContentsByClass {
  /** What is set in a room, by type. */
  state: StateContents;
  /** Contents of messages. */
  message: MessageContents;
  /** Contents of what is not kept. */
  ephemeral: EphemeralContents;
  /** What clients keep on the server, by type. */
  account_data: AccountDataContents;
  /** Contents of messages to a device. */
  to_device: ToDeviceContents;
}

/** The class that the name of a type stands for, as `classOf()` finds it. */
export type ClassOf<Type extends string> = Type extends keyof StateContents ? "state"
  : Type extends keyof MessageContents ? "message"
  : Type extends keyof EphemeralContents ? "ephemeral"
  : Type extends keyof AccountDataContents ? "account_data"
  : Type extends keyof ToDeviceContents ? "to_device"
  : Type extends keyof InternalEvents ? "internal"
  : "unknown";

/** The content of a type in a class; any object if the type is not known there. */
export type ContentIn<Type extends string, Class extends EventClass> = Class extends keyof ContentsByClass
  ? Type extends keyof ContentsByClass[Class] ? Extract<ContentsByClass[Class][Type], object> : JsonObject
  : JsonObject;

/**
 * A content of which nothing is left: all its members are absent. Anyone who may send state can
 * clear it so, and what a redaction empties looks the same.
 */
export type EmptyContent<Content extends object> = Content extends unknown
  ? { [Name in keyof Content]?: undefined }
  : never;

/**
 * What arrives as the content of a type: of state also nothing, but for members, whose servers see
 * to it.
 */
export type ReceivedContent<Type extends string, Class extends EventClass> = Class extends "state"
  ? Type extends "m.room.member" ? ContentIn<Type, Class> : ClearableContent<ContentIn<Type, Class>>
  : ContentIn<Type, Class>;

/** A content, or nothing of it, where that is not one already. */
export type ClearableContent<Content extends object> = Record<never, never> extends Content ? Content
  : Content | EmptyContent<Content>;

/** The event of a type in a class, with the content given. */
export type EventIn<Type extends string, Class extends EventClass, Content extends object> = Class extends
  "state" ? StateEvent<Type, Content> | StrippedStateEvent<Type, Content>
  : Class extends "message" ? MessageEvent<Type, Content>
  : Class extends "ephemeral" ? Type extends "m.presence" ? PresenceEvent : EphemeralEvent<Type, Content>
  : Class extends "account_data" ? AccountDataEvent<Type, Content>
  : Class extends "to_device" ? ToDeviceEvent<Type, Content>
  : Class extends "internal" ? Type extends keyof InternalEvents ? InternalEvents[Type] : JsonObject
  : MatrixEvent<Type, Content>;

/**
 * The content of a type of event: of a name, of a type with its class, or of a definition. Any
 * object if the type is unknown.
 *
 * @example
 * ```ts
 * import type { ContentOf } from "@greenroom/matrix/types";
 *
 * const content: ContentOf<"m.room.name"> = { name: "Greenroom" };
 * console.assert(content.name === "Greenroom");
 * ```
 */
export type ContentOf<T extends EventType> = T extends EventDefinition<string, EventClass, infer Content>
  ? Content
  : T extends EventTypeRef<infer Type, infer Class> ? ContentIn<Type, Class>
  : T extends string ? ContentIn<T, ClassOf<T>>
  : never;

/**
 * What a handler of a type of event is given. State may come stripped, from a room that the user is
 * not in, and cleared, without content; of an unknown name any kind of event may come; of an
 * internal event it is the data.
 *
 * @example
 * ```ts
 * import type { EventOf } from "@greenroom/matrix/types";
 *
 * const sayHello = (event: EventOf<"m.room.message">): string => `Hello, ${event.sender}!`;
 * console.assert(typeof sayHello === "function");
 * ```
 */
export type EventOf<T extends EventType> = T extends EventDefinition<infer Type, infer Class, infer Content>
  ? EventIn<Type, Class, Content>
  : T extends EventTypeRef<infer Type, infer Class> ? EventIn<Type, Class, ReceivedContent<Type, Class>>
  : T extends string ? EventIn<T, ClassOf<T>, ReceivedContent<T, ClassOf<T>>>
  : never;

/**
 * What a handler of `m.room.message` is given.
 *
 * @example
 * ```ts
 * import type { RoomMessageEvent } from "@greenroom/matrix/types";
 *
 * const textOf = ({ content }: RoomMessageEvent): string => content.body;
 * console.assert(typeof textOf === "function");
 * ```
 */
export type RoomMessageEvent = EventOf<"m.room.message">;

/**
 * What a handler of a type of event is given that takes redacted events too: of those, the content
 * is mostly empty.
 *
 * @example
 * ```ts
 * import type { RedactableEventOf } from "@greenroom/matrix/types";
 *
 * const bodyOf = (event: RedactableEventOf<"m.room.message">): string | undefined => event.content.body;
 * console.assert(typeof bodyOf === "function");
 * ```
 */
export type RedactableEventOf<T extends EventType> = T extends EventDefinition<
  infer Type,
  infer Class,
  infer Content
> ? EventIn<Type, Class, ClearableContent<Content>>
  : T extends EventTypeRef<infer Type, infer Class>
    ? EventIn<Type, Class, ClearableContent<ContentIn<Type, Class>>>
  : T extends string ? EventIn<T, ClassOf<T>, ClearableContent<ContentIn<T, ClassOf<T>>>>
  : never;

/** Types that clients send, from proposals and from before the specification had another name for them. */
export type UnspecifiedEventType =
  | "m.beacon"
  | "m.beacon_info"
  | "m.call.member"
  | "m.call.notify"
  | "m.poll.end"
  | "m.poll.response"
  | "m.poll.start"
  | "m.room.retention"
  | "m.room.rule.room"
  | "m.room.rule.server"
  | "m.room.rule.user"
  | "m.rtc.member"
  | "m.rtc.notification";

const UNSPECIFIED: Readonly<Record<UnspecifiedEventType, true>> = {
  "m.beacon": true,
  "m.beacon_info": true,
  "m.call.member": true,
  "m.call.notify": true,
  "m.poll.end": true,
  "m.poll.response": true,
  "m.poll.start": true,
  "m.room.retention": true,
  "m.room.rule.room": true,
  "m.room.rule.server": true,
  "m.room.rule.user": true,
  "m.rtc.member": true,
  "m.rtc.notification": true,
};

/** The types that have a name of the specification, of a proposal, or of Greenroom. */
export type NamedEventType =
  | StateEventType
  | MessageEventType
  | EphemeralEventType
  | AccountDataEventType
  | ToDeviceEventType
  | InternalEventType
  | `m.secret_storage.key.${string}`
  | UnspecifiedEventType;

/**
 * A type of event that a handler can be added for: `never` for a name in the specification's namespace
 * (`m.…`) that it does not have, for one without a dot that is not in upper case, and for those that
 * another library has (`room.message`). For such a type give its class as well, with
 * {@linkcode eventType}.
 */
export type ListenedType<T extends EventType> = T extends string ? string extends T ? T
  : T extends NamedEventType ? T
  : T extends `${"m" | "room" | "message" | "member" | "typing" | "receipt"}.${string}` ? never
  : T extends `${"client" | "sync" | "crypto" | "device" | "verification" | "decryption"}.${string}` ? never
  : T extends `${string}.${string}` | Exclude<Uppercase<T>, ""> ? T
  : never
  : T;

/** What other libraries' names of events begin with; no domain ends so. */
const OTHER_GROUP =
  /^(?:m|room|message|member|typing|receipt|client|sync|crypto|device|verification|decryption)\./;

/** What other libraries call events, and what to write here. */
export type OtherEventTypes =
  & Record<"messageCreate" | "message:text" | "room.event", "m.room.message">
  & Record<"room.failed_decryption" | "decryption.failed" | "crypto.undecryptable", "UNDECRYPTABLE">
  & Record<
    "verification" | "verification.request" | "crypto.verification.request",
    "VERIFICATION_REQUEST"
  >
  & Record<"error", "SYNC_ERRORED for failed syncs, HANDLER_ERROR for failed handlers">
  & Record<"prepared" | "ready" | "sync", "client.ready">;

const OTHER_TYPES: Readonly<OtherEventTypes> = {
  messageCreate: "m.room.message",
  "message:text": "m.room.message",
  "room.event": "m.room.message",
  "room.failed_decryption": "UNDECRYPTABLE",
  "decryption.failed": "UNDECRYPTABLE",
  "crypto.undecryptable": "UNDECRYPTABLE",
  verification: "VERIFICATION_REQUEST",
  "verification.request": "VERIFICATION_REQUEST",
  "crypto.verification.request": "VERIFICATION_REQUEST",
  error: "SYNC_ERRORED for failed syncs, HANDLER_ERROR for failed handlers",
  prepared: "client.ready",
  ready: "client.ready",
  sync: "client.ready",
};

/**
 * What a handler's type should have been: the same with `m.` or `m.room.`, or in upper case, or as elsewhere.
 */
export type MeantType<T extends string> = T extends keyof OtherEventTypes ? OtherEventTypes[T]
  : `m.${T}` extends NamedEventType ? `m.${T}`
  : `m.room.${T}` extends NamedEventType ? `m.room.${T}`
  : Uppercase<T extends `room.${infer Kind}` ? Kind : T> extends infer Own extends InternalEventType ? Own
  : "a type of Matrix, or eventType() with its class";

/** A type that a handler can be added for; of others, what the compiler's message says to write. */
export type HandledType<T extends EventType> = [ListenedType<T>] extends [never]
  ? WriteInstead<MeantType<T & string>>
  : ListenedType<T>;

/**
 * Says what is wrong with a type of event that a handler is added for, as far as its name shows that.
 *
 * @returns The nearest type that there is, if one is near; undefined: nothing is wrong.
 */
export function unknownType(type: EventType): { readonly nearest: string | undefined } | undefined {
  if (typeof type !== "string" || classOf(type) !== "unknown") return undefined;
  if (Object.hasOwn(UNSPECIFIED, type) || type.includes(".") && !OTHER_GROUP.test(type)) {
    return undefined;
  }
  const elsewhere = Object.hasOwn(OTHER_TYPES, type) ? OTHER_TYPES[type as keyof OtherEventTypes] : undefined;
  if (elsewhere !== undefined) return { nearest: elsewhere };
  const names = [...knownTypes(), ...Object.keys(UNSPECIFIED), ...Object.values(InternalEventType)];
  const meant = [`m.${type}`, `m.room.${type}`, type.split(".").at(-1)?.toUpperCase()];
  const nearest = names.find((name) => meant.includes(name)) ?? nearestName(type, names);
  const isOwn = !type.includes(".") && type === type.toUpperCase();
  if (isOwn && nearest === undefined) return undefined; // the application may dispatch it
  return { nearest };
}
