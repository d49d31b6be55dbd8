/**
 * What kind of event an event is: its type and its class.
 *
 * The class matters because a type does not say it: anyone can send a *message* of the type `m.room.name`, and no
 * handler of room names may see it.
 *
 * @module
 */

import { InternalEventType } from "./internal_event_type.ts";

/** How events of a type travel, and what they have besides content. */
export type EventClass =
  /** Into a room's timeline. */
  | "message"
  /** Into a room's state. */
  | "state"
  /** Through a room, kept nowhere. */
  | "ephemeral"
  /** Into the user's private data. */
  | "account_data"
  /** To one device. */
  | "to_device"
  /** Made by Greenroom. */
  | "internal"
  /** Not known. */
  | "unknown";

/** A type of event together with its class. */
export interface EventTypeRef<Type extends string = string, Class extends EventClass = EventClass> {
  /** The type, as the wire has it. */
  readonly type: Type;
  /** The class. */
  readonly class: Class;
}

/**
 * A type of event: by name, if it is one of the specification's or of any class, or with its class.
 *
 * A name that stands for two classes, such as `m.room.encrypted`, means the message.
 */
export type EventType = string | EventTypeRef;

/**
 * Names a type of event together with its class.
 *
 * @param type The type, as the wire has it.
 * @param eventClass The class.
 * @returns The reference, to be given wherever an {@linkcode EventType} is asked for.
 *
 * @example
 * ```ts
 * import { eventType } from "@greenroom/matrix";
 *
 * const encryptedToDevice = eventType("m.room.encrypted", "to_device");
 * console.assert(encryptedToDevice.class === "to_device");
 * ```
 */
export function eventType<const Type extends string, const Class extends EventClass>(
  type: Type,
  eventClass: Class,
): EventTypeRef<Type, Class> {
  return { type, class: eventClass };
}

/** Classes of the types that the specification and Greenroom define, in the order in which a name is looked up. */
const KNOWN_TYPES: ReadonlyMap<EventClass, ReadonlySet<string>> = new Map<EventClass, ReadonlySet<string>>([
  [
    "state",
    new Set([
      "m.policy.rule.room",
      "m.policy.rule.server",
      "m.policy.rule.user",
      "m.room.aliases",
      "m.room.avatar",
      "m.room.canonical_alias",
      "m.room.create",
      "m.room.encryption",
      "m.room.guest_access",
      "m.room.history_visibility",
      "m.room.image_pack",
      "m.room.join_rules",
      "m.room.member",
      "m.room.name",
      "m.room.pinned_events",
      "m.room.policy",
      "m.room.power_levels",
      "m.room.server_acl",
      "m.room.third_party_invite",
      "m.room.tombstone",
      "m.room.topic",
      "m.space.child",
      "m.space.parent",
    ]),
  ],
  [
    "message",
    new Set([
      "m.call.answer",
      "m.call.candidates",
      "m.call.hangup",
      "m.call.invite",
      "m.call.negotiate",
      "m.call.reject",
      "m.call.sdp_stream_metadata_changed",
      "m.call.select_answer",
      "m.key.verification.accept",
      "m.key.verification.cancel",
      "m.key.verification.done",
      "m.key.verification.key",
      "m.key.verification.mac",
      "m.key.verification.ready",
      "m.key.verification.start",
      "m.reaction",
      "m.room.encrypted",
      "m.room.message",
      "m.room.redaction",
      "m.sticker",
    ]),
  ],
  ["ephemeral", new Set(["m.presence", "m.receipt", "m.typing"])],
  [
    "account_data",
    new Set([
      "m.accepted_terms",
      "m.cross_signing.master",
      "m.cross_signing.self_signing",
      "m.cross_signing.user_signing",
      "m.direct",
      "m.fully_read",
      "m.identity_server",
      "m.ignored_user_list",
      "m.image_pack.rooms",
      "m.invite_permission_config",
      "m.key_backup",
      "m.marked_unread",
      "m.megolm_backup.v1",
      "m.push_rules",
      "m.recent_emoji",
      "m.secret_storage.default_key",
      "m.tag",
    ]),
  ],
  [
    "to_device",
    new Set([
      "m.dummy",
      "m.forwarded_room_key",
      "m.key.verification.accept",
      "m.key.verification.cancel",
      "m.key.verification.done",
      "m.key.verification.key",
      "m.key.verification.mac",
      "m.key.verification.ready",
      "m.key.verification.request",
      "m.key.verification.start",
      "m.room.encrypted",
      "m.room_key",
      "m.room_key.withheld",
      "m.room_key_bundle",
      "m.room_key_request",
      "m.secret.request",
      "m.secret.send",
    ]),
  ],
  ["internal", new Set(Object.values(InternalEventType))],
]);

/** The only family of types that has no fixed names: the keys of secret storage, by their ID. */
const SECRET_STORAGE_KEY = "m.secret_storage.key.";

/** Whether `type` is known to be of `eventClass`. */
function isKnownAs(type: string, eventClass: EventClass): boolean {
  return KNOWN_TYPES.get(eventClass)?.has(type) === true ||
    (eventClass === "account_data" && type.startsWith(SECRET_STORAGE_KEY));
}

/**
 * The class that a type of event has.
 *
 * @param type A name, or a type with its class.
 * @returns The class; of a name with two classes the first of state, message, ephemeral, account data and to-device;
 * `"unknown"` of a name that neither the specification nor Greenroom defines.
 */
export function classOf(type: EventType): EventClass {
  if (typeof type !== "string") return type.class;
  for (const eventClass of KNOWN_TYPES.keys()) {
    if (isKnownAs(type, eventClass)) return eventClass;
  }
  return "unknown";
}

/**
 * Whether events of a type can be of a class: `m.room.encrypted` can be a message and go to a device, `m.room.name`
 * can only be state, and a name nobody defined can be anything but internal.
 *
 * @param type A name, or a type with its class.
 * @param eventClass The class in question.
 */
export function canBeOfClass(type: EventType, eventClass: EventClass): boolean {
  const known = classOf(type);
  if (known === "unknown") return eventClass !== "internal";
  return known === eventClass || (typeof type === "string" && isKnownAs(type, eventClass));
}

/**
 * The name of a type of event, as the wire has it.
 *
 * @param type A name, or a type with its class.
 */
export function typeName(type: EventType): string {
  return typeof type === "string" ? type : type.type;
}
