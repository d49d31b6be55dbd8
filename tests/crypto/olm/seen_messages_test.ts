import { assert, assertEquals } from "@std/assert";
import { SeenMessages } from "../../../src/crypto/olm/olm_inbox.ts";
import type { UserID } from "@greenroom/matrix/types";
import { memoryVault, step } from "../support/vault.ts";

const KEY = "A".repeat(43);
const ALICE: UserID = "@alice:example.org";
const MALLORY: UserID = "@mallory:example.org";

/** Messages of one sender, and what remembers them. */
function stage() {
  const vault = memoryVault();
  let seen = new SeenMessages();
  const hash = (number: number) => seen.hash(Uint8Array.of(number >> 8, number));
  return {
    restart: () => seen = new SeenMessages(),
    records: async () => (await vault.list(["crypto", "olm-seen"])).length,
    add: async (from: number, to: number, userId = ALICE) => {
      await step(vault, async (tx) => {
        for (let number = from; number < to; number++) {
          await seen.add(tx, KEY, { hash: await hash(number), now: number, userId });
        }
      });
    },
    has: (number: number) => step(vault, async (tx) => seen.has(tx, KEY, await hash(number))),
    isOnlyOf: (userId: UserID) => step(vault, (tx) => seen.isOnlyOf(tx, KEY, userId)),
  };
}

Deno.test("at least the last 193 messages of a sender are kept, at most 256, after a restart too", async () => {
  const { add, has, records, restart } = stage();
  await add(0, 64);
  assertEquals(await records(), 1);
  await add(64, 65);
  assertEquals(await records(), 2);
  await add(65, 256);
  assert(await has(0));
  await add(256, 257);
  assertEquals(await records(), 4);
  for (let time = 0; time < 2; time++) {
    assertEquals([await has(63), await has(64), await has(256), await has(257)], [false, true, true, false]);
    restart();
  }
});

Deno.test("one message under another user is enough: the sender's are not of one user only any more", async () => {
  const { add, isOnlyOf, restart } = stage();
  assert(!await isOnlyOf(ALICE));
  await add(0, 3);
  assertEquals([await isOnlyOf(ALICE), await isOnlyOf(MALLORY)], [true, false]);
  await add(3, 4, MALLORY);
  for (let from = 4; from < 300; from += 100) {
    await add(from, from + 100);
    restart();
    assertEquals([await isOnlyOf(ALICE), await isOnlyOf(MALLORY)], [false, false]);
  }
});
