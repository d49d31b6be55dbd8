import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { pruneCrypto, spawnCrypto } from "../../../src/actors/crypto/crypto_actor.ts";
import { spawnStore, type StoreHandlers } from "../../../src/actors/store/mod.ts";
import { DEFAULT_POLICY } from "../../../src/crypto/context/context.ts";
import { EncryptionError } from "@greenroom/matrix/errors";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../kernel/support.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { answeredBy } from "../../support/answered_by.ts";

const ALICE = { userId: "@alice:example.org", deviceId: "ALICE" } as const;
const DAY = 86_400_000;

Deno.test("The engine of a device is opened once, and used only after that", async () => {
  const log = recordingLogger();
  const store = spawnStore({ log });
  await store.open(["greenroom"]);
  const crypto = spawnCrypto(store, { ...DEFAULT_POLICY, ...EVERYBODY }, new TestClock(), log);
  await assertRejects(() => crypto.requests(), EncryptionError, "has not been opened");
  const identity = await crypto.open(ALICE);
  assertNotEquals(await crypto.requests(), []);
  assertEquals(await crypto.open(ALICE), identity);
  assertEquals(await crypto.requests(), [], "what is on its way is not made twice");
  await crypto.stop();
  await store.stop();
});

Deno.test("pruneCrypto() allows other messages between its steps, and reads only what a step needs", async () => {
  const kv = new MemoryStore();
  const clock = new TestClock();
  const log = recordingLogger();
  const store = spawnStore({ kv, log });
  await store.open(["greenroom"]);
  const read: number[] = [];
  const readingStore = answeredBy<StoreHandlers>(async (kind, body) => {
    const answer = await store[kind as "readRecords"](body);
    if (Array.isArray(answer)) read.push(answer.length);
    return answer;
  });
  const crypto = spawnCrypto(readingStore, { ...DEFAULT_POLICY, ...EVERYBODY }, clock, log);
  await crypto.open(ALICE);
  const day = String(Math.floor(clock.now() / DAY) - 1).padStart(8, "0");
  await store.commitRecords(Array.from({ length: 950 }, (_, n) => {
    return { type: "set", key: ["crypto", "leftover", day, `@user${n}:example.org`], value: 0 } as const;
  }));
  assertEquals(
    (await store.listRecords({ prefix: ["crypto", "leftover"], limit: 3 })).map(({ key }) => key.at(-1)),
    ["@user0:example.org", "@user100:example.org", "@user101:example.org"],
  );

  let left = Infinity;
  const pruned = pruneCrypto(crypto).finally(() => left = 0);
  const seen: number[] = [];
  while (left > 0) {
    left = Math.min(left, (await store.listRecords({ prefix: ["crypto", "leftover"] })).length);
    seen.push(left);
    await crypto.requests();
  }
  assertEquals(await pruned, { done: true, removed: { leftover: 950 } });
  assert(new Set(seen).size >= 4, `${seen}`);
  assert(Math.max(...read) < 950, `${read}`);
  assertEquals(await pruneCrypto(crypto), { done: true, removed: {} });
  await crypto.stop();
  await store.stop();
});
