/** Room keys as a backup has them, and an engine that reads and writes it. */

import { encryptSession } from "../../src/crypto/backup/session_data.ts";
import { Engine } from "../../src/crypto/engine/engine.ts";
import { DEFAULT_POLICY } from "../../src/crypto/context/context.ts";
import type { Store } from "../../src/store/base/mod.ts";
import { TestClock } from "../../src/testing/mod.ts";
import { silent } from "../../tests/crypto/engine/bot.ts";
import { newEntries } from "../../tests/crypto/key_files/stage.ts";
import { testContext } from "../../tests/crypto/support/context.ts";
import { memoryVault } from "../../tests/crypto/support/vault.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

const SECRET_BYTES = new Uint8Array(32).fill(7);
const { vodozemac } = testContext();

/** The private key of the backup, as a secret. */
export const SECRET = SECRET_BYTES.toBase64({ omitPadding: true });

/** Its public key. */
export const PUBLIC_KEY = publicKey();

function publicKey(): string {
  using key = vodozemac.pk.importDecryption(SECRET_BYTES);
  return key.publicKey;
}

/** The version of the backup. */
export function version(name: string) {
  return {
    version: name,
    algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
    auth_data: { public_key: PUBLIC_KEY },
  };
}

/** The keys of new sessions of a room, as the JSON of `sessions`. */
export function backedUpSessions(count: number, roomId: string): string {
  const { own } = testContext();
  const entries = newEntries(count, { room_id: roomId }).map((entry) => [
    entry.session_id,
    encryptSession(vodozemac, PUBLIC_KEY, {
      content: { ...entry, room_id: roomId, sender_key: own.curve25519 } as never, // as an entry of a file is
      senderEd25519: own.ed25519,
      source: "backup",
      sharedHistory: false,
      firstIndex: 0,
    }),
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** An engine that uses the backup. */
export async function backupEngine(store: Store): Promise<Engine> {
  const engine = await Engine.open({
    account: { userId: "@bench:example.org", deviceId: "BENCH" },
    vault: memoryVault(store),
    clock: new TestClock(),
    log: silent,
    policy: { ...DEFAULT_POLICY, ...EVERYBODY },
  });
  await engine.steps.adoptBackup({ shown: version("1"), secret: SECRET });
  return engine;
}

/** Has an engine put its keys into the backup, as many as are asked for; returns how many. */
export async function backUp(engine: Engine, limit = Infinity): Promise<number> {
  let count = 0;
  while (count < limit) {
    const requests = (await engine.requests()).filter(({ kind }) => kind === "backupUpload");
    if (requests.length === 0) return count;
    for (const request of requests) {
      if (request.kind !== "backupUpload") continue;
      const body = JSON.stringify(request.keys); // as it is sent
      count += Object.values(request.keys.rooms)
        .reduce((sum, { sessions }) => sum + Object.keys(sessions).length, 0);
      await engine.answer({ id: request.id, response: { count: body.length, etag: "1" } });
    }
  }
  return count;
}
