/**
 * A server fills the store, or keeps a device reading without end, when all keys of the backup are asked for:
 * anybody can encrypt keys for the backup, and the server says how many there are.
 *
 * What must hold: `restore()` takes as many keys as its limit says,
 * reads no more bytes than so many keys take, and fails then, whatever count the server gives.
 *
 * The class of mistake: what one answer brings was bounded in each part, and not in how many parts it has.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ServiceResponseError } from "@greenroom/matrix/errors";
import { restored } from "../../../../src/encryption/backup/key_backup_operations.ts";
import type { EngineRunner } from "../../../../src/actors/crypto/crypto.ts";
import type { KeyBackupAPI } from "../../../../src/encryption/backup/key_backup.ts";

/** A device that restores keys out of an answer, and how much it took of that. */
function scene(answer: (taken: { bytes: number }) => AsyncIterable<Uint8Array>) {
  const taken = { bytes: 0, keys: 0 };
  const api = {
    getKeyBackupVersion: () => Promise.resolve({ count: 1 }),
    downloadRoomKeys: () => Promise.resolve(answer(taken)),
  } as unknown as KeyBackupAPI;
  const engine = {
    open: () => Promise.resolve(),
    requests: { idle: () => Promise.resolve() },
    deliver() {},
    wake() {},
    actor: {
      backupState: () => Promise.resolve({ isReadable: true, phase: "on", version: "1" }),
      restoreKeys({ keys }: { keys: readonly unknown[] }) {
        taken.keys += keys.length;
        return Promise.resolve({ added: keys.length, improved: 0, known: 0, refused: 0, recovered: [] });
      },
    },
  } as unknown as EngineRunner;
  return { taken, restore: (limit?: number) => restored(engine, api, { ...(limit && { limit }) }) };
}

/** Keys without end, as the server sends them. */
async function* endless(taken: { bytes: number }, part: (index: number) => string) {
  const encoder = new TextEncoder();
  yield encoder.encode('{"rooms":{"!room:example.org":{"sessions":{');
  for (let index = 0;; index++) {
    await Promise.resolve();
    const bytes = encoder.encode(part(index));
    taken.bytes += bytes.length;
    yield bytes;
  }
}

Deno.test("T154: of keys without end 50,000 are taken", async () => {
  const { taken, restore } = scene((of) => endless(of, (index) => `"${index}":{},`));
  await assertRejects(() => restore(), ServiceResponseError, "more than 50000");
  assertEquals(taken.keys, 50_000);
});

Deno.test("T154: an answer without end, and without keys, is given up", async () => {
  const spaces = " ".repeat(2 ** 20);
  for (const part of [spaces, `"x":${spaces}`, `"${"x".repeat(2 ** 20)}`, `"y":{"z":"${spaces}`]) {
    const { taken, restore } = scene((of) => endless(of, () => part));
    await assertRejects(() => restore(1_000), ServiceResponseError, "more than 1000");
    assert(taken.bytes < 10 * 2 ** 20, `${taken.bytes}`);
  }
});
