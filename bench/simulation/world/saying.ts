/**
 * Messages that people say.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { describe } from "../../kill/answering.ts";

/** A message that a device was asked to say. */
export interface Saying {
  readonly number: number;
  readonly room: RoomID;
  readonly text: string;
  /** Whether it is sent by the queue of the room. */
  readonly isQueued: boolean;
  /** Its event's ID, when the server has said so. */
  eventId?: EventID;
  /** Why it was given up: its user may not send there. */
  refused?: string;
}

/** Whether a message may not have arrived. */
export function isUnsaid({ eventId, refused }: Saying): boolean {
  return eventId === undefined && refused === undefined;
}

/** Sends a message, and takes down what came of it. */
export function sendSaying(
  client: Client,
  saying: Saying,
  { note, onFailure }: {
    readonly note: (line: string) => void;
    readonly onFailure: (txnId: string, error: unknown) => void;
  },
): void {
  const { number, room, text } = saying;
  const txnId = `say-${number}`;
  const send = () => {
    if (!saying.isQueued) return client.sendText(room, text, { txnId });
    const { sent } = client.queue(room, {
      onProgress({ state, send: { content }, error }) {
        // What is tried again is encrypted anew.
        if (state === "waiting" && "body" in content && content.body === text) onFailure(txnId, error);
      },
    }).sendText(text, { txnId });
    return sent;
  };
  send().then(
    (eventId) => {
      saying.eventId = eventId;
      note(`has sent ${number}: ${eventId}`);
    },
    (error) => {
      onFailure(txnId, error);
      note(`can't send ${number}: ${describe(error)}`);
      if (/M_FORBIDDEN|not a member|BadState|UnsupportedAlgorithm/.test(describe(error))) {
        saying.refused = describe(error);
      }
    },
  );
}
