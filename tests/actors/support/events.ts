/**
 * Events and sync responses as a server sends them.
 *
 * @module
 */

import type { EncryptionInfo, JsonObject, UserID } from "@greenroom/matrix/types";

/** The acting user of these tests. */
export const OWN: UserID = "@own:a";

/** A room of these tests. */
export const ROOM = "!room:a";

/** The content of an encrypted message. */
export const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "AwgA", session_id: "session" };

/** What is known of a message that was decrypted. */
export const INFO: EncryptionInfo = {
  senderTrust: "unsigned-device",
  keySource: "direct",
  sessionId: "s",
  messageIndex: 0,
  senderKey: "k",
  senderDevice: "D",
  relation: undefined,
};

/** A message; its ID is made of its text. */
export function message(text: string, more: JsonObject = {}): JsonObject {
  return {
    type: "m.room.message",
    event_id: `$${text}`,
    sender: "@bob:a",
    origin_server_ts: 1,
    content: { msgtype: "m.text", body: text },
    ...more,
  };
}

/** A state event. */
export function state(type: string, content: JsonObject, more: JsonObject = {}): JsonObject {
  const id = `$${type}${JSON.stringify(content)}`;
  return { type, event_id: id, sender: "@bob:a", origin_server_ts: 1, state_key: "", content, ...more };
}

/** A member event, sent by the user it is about. */
export function member(user: string, membership: string, more: JsonObject = {}): JsonObject {
  const id = `$${user}-${membership}`;
  return state("m.room.member", { membership }, { state_key: user, sender: user, event_id: id, ...more });
}

/** A sync response with one joined room, and whatever else is given. */
export function joined(room: JsonObject, more: JsonObject = {}): JsonObject {
  return { next_batch: "n", rooms: { join: { [ROOM]: room } }, ...more };
}

/** A timeline. */
export function timeline(events: JsonObject[], more: JsonObject = {}): JsonObject {
  return { timeline: { events, ...more } };
}
