/**
 * Moderation: going along when a room is upgraded, and removing what a user said.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-upgrades | Room upgrades}
 * @module
 */

import { type Client, ForbiddenError, LimitExceededError, NotFoundError, ValueError } from "../../../mod.ts";
import type { ClientEvent, EventID, RoomID, SyncToken, UserID } from "../../../types.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { joinLate } from "../policy/policy.ts";
import { memberOf } from "../text/mod.ts";
import { serverOf } from "./server_acl.ts";

export {
  POLICY_RULE_TYPES,
  type PolicyEvent,
  type PolicyKind,
  PolicyLists,
  type PolicyListsOptions,
  type PolicyRule,
  type PolicyRuleType,
} from "./policy_lists.ts";
export {
  type BuiltServerAcl,
  type ServerAcl,
  serverAcl,
  type ServerAclOptions,
  updateServerAcl,
  type UpdateServerAclOptions,
} from "./server_acl.ts";

/** As much of an `m.room.tombstone` as is looked at. */
export interface TombstoneEvent {
  /** The room that was upgraded. */
  readonly room_id: RoomID;
  /** The user who upgraded the room. */
  readonly sender: UserID;
  /** The content of the event. */
  readonly content: object;
}

/** Options of {@link followUpgrade}. */
export interface FollowUpgradeOptions {
  /** Servers to join through, beside that of who ended the room. Default: none. */
  servers?: readonly string[];
  /** Ends the work, which rejects. Default: nothing does. */
  signal?: AbortSignal;
}

/** How many upgrades are followed one after the other. */
const MAX_UPGRADES = 10;

/**
 * Joins the room that takes the place of one that was upgraded, and the one after it if that was
 * upgraded too.
 *
 * A tombstone can name any room. So the new one is asked which room it replaces, as soon as that can
 * be read, which mostly is after joining; if it does not name the old one, it is left again, unless
 * the user was there before.
 *
 * A server may hear of the new room later than of the end of the old one: for five minutes a refusal (403,
 * 404) is not the last word.
 *
 * Nothing of what a bot of the kit remembers moves on: its pending reminders and open questions stay those
 * of the old room, with the sessions that are kept by room, and a function of `bot.every()` that names the
 * old room goes on speaking there. If the new room needs them, make them anew.
 *
 * @param client The client.
 * @param tombstone The event that ended the room.
 * @param options Servers to join through.
 * @returns The room that was joined; undefined if the event does not end the room, since it is a
 *   tombstone that was taken back.
 * @throws {ValueError} If the new room does not name the old one as its predecessor.
 * @throws {ForbiddenError} If the new room can only be joined by invitation.
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { followUpgrade } from "@greenroom/matrix/bot";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = await homeserver.createUser("bot");
 * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
 * bot.on("m.room.tombstone", async (event) => {
 *   if ("room_id" in event) await followUpgrade(bot, event);
 * });
 * ```
 */
export async function followUpgrade(
  client: Pick<Client, "joinRoom" | "leaveRoom" | "getStateEvent" | "api">,
  tombstone: TombstoneEvent,
  options: FollowUpgradeOptions = {},
): Promise<RoomID | undefined> {
  checkOptions(options, { servers: true, signal: true }, "follow an upgrade");
  const { servers = [], signal } = options;
  const through = [...new Set([serverOf(tombstone.sender), ...servers])];
  const visited = new Set<RoomID>([tombstone.room_id]);
  let [from, content, joined]: [RoomID, object, RoomID | undefined] = [
    tombstone.room_id,
    tombstone.content,
    undefined,
  ];
  while (visited.size <= MAX_UPGRADES) {
    const to = memberOf(content, "replacement_room");
    if (!isRoomId(to) || visited.has(to)) return joined;
    visited.add(to);
    // A tombstone that names a room where the user is must not make the user leave it.
    const known = await readCreate(client, to, signal);
    if (known === undefined) await joinLate(client, to, { servers: through, signal });
    const create = known ?? await client.getStateEvent(to, "m.room.create", { signal });
    if (memberOf(memberOf(create, "predecessor"), "room_id") !== from) {
      if (known === undefined) await client.leaveRoom(to, { signal });
      throw new ValueError(
        `Cannot follow the upgrade of room ${from}: room ${to} does not say that it replaces it`,
      );
    }
    // It can be read from outside.
    if (known !== undefined) await joinLate(client, to, { servers: through, signal });
    [from, joined] = [to, to];
    content = await client.getStateEvent(to, "m.room.tombstone", { signal }).catch((error) => {
      if (error instanceof NotFoundError) return {};
      throw error;
    });
  }
  return joined;
}

/** Reads how a room began; undefined if only its members may know, or it does not exist here. */
async function readCreate(
  client: Pick<Client, "getStateEvent">,
  roomId: RoomID,
  signal: AbortSignal | undefined,
): Promise<object | undefined> {
  try {
    return await client.getStateEvent(roomId, "m.room.create", { signal });
  } catch (error) {
    if (error instanceof ForbiddenError || error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function isRoomId(value: unknown): value is RoomID {
  return typeof value === "string" && /^![^\s\0]+$/.test(value) && value.length <= 255;
}

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
 * does not suffice, or something else fails after events were redacted, the call resolves with
 * what it did, why it ended, and where to go on. Called again after a crash, it finds what is
 * left: what was redacted counts once.
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

/** Returns whether there is anything in an event that can be taken out of it. */
function isRedactable(event: ClientEvent, userId: UserID): boolean {
  return event.sender === userId && event.state_key === undefined && event.type !== "m.room.redaction" &&
    Object.keys(event.content).length > 0;
}
