/**
 * How long it takes from the start of a process to the first encrypted event handled, by a device
 * that has the key already.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Homeserver } from "@greenroom/matrix/testing";
import { delay } from "@std/async/delay";
import { type Entrant, NAMES } from "./entrants.ts";
import type { Starts, Variant } from "./start_and_idle.ts";
import { type Answer, takeTurn } from "./turn.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** How long a device may take to publish its keys, in milliseconds. */
const PATIENCE_MS = 10_000;
/** As many keep lying on the server. */
const ONE_TIME_KEYS = 50;
const STORES = [{ kind: "sqlite", name: NAMES.sqlite }, { kind: "kv", name: NAMES.kv }] as const;
type StoreKind = typeof STORES[number]["kind"];

const open = (kind: StoreKind, file: string) => (kind === "kv" ? KvStore : SqliteStore).open(file);

/** A device that was there, and has gone away. */
interface Stage {
  readonly accessToken: string;
  readonly file: string;
}

/** Devices' keys, as a homeserver has them. */
interface Keys {
  readonly device_keys: Readonly<Record<string, object>>;
}

/** A bot reads a message, and is closed; then more messages are sent. */
async function setStage(homeserver: Homeserver, kind: StoreKind, folder: string): Promise<Stage> {
  const { baseUrl } = homeserver;
  const user = homeserver.createUser(`bot-${kind}`);
  const file = `${folder}/${kind}`;
  await using alice = new Client({
    baseUrl,
    accessToken: homeserver.createUser(`alice-${kind}`).accessToken,
    encryption: EVERYBODY,
  });
  const aliceSyncs = alice.start();
  await using store = await open(kind, file);
  await using bot = new Client({ baseUrl, accessToken: user.accessToken, encryption: EVERYBODY, store });
  const heard = Promise.withResolvers<void>();
  bot.on("m.room.message", () => heard.resolve());
  bot.start();
  await hasKeys(alice, user.userId);
  const roomId = await alice.createRoom({
    invitees: [user.userId],
    initialState: [{
      type: "m.room.encryption",
      state_key: "",
      content: { algorithm: "m.megolm.v1.aes-sha2" },
    }],
  });
  await bot.joinRoom(roomId);
  await alice.sendText(roomId, "This brings the key");
  await heard.promise;
  await hasOneTimeKeys(bot); // else one start makes up for the key that was used, and the next does not
  await bot.close();
  await alice.sendText(roomId, "This is to be decrypted");
  await alice.stop();
  await aliceSyncs;
  return { accessToken: user.accessToken, file };
}

/** Waits until a user's device has published its keys. */
export async function hasKeys(client: Client, userId: UserID): Promise<void> {
  await until(`${userId} has keys`, async () => {
    const body = { device_keys: { [userId]: [] } };
    const { device_keys } = await client.request<Keys>("POST", "/_matrix/client/v3/keys/query", { body });
    return Object.keys(device_keys[userId] ?? {}).length > 0;
  });
}

/**
 * Waits until the own device has as many one-time keys on the server as it wants to have, and knows
 * it.
 */
async function hasOneTimeKeys(client: Client): Promise<void> {
  await until("all one-time keys are published", async () => {
    const { signed_curve25519: count = 0 } = await client.uploadKeys();
    return count >= ONE_TIME_KEYS;
  });
  await client.crypto?.idle();
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!await isSo()) {
    if (Date.now() > end) throw new Error(`Cannot set the stage: it has never been so that ${what}`);
    await delay(20);
  }
}

/** Starts a process for each store in turn, and one of each variant, always from the same files. */
export async function measureEncryptedStarts(
  rounds: number,
  variants: readonly Variant[],
): Promise<Starts[]> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  await using homeserver = new Homeserver();
  const url = await homeserver.listen();
  try {
    const stages = [];
    for (const { kind, name } of STORES) {
      const { file, accessToken } = await setStage(homeserver, kind, folder);
      const plain = entrant(name, `--store=${kind}`, `--access-token=${accessToken}`);
      for (const each of [plain, ...variants.map((variant) => variant.of(plain))]) {
        stages.push({ name: each.name, entrant: each, file, answers: [] as Answer[] });
      }
    }
    for (let round = 0; round <= rounds; round++) {
      for (const [index, { entrant, file, answers }] of stages.entries()) {
        const copy = `${file}-${round}-${index}`; // no start finds what another has written
        await Deno.copyFile(file, copy);
        const answer = await takeTurn(
          { ...entrant, args: [...entrant.args, `--file=${copy}`] },
          { url, token: "", what: "start" },
        );
        if (round > 0) answers.push(answer); // the one before has filled caches
      }
    }
    return stages;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function entrant(name: string, ...args: string[]): Entrant {
  const script = `${import.meta.dirname ?? "."}/contestants/encrypted.ts`;
  const flags = ["--quiet", "--no-check", "--allow-all", "--unstable-kv"];
  return { name, command: Deno.execPath(), args: ["run", ...flags, script, ...args] };
}
