/**
 * Who the members of a room were before what a response tells of them.
 *
 * @module
 */

import type { MatrixEvent, StateEvent, StrippedStateEvent } from "../../types/events/event.ts";

/** An event of a room's state. */
export type MemberStateEvent = StateEvent | StrippedStateEvent;

/** Knows the member events before an event of their room. It is seldom asked, and does nothing before. */
export class FormerMembers {
  readonly #events: readonly MatrixEvent[];
  readonly #kept: ReadonlyMap<string, MemberStateEvent> | undefined;
  /** Those of the first events, by user. */
  #told: Map<string, MemberStateEvent> | undefined;
  #toldOf = 0;

  /**
   * @param events The room's events, in order.
   * @param kept What was known before, by user.
   */
  constructor(events: readonly MatrixEvent[], kept: ReadonlyMap<string, MemberStateEvent> | undefined) {
    this.#events = events;
    this.#kept = kept;
  }

  /** The member event of a user before the event at an index, which may not be less than that of the call before. */
  before(index: number, userId: string): MemberStateEvent | undefined {
    const told = this.#told ??= new Map();
    for (; this.#toldOf < index; this.#toldOf++) {
      const event = this.#events[this.#toldOf];
      if (event !== undefined && isMember(event)) told.set(event.state_key, event);
    }
    return told.get(userId) ?? this.#kept?.get(userId);
  }
}

/** Whether an event tells who a member is. */
export function isMember(event: MatrixEvent): event is MemberStateEvent {
  return event.type === "m.room.member" && stateKeyOf(event) !== undefined;
}

/** The state key of an event, if it has one. */
export function stateKeyOf(event: MatrixEvent): string | undefined {
  return (event as Partial<StateEvent>).state_key; // quicker than to ask first whether it is there: events have many shapes
}
