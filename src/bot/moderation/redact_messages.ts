/**
 * Removing what a user said.
 *
 * @module
 */

import { type Client, LimitExceededError, NotFoundError } from "../../../mod.ts";
import type { ClientEvent, EventID, RoomID, SyncToken, UserID } from "../../../types.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";

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

const OPTIONS: OptionNames<RedactMessagesOptions> = {
  ...{ limit: true, reason: true, from: true, maxPages: true, signal: true },
};

/** The result of {@link redactMessages}. */
export interface RedactedMessages {
  /** IDs of the events whose content is gone. */
  readonly redacted: readonly EventID[];
  /** The events that the server says are not there, though its history shows them: they are as they were. */
  readonly missing: readonly EventID[];
  /** Why it ended early, after it had redacted some. Absent if it did not. */
  readonly error?: unknown;
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
 * does not suffice, or something else fails after events were redacted, the call resolves with what it did, why
 * it ended, and where to go on. Called again after a crash, it finds what is left: what was redacted counts once.
 *
 * @param client The client.
 * @param roomId The room.
 * @param userId The user whose events are redacted.
 * @param options How many, why, and where to begin.
 * @returns What was redacted, and where there may be more.
 * @throws {ForbiddenError} If the client lacks the power, or is not in the room, and nothing was redacted.
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { redactMessages } from "@greenroom/matrix/bot";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("alice");
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
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
  options: RedactMessagesOptions = {},
): Promise<RedactedMessages> {
  checkOptions(options, OPTIONS, "redact messages");
  const { limit = 100, reason, from, maxPages = 50, signal } = options;
  const request = { signal };
  const redacted: EventID[] = [];
  const missing: EventID[] = [];
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
        const { event_id } = event;
        if (redacted.length >= limit) return { redacted, missing };
        const isRedacted = await client.redact(roomId, event_id, {
          reason,
          txnId: `redact-${event_id}`,
          ...request,
        }).then(() => true, whetherThere);
        (isRedacted ? redacted : missing).push(event_id);
      }
      if (end === undefined || end === page) return { redacted, missing };
      page = end;
    } catch (error) {
      if (signal?.aborted) throw error;
      const isLimit = error instanceof LimitExceededError;
      const next = page ?? begin;
      if (next === undefined || redacted.length === 0 && !isLimit) throw error;
      const { retryAfter } = isLimit ? error : {};
      return { redacted, missing, from: next, error, ...(retryAfter !== undefined && { retryAfter }) };
    }
  }
  return { redacted, missing, ...(page !== undefined && { from: page }) };
}

/** @throws Why an event was not redacted, unless it is not there. */
function whetherThere(error: unknown): false {
  if (error instanceof NotFoundError) return false;
  throw error;
}

/** Whether there is anything in an event that can be taken out of it. */
function isRedactable(event: ClientEvent, userId: UserID): boolean {
  return event.sender === userId && event.state_key === undefined && event.type !== "m.room.redaction" &&
    Object.keys(event.content).length > 0;
}
