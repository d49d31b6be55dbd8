/**
 * Polls, as a bot begins, counts and ends them.
 *
 * @module
 */

import { type Client, encryptionOf, ValueError } from "../../../mod.ts";
import { type ClientEvent, type EventID, type RelatesTo, type RoomID, SyncStream } from "../../../types.ts";
import type { OptionNames } from "../../errors/known_names.ts";
import { POLL_EVENTS, pollEnd, type PollOptions, pollStart } from "./poll_contents.ts";
import { editedPoll, pollEventOf } from "./read_poll.ts";
import { countOf, type PollTally, tallyOf } from "./tally_poll.ts";

/**
 * What {@linkcode BotRoom.sendPoll} takes beside the question and the answers.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type SendPollOptions = Omit<PollOptions, "question" | "answers">;

export const POLL: OptionNames<SendPollOptions> = { maxSelections: true, undisclosed: true };

const ENCRYPTED = "m.room.encrypted";
/** How many votes are asked for at once. */
const PAGE = 100;
/** How many edits of a poll are looked at, the newest first. */
const MAX_EDITS = 100;

/** Begins a poll. */
export async function sendPoll(
  client: Client,
  room: RoomID,
  { relatesTo, ...poll }: PollOptions & { readonly relatesTo?: RelatesTo },
): Promise<EventID> {
  const related = relatesTo === undefined ? {} : { "m.relates_to": relatesTo };
  return await client.sendMessageEvent(room, POLL_EVENTS.START, { ...pollStart(poll), ...related });
}

/**
 * Counts the votes of a poll, as far as the server gives them and they can be decrypted. They are read page
 * by page, the newest first, and one of each user is kept. In an encrypted room nothing counts that came in
 * clear: the server, or who has a user's token, may have written it. Nor does what only a key of the backup or
 * of an inviter opens, who could have written it in another's name; the poll itself may be read so.
 *
 * @throws {ValueError} If it is no poll, or came in clear into an encrypted room.
 */
export async function countPoll(client: Client, room: RoomID, poll: EventID): Promise<PollTally> {
  const start = await client.getEvent(room, poll);
  const isEncrypted = start.type === ENCRYPTED || await client.isRoomEncrypted(room);
  if (isEncrypted && start.type !== ENCRYPTED) {
    throw new ValueError(
      `Cannot count the votes for event ${poll}: it came in clear, into an encrypted room`,
    );
  }
  const edits: ClientEvent[] = [];
  for await (const event of client.iterateRelations(room, poll, { relType: "m.replace", limit: PAGE })) {
    if (event.sender !== start.sender || event.type !== start.type) continue; // what is encrypted stays so
    edits.push(await inClear(client, event, "by its sender"));
    if (edits.length === MAX_EDITS) break;
  }
  const count = countOf(editedPoll(await inClear(client, start), edits));
  do {
    for await (const event of client.iterateRelations(room, poll, { relType: "m.reference", limit: PAGE })) {
      if (isEncrypted && event.type !== ENCRYPTED) continue;
      const clear = await inClear(client, event, "by its sender");
      const isEnd = pollEventOf(clear.type) === "end";
      count.add(clear, isEnd && await client.stateStore.hasPowerLevel(room, clear.sender, "redact"));
    }
  } while (count.takeMisses());
  return tallyOf(count);
}

/**
 * An event in plain text; as it is if it can't be decrypted, or not by a key that shows who has sent it where
 * that is asked for, so that it counts for nothing.
 */
async function inClear(client: Client, event: ClientEvent, shown?: "by its sender"): Promise<ClientEvent> {
  if (event.type !== ENCRYPTED || client.crypto === undefined) return event;
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  const decrypted = await client.crypto.decrypt({ ...event, source, state_key: undefined });
  if ("code" in decrypted) return event;
  const { keySource } = encryptionOf(decrypted.event) ?? {};
  if (shown !== undefined && (keySource === "backup" || keySource === "bundle")) return event;
  const { type, content } = decrypted.event;
  // The relation stands in clear, beside what is encrypted.
  return { ...event, type, content: { "m.relates_to": event.content["m.relates_to"], ...content } };
}

/** Ends a poll with what it came to. */
export async function endPoll(client: Client, room: RoomID, poll: EventID): Promise<PollTally> {
  const tally = await countPoll(client, room, poll);
  if (tally.endedAt === undefined) {
    await client.sendMessageEvent(room, POLL_EVENTS.END, { ...pollEnd(poll, tally) });
  }
  return tally;
}
