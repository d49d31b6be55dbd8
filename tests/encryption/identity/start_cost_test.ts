import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { device, type DeviceOptions, KEY } from "./scene.ts";

/** What a start has cost. */
interface Cost {
  /** The requests that were made, in groups that were under way at a time. */
  readonly rounds: readonly (readonly string[])[];
}

/** So often what is ready runs before no more requests are to come: cryptography is done by other threads. */
const PATIENCE = 20;

/**
 * Starts a client on a network that answers all that is under way at once: so each round trip counts once.
 */
async function start(
  here: ClientStage,
  deviceId: string,
  options: DeviceOptions,
): Promise<Cost & { readonly client: Client }> {
  const rounds: string[][] = [];
  let waiting: (() => void)[] = [];
  let names: string[] = [];
  let isCounting = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (isCounting) {
      const path = decodeURIComponent(new URL(request.url).pathname);
      names.push(
        `${request.method} ${path.replace(/^.*\/(v3|unstable)\//, "").replace(/^user\/[^/]+\//, "")}`,
      );
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return await here.homeserver.fetch(request);
  };
  const client = await device(here, deviceId, { fetch, ...options });
  isCounting = true;
  let isDone = false;
  const done = (async () => {
    await client.crypto?.start();
    await client.crypto?.idle();
  })().finally(() => isDone = true);
  while (!isDone) {
    for (let round = 0; round < PATIENCE && !isDone; round++) await here.settle();
    if (names.length === 0) continue;
    rounds.push(names.sort());
    const released = waiting;
    [names, waiting] = [[], []];
    for (const release of released) release();
  }
  await done;
  isCounting = false;
  return { rounds, client };
}

/** An account whose identity, secret storage and backup another device has made. */
async function account(here: ClientStage): Promise<void> {
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  await first.crypto?.idle();
}

Deno.test("The first start with a recovery key takes one round trip more than one without", async () => {
  await using here = clientStage();
  await account(here);
  const without = await start(here, "PLAIN", {});
  const { rounds, client } = await start(here, "BOT", { encryption: { recoveryKey: KEY } });
  assert(rounds.length <= without.rounds.length + 1, JSON.stringify({ rounds, without: without.rounds }));
  assertEquals(rounds.flat().filter((name) => name === "POST keys/query").length, 1);
  const report = await client.crypto?.ensureVerified();
  assertEquals([report?.state, report?.backup], ["verified", "on"]);
});

Deno.test("The second start with a recovery key takes no round trip more than one without: what it looks up goes with the rest", async () => {
  await using here = clientStage();
  await account(here);
  const store = new MemoryStore();
  const once = async (encryption: DeviceOptions["encryption"]) => {
    const { client, rounds } = await start(here, "BOT", { store, encryption });
    await client.close();
    return rounds;
  };
  await once({ recoveryKey: KEY });
  const without = await once({});
  const looks = ["GET account_data/m.secret_storage.default_key", "GET room_keys/version"];
  const last = without.at(-1) ?? [];
  assertEquals(await once({ recoveryKey: KEY }), [...without.slice(0, -1), [...looks, ...last]]);
});

Deno.test("A start that is to use no backup reads nothing of one, nor does the next", async () => {
  await using here = clientStage();
  await account(here);
  const store = new MemoryStore();
  for (let time = 0; time < 2; time++) {
    const { client, rounds } = await start(here, "BOT", {
      store,
      encryption: { recoveryKey: KEY, backup: false },
    });
    assertEquals(rounds.flat().filter((name) => /backup|room_keys/.test(name)), []);
    await client.close();
  }
});

/** It takes 26, and some more where cryptography is so late that requests which go together are parted. */
const WHOLE_ACCOUNT = 30;

Deno.test(`A start that makes the identity, the secret storage and the backup takes at most ${WHOLE_ACCOUNT} round trips`, async () => {
  await using here = clientStage();
  const { rounds, client } = await start(here, "BOT", { encryption: { recoveryKey: KEY } });
  assert(rounds.length <= WHOLE_ACCOUNT, `${rounds.length}: ${JSON.stringify(rounds)}`);
  assertEquals((await client.crypto?.ensureVerified())?.state, "verified");
});

Deno.test("A start looks whether the user wants a backup by one request for each name of that, if not", async () => {
  await using here = clientStage();
  await account(here);
  const other = await device(here, "FIRST");
  await other.crypto?.backup.delete({});
  const store = new MemoryStore();
  const first = await start(here, "BOT", { store, encryption: { recoveryKey: KEY } });
  assertEquals((await first.client.crypto?.ensureVerified())?.backup, "unwanted");
  await first.client.close();
  const { rounds } = await start(here, "BOT", { store, encryption: { recoveryKey: KEY } });
  assertEquals(rounds.flat().filter((name) => name.includes("account_data")), [
    "GET account_data/m.secret_storage.default_key",
    "GET account_data/m.key_backup",
    "GET account_data/m.org.matrix.custom.backup_disabled",
  ]);
});
