/**
 * `greenroom rooms`, `rooms create`, `join`, `members`, `send`, and `listen`,
 * which prints what is said in the bot's rooms, decrypted.
 *
 * @module
 */

import { type Client, isRoomAlias, isRoomId, isUserId, NotFoundError } from "../../../mod.ts";
import type { RoomID } from "../../../types.ts";
import { type Input, shown, UsageError } from "../io/mod.ts";
import { openEncrypted, openPlain, readSettings } from "../project/mod.ts";

/** Lists the rooms that the bot is in, also while it runs. */
export async function rooms({ flags, terminal }: Input): Promise<void> {
  await using account = await openPlain(await readSettings());
  const { client } = account;
  for (const roomId of await client.getJoinedRooms()) {
    const [name, encryption, members] = await Promise.all([
      stateOf(client, roomId, "m.room.name"),
      stateOf(client, roomId, "m.room.encryption"),
      client.getJoinedMembers(roomId),
    ]);
    const room = {
      roomId,
      name: typeof name?.name === "string" ? name.name : undefined,
      isEncrypted: encryption !== undefined,
      members: Object.keys(members).length,
    };
    if (flags.has("json")) {
      terminal.print(JSON.stringify(room));
      continue;
    }
    const lock = room.isEncrypted ? "encrypted" : "clear";
    terminal.print(
      `${roomId}  ${lock.padEnd(9)}  ${String(room.members).padStart(5)}  ${shown(room.name ?? "–")}`,
    );
  }
}

/** Makes a room. */
export async function create({ args: [name], flags, lists, terminal }: Input): Promise<void> {
  const invite = (lists.invite ?? []).map((user) => {
    if (isUserId(user)) return user;
    throw new UsageError("Cannot make the room: --invite takes a user ID like @you:example.org");
  });
  await using account = await openPlain(await readSettings());
  terminal.print(await account.client.createRoom({ name, invite, encrypted: flags.has("encrypted") }));
}

/** Joins a room, or accepts an invitation. */
export async function join({ args: [room = ""], lists, terminal }: Input): Promise<void> {
  if (!isRoomId(room) && !isRoomAlias(room)) throw noRoom();
  await using account = await openPlain(await readSettings());
  terminal.print(await account.client.joinRoom(room, { servers: lists.via }));
}

/** Lists who is in a room, also while the bot runs. */
export async function members({ args, flags, terminal }: Input): Promise<void> {
  await using account = await openPlain(await readSettings());
  const { client } = account;
  const roomId = await roomOf(client, args[0]);
  for (
    const [userId, { display_name: displayname }] of Object.entries(await client.getJoinedMembers(roomId))
  ) {
    terminal.print(
      flags.has("json") ? JSON.stringify({ userId, displayname }) : `${userId}  ${shown(displayname ?? "–")}`,
    );
  }
}

/** Sends a text: encrypted with the device of the bot where the room is encrypted. */
export async function send({ args, flags, terminal }: Input): Promise<void> {
  const text = args[1] ?? await terminal.readText("the message");
  const settings = await readSettings();
  await using plain = await openPlain(settings);
  const roomId = await roomOf(plain.client, args[0]);
  const isEncrypted = await stateOf(plain.client, roomId, "m.room.encryption") !== undefined;
  await using account = isEncrypted ? await openEncrypted(settings) : undefined;
  const { client } = account ?? plain;
  const eventId =
    await (flags.has("notice") ? client.sendNotice(roomId, text) : client.sendText(roomId, text));
  await client.crypto?.idle();
  terminal.print(eventId);
}

/** The room that is meant. */
export async function roomOf(client: Client, given = ""): Promise<RoomID> {
  if (isRoomId(given)) return given;
  if (isRoomAlias(given)) return (await client.getRoomAlias(given)).room_id;
  throw noRoom();
}

function noRoom(): UsageError {
  return new UsageError(
    "Cannot find the room: it is neither a room ID like !abc:example.org nor an alias like #room:example.org",
  );
}

export async function stateOf(
  client: Client,
  roomId: RoomID,
  type: string,
  stateKey?: string,
): Promise<Record<string, unknown> | undefined> {
  try {
    return await client.getStateEvent(roomId, type as "m.room.name", { stateKey }) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** What is printed of a message. */
interface Heard {
  readonly roomId: RoomID;
  readonly eventId: string;
  readonly sender: string;
  /** When it was sent, as an ISO date. */
  readonly time: string;
  readonly type: string;
  readonly text?: string;
  readonly content?: object;
}

/** Prints until Ctrl-C. */
export async function run({ args, flags, terminal }: Input): Promise<void> {
  await using account = await openEncrypted(await readSettings());
  const { client } = account;
  const only = args[0] === undefined ? undefined : await roomOf(client, args[0]);
  const say = (heard: Heard): void => {
    if (only !== undefined && heard.roomId !== only) return;
    if (flags.has("json")) return terminal.print(JSON.stringify(heard));
    terminal.print(`${heard.time}  ${heard.roomId}  ${heard.sender}  ${shown(heard.text ?? heard.type)}`);
  };
  client.on("m.room.message", ({ room_id, event_id, sender, origin_server_ts, type, content }) => {
    const time = timeOf(origin_server_ts);
    say({ roomId: room_id, eventId: event_id, sender, time, type, text: content.body, content });
  });
  client.on("UNDECRYPTABLE", ({ event: { room_id, event_id, sender, origin_server_ts } }) => {
    const time = timeOf(origin_server_ts);
    say({ roomId: room_id, eventId: event_id, sender, time, type: "m.room.encrypted" });
  });
  client.on("SYNC_STARTED", () => {
    terminal.note("Listening until Ctrl-C. What is shown here the bot does not answer when it runs again.");
  });
  await client.start({ ignoreInitialSync: true, signals: true });
}

/** When it was sent, as its server says: an ISO date, or a number that is none. */
function timeOf(timestamp: number): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString();
}
