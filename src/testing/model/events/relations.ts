/**
 * Which events of a room point at which others.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#forwards-compatibility-with-older-relations | Relationships}
 * @module
 */

import type { EventID } from "../../../types/ids.ts";
import { stringAt } from "../../http/read.ts";
import type { RoomEvent } from "./room_event.ts";

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
