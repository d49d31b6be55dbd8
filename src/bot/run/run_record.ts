/**
 * What runs are kept as: their steps, and what they wait for.
 *
 * @module
 */

import type { EventID, MatrixEvent, RoomID, UserID } from "../../../types.ts";
import type { ConversationEnding } from "./errors.ts";
import type { KeptError } from "./kept_error.ts";
import type { Query } from "./queries.ts";

/** What a step of a run came to: plain data. */
export interface Step {
  /** What it was, to notice when a replay goes another way. */
  readonly kind: string;
  /** What it returned. */
  value?: unknown;
  /** What it threw. */
  error?: KeptError;
  /** How the conversation was ended in it. */
  end?: ConversationEnding;
}

/** Steps that somebody sees. */
const SAYING = new Set(["send", "edit", "react", "image", "file", "poll", "end poll", "stream"]);

/** Whether something was said in one of some steps. */
export function hasSaid(steps: readonly Step[]): boolean {
  return steps.some(({ kind }) => SAYING.has(kind));
}

/** What a run waits for. */
export interface Wait {
  /** The place of the step among the steps. */
  readonly at: number;
  readonly room: RoomID;
  /** Which events, by their queries. */
  readonly queries: readonly Query[];
  /** Whose; undefined: anybody's. */
  readonly from: UserID | undefined;
  /** The thread's first event; empty: outside of threads; undefined: anywhere in the room. */
  readonly thread: EventID | "" | undefined;
  /** Only reactions to this event; text is not concerned. */
  readonly reactionTo: EventID | undefined;
  /** Until when, in milliseconds since the epoch. */
  readonly until: number;
}

/** An event with what is known of its encryption. */
export interface KeptEvent {
  /** Its type, as `Client.on()` has it. */
  readonly type: string;
  readonly event: MatrixEvent;
  /** What `encryptionOf()` said of it. */
  readonly encryption: unknown;
  /** Of an edit in a thread: the first event of that, which the edit does not name. Default: what the event says. */
  readonly thread?: EventID;
}

/** What the log says of a run that began with an event. */
export function runDetails(
  { type, event }: Omit<KeptEvent, "encryption">,
  command: string | undefined,
): Readonly<Record<string, unknown>> {
  const { room_id: room, sender, event_id: eventId }: Partial<Record<string, unknown>> = { ...event };
  return { command, type, room, sender, eventId };
}

/** An answer that may be the one. */
export interface Answer {
  /** The step that waits. */
  readonly at: number;
  readonly kept: KeptEvent;
}

/** How a run ended: done, waiting for something, or the answer was not one. */
export type RunEnd = { readonly kind: "done" } | { readonly kind: "waits"; readonly wait: Wait } | {
  readonly kind: "refused";
};
