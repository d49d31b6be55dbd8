/**
 * `greenroom listen`: prints what is said in the bot's rooms, decrypted.
 *
 * @module
 */

import type { RoomID } from "../../../types.ts";
import { type Input, shown } from "../io/mod.ts";
import { openEncrypted, readSettings } from "../project/mod.ts";
import { roomOf } from "./rooms.ts";

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
  terminal.note("Listening until Ctrl-C. What is shown here the bot does not answer when it runs again.");
  await client.start({ ignoreInitialSync: true, signals: true });
}

/** When it was sent, as its server says: an ISO date, or a number that is none. */
function timeOf(timestamp: number): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString();
}
