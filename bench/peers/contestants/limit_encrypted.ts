/**
 * The limit of encryption: `fetch`, `JSON.parse` and vodozemac-wasm, with nothing of what makes
 * encryption safe around it.
 *
 * @module
 */

import {
  type InboundGroupSession,
  type OlmMessage,
  type OlmSession,
  Vodozemac,
} from "@greenroom/vodozemac-wasm";
import { BareClient, type Event, type Response } from "./bare_client.ts";
import { answers, countMany, drive } from "./drive.mjs";

const ONE_TIME_KEYS = 50;
const decoder = new TextDecoder();
const { olm, megolm } = await Vodozemac.load();
const account = olm.createAccount();
const olmSessions = new Map<string, OlmSession>();
const sessions = new Map<string, InboundGroupSession>();

async function publish(client: BareClient): Promise<void> {
  account.generateOneTimeKeys(ONE_TIME_KEYS);
  const keys = account.oneTimeKeys().map(({ keyId, key }) => [`signed_curve25519:${keyId}`, { key }]);
  await client.post("keys/upload", {
    device_keys: {
      user_id: "@me:example.org",
      device_id: "BENCH",
      keys: { "curve25519:BENCH": account.curve25519Key, "ed25519:BENCH": account.ed25519Key },
    },
    one_time_keys: Object.fromEntries(keys),
  });
  account.markKeysAsPublished();
}

function openOlm(senderKey: string, message: OlmMessage): Uint8Array {
  const session = olmSessions.get(senderKey);
  if (session !== undefined) return session.decrypt(message);
  const created = account.createInboundSession(senderKey, message);
  olmSessions.set(senderKey, created.session);
  return created.plaintext;
}

function takeKey({ content }: Event): void {
  const messages = content.ciphertext as Record<string, OlmMessage>;
  const message = messages[account.curve25519Key];
  if (message === undefined) throw new Error("Cannot decrypt: a message is not for this device");
  const key = JSON.parse(decoder.decode(openOlm(String(content.sender_key), message)));
  sessions.set(key.content.session_id, megolm.createInbound(key.content.session_key));
}

/** Decrypts all of a response, a session at a time, and looks at each event. */
function walk({ rooms, to_device }: Response): number {
  for (const event of to_device?.events ?? []) takeKey(event);
  let events = 0;
  const messages = new Map<string, string[]>();
  for (const { timeline } of Object.values(rooms?.join ?? {})) {
    for (const { type, content } of timeline.events) {
      if (type !== "m.room.encrypted") {
        events++;
        continue;
      }
      const id = String(content.session_id);
      const list = messages.get(id);
      if (list === undefined) messages.set(id, [String(content.ciphertext)]);
      else list.push(String(content.ciphertext));
    }
  }
  for (const [id, list] of messages) {
    for (const outcome of sessions.get(id)?.decryptAll(list) ?? []) {
      if (!outcome.ok) throw outcome.error;
      const { type, content } = JSON.parse(decoder.decode(outcome.value.plaintext));
      if (type !== "" && content !== undefined) events++;
    }
  }
  return events;
}

await drive(async (token) => {
  const client = new BareClient(token);
  await publish(client);
  const outbound = megolm.createOutbound();
  const send = (roomId: string, body: string) => {
    const content = { msgtype: "m.text", body };
    const ciphertext = outbound.encrypt(
      JSON.stringify({ type: "m.room.message", room_id: roomId, content }),
    );
    return client.send(roomId, "m.room.encrypted", {
      algorithm: "m.megolm.v1.aes-sha2",
      session_id: outbound.sessionId,
      sender_key: account.curve25519Key,
      device_id: "BENCH",
      ciphertext,
    });
  };
  client.sync((response) => {
    const events = walk(response);
    if (answers) client.answer(response, send);
    else countMany(events);
  });
  return { send };
});
