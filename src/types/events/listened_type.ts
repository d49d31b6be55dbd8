/**
 * Types of event that a handler can be added for: a typing error is told, and does not wait unheard.
 *
 * @module
 */

import { nearestName } from "../../errors/known_names.ts";
import { knownTypes } from "../checks/content_shapes.ts";
import type {
  AccountDataEventType,
  EphemeralEventType,
  MessageEventType,
  StateEventType,
  ToDeviceEventType,
} from "./event_map.ts";
import { classOf, type EventType } from "./event_type.ts";
import { InternalEventType } from "./internal_event_type.ts";

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
  : T extends `m.${string}` | `room.${string}` ? never
  : T extends `${string}.${string}` | Exclude<Uppercase<T>, ""> ? T
  : never
  : T;

/**
 * Says what is wrong with a type of event that a handler is added for, as far as its name shows that.
 *
 * @returns The nearest type that there is, if one is near; undefined: nothing is wrong.
 */
export function unknownType(type: EventType): { readonly nearest: string | undefined } | undefined {
  if (typeof type !== "string" || classOf(type) !== "unknown") return undefined;
  if (Object.hasOwn(UNSPECIFIED, type) || type.includes(".") && !/^(?:m|room)\./.test(type)) {
    return undefined;
  }
  const names = [...knownTypes(), ...Object.keys(UNSPECIFIED), ...Object.values(InternalEventType)];
  const meant = [`m.${type}`, `m.room.${type}`, type.split(".").at(-1)?.toUpperCase()];
  const nearest = names.find((name) => meant.includes(name)) ?? nearestName(type, names);
  const isOwn = !type.includes(".") && type === type.toUpperCase();
  if (isOwn && nearest === undefined) return undefined; // the application may dispatch it
  return { nearest };
}
