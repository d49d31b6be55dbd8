/**
 * What it takes to start as a device that others trust, beside a start without, on a homeserver in the
 * process; and the steps of the backup.
 */

import { delay } from "@std/async/delay";
import { Client } from "../../mod.ts";
import { type RestoredKey, RoomKeysReader } from "../../src/crypto/backup/backup.ts";
import { MemoryStore } from "../../src/store/base/mod.ts";
import { Homeserver } from "../../src/testing/mod.ts";
import { backedUpSessions, backUp, backupEngine, SECRET, version } from "./backup_keys.ts";
import { recoveryKeyOf } from "../../tests/crypto/secrets/recovery_keys.ts";

const recoveryKey = recoveryKeyOf(7);
const homeserver = new Homeserver();
homeserver.createUser("bot");
const { baseUrl, fetch } = homeserver;

/** What a request takes on a slow network, in milliseconds. */
const SLOW = 100;

/** A network that is slow. */
const slowFetch: typeof globalThis.fetch = async (...request) => {
  await delay(SLOW);
  return await fetch(...request);
};

/** A client of a new device. */
async function newClient(encryption: { recoveryKey?: string }, network = fetch): Promise<Client> {
  const client = new Client({ baseUrl, fetch: network, encryption, store: new MemoryStore(), log: false });
  await client.login({ identifier: "@bot:localhost", password: "password of bot" });
  return client;
}

const first = await newClient({ recoveryKey });
await first.crypto?.start(); // from now on there are an identity, a secret storage and a backup

for (const [where, network] of [["", fetch], [` over a network of ${SLOW} ms`, slowFetch]] as const) {
  for (
    const [name, encryption] of [["without a key", {}], ["with the recovery key", { recoveryKey }]] as const
  ) {
    Deno.bench(`start a new device ${name}${where}`, async (bench) => {
      const client = await newClient(encryption, network);
      bench.start();
      await client.crypto?.start();
      bench.end();
      await client.close();
    });
  }
}

const text = `{"rooms":{"!room:example.org":{"sessions":${backedUpSessions(200, "!room:example.org")}}}}`;
const keys: RestoredKey[] = [...new RoomKeysReader().add(new TextEncoder().encode(text))];

Deno.bench("restore 200 keys of a backup", async (bench) => {
  const engine = await backupEngine(new MemoryStore());
  bench.start();
  await engine.steps.restoreKeys({ version: "1", keys });
  bench.end();
  await engine.close();
});

Deno.bench("back up 200 keys", async (bench) => {
  const engine = await backupEngine(new MemoryStore());
  await engine.steps.restoreKeys({ version: "1", keys });
  await engine.steps.adoptBackup({ shown: version("2"), secret: SECRET });
  bench.start();
  await backUp(engine);
  bench.end();
  await engine.close();
});
