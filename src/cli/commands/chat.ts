/**
 * `greenroom chat`: a conversation at the terminal, with a user or in a room.
 *
 * @module
 */

import { type Client, isRoomAlias, isRoomId, isUserId, NotFoundError } from "../../../mod.ts";
import type { DirectContent, RoomID, UserID } from "../../../types.ts";
import { CliError, type Input, shown, STATUS, type Terminal, TypedLines, UsageError } from "../io/mod.ts";
import { followed, openEncrypted, readSettings } from "../project/mod.ts";
import { roomOf, stateOf } from "./rooms.ts";

/** Talks until Ctrl-C, or the end of standard input. */
export async function run({ args: [given = ""], terminal }: Input): Promise<number> {
  if (!isUserId(given) && !isRoomId(given) && !isRoomAlias(given)) {
    throw new UsageError(
      "Cannot chat: that is no user ID like @user:example.org, room ID like !abc:example.org, or alias like " +
        "#room:example.org",
    );
  }
  await using account = await openEncrypted(await readSettings());
  const { client } = account;
  using typed = new TypedLines(terminal);
  const talk = async () => {
    const roomId = isUserId(given) ? await directRoom(client, given) : await joinedRoom(client, given);
    client.on("m.room.message", ({ room_id, sender, content }) => {
      if (room_id === roomId && sender !== client.mxid) typed.print(`${sender}  ${indented(content.body)}`);
    });
    client.on("UNDECRYPTABLE", ({ event: { room_id, sender } }) => {
      if (room_id === roomId) typed.print(`${sender}  (a message that cannot be decrypted)`);
    });
    await followed(client);
    if (isUserId(given)) await joined(client, { roomId, user: given }, terminal);
    if (terminal.isInteractive) {
      const kind = await client.isRoomEncrypted(roomId) ? "encrypted" : "not encrypted";
      terminal.note(`The room ${roomId} is ${kind}. Type a message, and press Enter. Ctrl-C ends it.`);
    }
    for await (const line of typed.lines()) if (line.trim() !== "") await client.sendText(roomId, line);
  };
  const end = await Promise.race([typed.interrupted, talk(), client.done]);
  await client.crypto?.idle();
  return end === "interrupted" ? STATUS.CANCELLED : STATUS.DONE;
}

/** The room that is meant, which the user has to be in. */
async function joinedRoom(client: Client, given: string): Promise<RoomID> {
  const roomId = await roomOf(client, given);
  if ((await client.getJoinedRooms()).includes(roomId)) return roomId;
  throw new CliError(
    `Cannot chat in ${given}: ${client.mxid} is not in it; join it: greenroom join ${given}`,
  );
}

/** The encrypted direct chat with a user, which is made if there is none. */
async function directRoom(client: Client, user: UserID): Promise<RoomID> {
  const direct: DirectContent = await client.getAccountData("m.direct").catch((error) => {
    if (error instanceof NotFoundError) return {};
    throw error;
  });
  const rooms = await client.getJoinedRooms();
  for (const roomId of direct[user] ?? []) {
    if (!rooms.includes(roomId)) continue;
    const encryption = await stateOf(client, roomId, "m.room.encryption");
    const member = await stateOf(client, roomId, "m.room.member", user);
    if (encryption !== undefined && /^(?:join|invite)$/.test(String(member?.membership))) return roomId;
  }
  const roomId = await client.createRoom({
    ...{ preset: "trusted_private_chat", isDirect: true },
    ...{ invite: [user], encrypted: true },
  });
  await client.setAccountData("m.direct", { ...direct, [user]: [...direct[user] ?? [], roomId] });
  return roomId;
}

/** A text of more than one line, with the others below the first. */
function indented(text: string): string {
  return text.split("\n").map(shown).join("\n  ");
}

/** Waits until a user is in the room: nobody reads what was said before they came. */
async function joined(
  client: Client,
  { roomId, user }: { readonly roomId: RoomID; readonly user: UserID },
  terminal: Terminal,
): Promise<void> {
  const comes = Promise.withResolvers<void>();
  client.on("JOIN", ({ room_id, sender }) => {
    if (room_id === roomId && sender === user) comes.resolve();
  });
  if (user in await client.getJoinedMembers(roomId)) return;
  terminal.note(`Waiting until ${user} joins. Is the user ID right, and does the bot run? Ctrl-C ends it.`);
  await Promise.race([comes.promise, client.done]);
}
