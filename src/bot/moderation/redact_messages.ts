/**
 * Removing what a user said.
 *
 * @module
 */

import { type Client, LimitExceededError } from "../../../mod.ts";
import type { ClientEvent, EventID, RoomID, SyncToken, UserID } from "../../../types.ts";

/** Options of {@link redactMessages}. */
export interface RedactMessagesOptions {
  /** How many events to redact at most. Default: 100. */
  limit?: number;
  /** Why, for all to read. Default: nothing is said. */
  reason?: string;
  /** Where to go on: what an earlier call returned as `from`. Default: at the newest event. */
  from?: SyncToken;
  /** How many pages of a hundred events of the room to look through at most. Default: 50. */
  maxPages?: number;
  /** Ends the work, which rejects. Default: nothing does. */
  signal?: AbortSignal;
}

/** What {@link redactMessages} did. */
export interface RedactedMessages {
  /** The events that it redacted. */
  readonly redacted: readonly EventID[];
  /**
   * Where to go on, for `from`: there may be more. Absent if the limit was reached, or the history
   * ends.
   */
  readonly from?: SyncToken;
  /** How long the server asks to wait before, in milliseconds. Absent if it does not ask. */
  readonly retryAfter?: number;
}

const PAGE = 100;

/**
 * Redacts the last events of a user in a room, from new to old: messages, reactions, stickers,
 * encrypted ones; not state, which can't be taken back so. The client needs the power to redact.
 *
 * The client waits and tries again when the server wants less, as its retry policy says. If that
 * does not suffice, the call resolves with where to go on. Called again after a crash, it finds
 * what is left: what was redacted counts once.
 *
 * @param client The client.
 * @param roomId The room.
 * @param userId Whose events.
 * @param options How many, why, and where to begin.
 * @returns What was redacted, and where there may be more.
 * @throws {ForbiddenError} If the client lacks the power, or is not in the room.
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { redactMessages } from "@greenroom/matrix/bot";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("alice");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token: accessToken });
 * const roomId = await client.createRoom();
 * const eventId = await client.sendText(roomId, "Macbeth!");
 * const { redacted } = await redactMessages(client, roomId, "@alice:localhost", { reason: "bad luck" });
 * console.assert(redacted.join() === eventId);
 * ```
 */
export async function redactMessages(
  client: Pick<Client, "getMessages" | "redact">,
  roomId: RoomID,
  userId: UserID,
  { limit = 100, reason, from, maxPages = 50, signal }: RedactMessagesOptions = {},
): Promise<RedactedMessages> {
  const request = { signal };
  const redacted: EventID[] = [];
  let page = from;
  for (let pages = 0; pages < maxPages; pages++) {
    const begin = page;
    try {
      const filterJson = { senders: [userId] };
      const { chunk, start, end } = await client.getMessages(roomId, "b", page, {
        limit: PAGE,
        filterJson,
        ...request,
      });
      page ??= start;
      for (const event of chunk) {
        if (!isRedactable(event, userId)) continue;
        if (redacted.length >= limit) return { redacted };
        await client.redact(roomId, event.event_id, {
          reason,
          txnId: `redact-${event.event_id}`,
          ...request,
        });
        redacted.push(event.event_id);
      }
      if (end === undefined || end === page) return { redacted };
      page = end;
    } catch (error) {
      if (!(error instanceof LimitExceededError)) throw error;
      const next = page ?? begin;
      if (next === undefined) throw error; // nothing is known yet of where to go on
      return {
        redacted,
        from: next,
        ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
      };
    }
  }
  return { redacted, ...(page !== undefined && { from: page }) };
}

/** Whether there is anything in an event that can be taken out of it. */
function isRedactable(event: ClientEvent, userId: UserID): boolean {
  return event.sender === userId && event.state_key === undefined && event.type !== "m.room.redaction" &&
    Object.keys(event.content).length > 0;
}
