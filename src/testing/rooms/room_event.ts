/**
 * Events as the in-process homeserver keeps them: which points at which, and how to walk through them.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#forwards-compatibility-with-older-relations | Relationships}
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { stringAt } from "../json/json.ts";

/** What someone wants to send, before it has passed the rules of the room. */
export interface EventDraft {
  /** Its ID, if that had to be known before. */
  readonly id?: EventID;
  /** The event type. */
  readonly type: string;
  /** Who sends it. */
  readonly sender: UserID;
  /** The state key; `undefined` for what is not state. */
  readonly stateKey?: string;
  readonly content: JsonObject;
  /** The event that a redaction redacts. */
  readonly redacts?: EventID;
  /** Overrides the clock. */
  readonly timestamp?: number;
  /** The device, only ever compared, and the transaction ID that it was sent with. */
  readonly transaction?: { readonly device: object; readonly id: string };
}

export interface RoomEvent extends EventDraft {
  readonly id: EventID;
  readonly roomId: RoomID;
  /** The content; what a redaction leaves of it once there is one. */
  content: JsonObject;
  /** The content before the redaction: what the room is still described by. */
  contentBefore?: JsonObject;
  /** When it was sent, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Where it lies in the stream. */
  readonly position: number;
  /** Its index among the events of the room. */
  readonly index: number;
  /** The state event that it replaced. */
  readonly replaces?: RoomEvent;
  /** The redaction that removed its content. */
  redaction?: RoomEvent;
}

/** The membership that a member event gives. */
export function membershipOf(event: RoomEvent | undefined): string {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership : "leave";
}

/** The relation that an event declares. */
export interface Relation {
  /** The kind, for example `m.thread`. */
  readonly type: string;
  /** The event that it points at. */
  readonly parent: string;
  /** The key of an annotation. */
  readonly key: string | undefined;
}

/** The relation that `event` declares, if it is well formed. */
export function relationOf(event: { readonly content: RoomEvent["content"] }): Relation | undefined {
  const type = stringAt(event.content, "m.relates_to", "rel_type");
  const parent = stringAt(event.content, "m.relates_to", "event_id");
  if (type === undefined || parent === undefined) return undefined;
  return { type, parent, key: stringAt(event.content, "m.relates_to", "key") };
}

/** The children of every event of a room. A redacted event no longer relates to anything. */
export class Relations {
  readonly #children = new Map<string, RoomEvent[]>();
  readonly #relation = new Map<EventID, Relation>();

  /** Files an event under what it points at. */
  add(event: RoomEvent): void {
    const relation = relationOf(event);
    if (relation === undefined || event.stateKey !== undefined) return;
    this.#relation.set(event.id, relation);
    const children = this.#children.get(relation.parent);
    if (children === undefined) this.#children.set(relation.parent, [event]);
    else children.push(event);
  }

  /** The relation of an event, as long as it has one. */
  of(event: RoomEvent): Relation | undefined {
    return event.redaction === undefined ? this.#relation.get(event.id) : undefined;
  }

  /** The events that point at `parent`, oldest first. */
  childrenOf(parent: string, type?: string): RoomEvent[] {
    const children = this.#children.get(parent) ?? [];
    return children.filter((child) => {
      const relation = this.of(child);
      return relation !== undefined && (type === undefined || relation.type === type);
    });
  }

  /** Every event that something points at. */
  parents(): Iterable<string> {
    return this.#children.keys();
  }
}

/** The index of the first item that lies after `position`. */
export function firstAfter(items: readonly { readonly position: number }[], position: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.position ?? Infinity) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Which events to collect. */
interface Walk {
  /** Whether to walk from old to new. */
  readonly forwards: boolean;
  /** The stream position to start at; the event there belongs to what lies behind. */
  readonly from: number;
  /** The stream position to stop at. */
  readonly to: number;
  /** How many events to collect at most. */
  readonly limit: number;
  /** Which events count. */
  readonly allows: (event: RoomEvent) => boolean;
}

/** Collects events of a room in the order of the walk. */
export function paginate(
  all: readonly RoomEvent[],
  { forwards, from, to, limit, allows }: Walk,
): RoomEvent[] {
  const events: RoomEvent[] = [];
  const step = forwards ? 1 : -1;
  for (let i = firstAfter(all, from) - (forwards ? 0 : 1); events.length < limit; i += step) {
    const event = all[i];
    if (event === undefined || (forwards ? event.position > to : event.position <= to)) break;
    if (allows(event)) events.push(event);
  }
  return events;
}
