/**
 * The limit: vodozemac-wasm by itself, with nothing around it that encryption in Matrix needs
 * besides.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { signableJson } from "../../src/crypto/encoding/encoding.ts";
import { readCrowd } from "./crowd.ts";
import { type Job, type Measured, option, serveJobs, timed } from "./job.ts";
import { CONTENT, EVENT_TYPE, ROOM } from "./message.ts";

/** The most messages that go into one call; more do not make it faster. */
const BATCH = 500;

/**
 * What is written for each message with a store: one value, in one commit, which is the least that
 * is durable.
 */
const RECORD = new Uint8Array(500);

const { olm, megolm, keys } = await Vodozemac.load();
const crowd = await readCrowd(option("crowd", ""));
const plaintext = JSON.stringify({ type: EVENT_TYPE, room_id: ROOM, content: CONTENT });

function received(count: number): string[] {
  using outbound = megolm.createOutbound();
  inbound = megolm.createInbound(outbound.sessionKey());
  return Array.from({ length: count }, () => outbound.encrypt(plaintext));
}

let inbound = megolm.createInbound(megolm.createOutbound().sessionKey());

/** Makes a record durable; undefined: nothing is. */
const commit = await openStore(option("store", "none"));

async function openStore(kind: string): Promise<(() => unknown) | undefined> {
  const path = await Deno.makeTempFile({ suffix: `.${kind}` });
  switch (kind) {
    case "kv": {
      const kv = await Deno.openKv(path);
      return () => kv.set(["record"], RECORD);
    }
    case "sqlite": {
      const database = new DatabaseSync(path);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      database.exec("CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
      const set = database.prepare("REPLACE INTO kv (key, value) VALUES (x'00', ?)");
      return () => set.run(RECORD);
    }
    default:
      return undefined;
  }
}

const decryptEach: Job = (count) => {
  const messages = received(count);
  return timed(async () => {
    for (const message of messages) {
      inbound.decrypt(message);
      await commit?.();
    }
  });
};

const withoutStore: Record<string, Job> = {
  first_message: firstMessage,
  decrypt_sync(count) {
    const messages = received(count);
    return timed(() => {
      for (let start = 0; start < count; start += BATCH) {
        for (const outcome of inbound.decryptAll(messages.slice(start, start + BATCH))) {
          if (!outcome.ok) throw outcome.error;
        }
      }
    });
  },
};

async function firstMessage(): Promise<Measured> {
  const devices = Object.entries(crowd.deviceKeys).flatMap(([userId, devices]) =>
    Object.entries(devices).map(([deviceId, device]) => {
      const names = device.keys as Record<string, string>;
      const [oneTimeKey = {}] = Object.values(crowd.oneTimeKeys[userId]?.[deviceId] ?? {});
      const signatures = oneTimeKey.signatures as Record<string, Record<string, string>>;
      return {
        identity: names[`curve25519:${deviceId}`] ?? "",
        signing: names[`ed25519:${deviceId}`] ?? "",
        key: String(oneTimeKey.key),
        signed: signableJson(oneTimeKey),
        signature: signatures[userId]?.[`ed25519:${deviceId}`] ?? "",
      };
    })
  );
  using account = olm.createAccount();
  return await timed(() => {
    using outbound = megolm.createOutbound();
    // The rest of an m.room_key around the session's key.
    const roomKey = outbound.sessionKey() + "x".repeat(700);
    for (const { identity, signing, key, signed, signature } of devices) {
      if (!keys.verify(signing, signed, signature)) throw new Error("Cannot claim: a signature is wrong");
      using session = account.createOutboundSession(identity, key);
      session.encrypt(roomKey);
    }
    outbound.encrypt(plaintext);
  });
}

await serveJobs({
  encrypt(count) {
    const outbound = megolm.createOutbound();
    return timed(async () => {
      for (let index = 0; index < count; index++) {
        outbound.encrypt(plaintext);
        await commit?.();
      }
    });
  },
  decrypt_one: decryptEach,
  decrypt_event: decryptEach,
  ...(commit === undefined ? withoutStore : {}),
});
