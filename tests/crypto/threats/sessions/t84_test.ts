/**
 * A single record that is put back. Who can write to the store puts one old record in its place,
 * sealed or not, while the device does not run: it was true once, so that the seal opens it.
 * Nothing outside tells of it as it does of a whole store that was set back: the sync goes on from
 * where it was, and shows no own message that the store does not know. A ratchet that was put back
 * would encrypt two messages with one key, or go on with a session whose key somebody has who has
 * left. What else is put back is not noticed, which SECURITY.md says.
 *
 * Class of mistake: a state that must never be used twice is told from an earlier one by itself
 * alone.
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { aliceAndBob, type Bot } from "../../engine/bot.ts";
import { ROOM } from "../../engine/homeserver.ts";
import type { StoreEntry, StoreKey, StoreMutation } from "@greenroom/matrix";
import type { MessageEvent } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../../src/store/base/mod.ts";
import { SealedStore } from "../../../../src/store/sealed/sealed.ts";

const RATCHET: StoreKey = ["crypto", "outbound_session", ROOM];
const GENERATION: StoreKey = ["crypto", "olm-generation"];

async function recordOf({ store }: Bot, key: StoreKey): Promise<StoreEntry> {
  const [entry] = await store.getMany([key]);
  assert(entry !== undefined);
  return structuredClone(entry);
}

/** While the device does not run, an old record replaces the present one; then it runs again. */
async function putBack(bot: Bot, { key, value }: StoreEntry): Promise<void> {
  await bot.store.commit([{ type: "set", key, value } satisfies StoreMutation]);
  await bot.restart();
}

function sessionOf({ content }: MessageEvent): string {
  return String(content.session_id);
}

/** Says something that both read. */
async function said({ alice, bob }: { alice: Bot; bob: Bot }, body: string): Promise<MessageEvent> {
  const event = await alice.send(body);
  await alice.sync();
  await bob.sync();
  assertEquals([alice.outcome(event), bob.outcome(event)], [`text: ${body}`, `text: ${body}`]);
  return event;
}

for (const later of [1, 40, 90]) {
  Deno.test(`T59 T84: a ratchet that is put back by ${later} messages encrypts nothing more`, async () => {
    const { alice, bob } = await aliceAndBob();
    await said({ alice, bob }, "first");
    const old = await recordOf(alice, RATCHET);
    let before = "";
    for (let number = 0; number < later; number++) {
      before = sessionOf(await said({ alice, bob }, `${number}`));
    }
    await putBack(alice, old);
    assertNotEquals(sessionOf(await said({ alice, bob }, "and on")), before);
  });
}

Deno.test("T84: a session that another has taken the place of is not used again", async () => {
  const { alice, bob } = await aliceAndBob();
  const before = sessionOf(await said({ alice, bob }, "first"));
  const old = await recordOf(alice, RATCHET);
  await alice.engine.discardGroupSession(ROOM);
  assertNotEquals(sessionOf(await said({ alice, bob }, "second")), before);
  await putBack(alice, old);
  assertNotEquals(sessionOf(await said({ alice, bob }, "third")), before);
});

Deno.test("T84: a session that ended, since a user with its key left, is not used again", async () => {
  const { alice, bob } = await aliceAndBob();
  const before = sessionOf(await said({ alice, bob }, "first"));
  const old = await recordOf(alice, RATCHET);
  await alice.engine.discardGroupSession(ROOM); // as when a member leaves
  await putBack(alice, old);
  assertNotEquals(sessionOf(await said({ alice, bob }, "second")), before);
});

Deno.test("T84: a session whose record was not touched goes on after a restart", async () => {
  const { alice, bob } = await aliceAndBob();
  const before = sessionOf(await said({ alice, bob }, "first"));
  for (const body of ["second", "third"]) {
    await alice.restart();
    assertEquals(sessionOf(await said({ alice, bob }, body)), before);
  }
});

Deno.test("T59 T84: when one record was put back no other is believed: Olm sessions and keys are new too", async () => {
  const { alice, bob } = await aliceAndBob();
  await said({ alice, bob }, "first");
  const old = await recordOf(alice, RATCHET);
  await said({ alice, bob }, "second");
  assertEquals(await alice.store.getMany([GENERATION]), [undefined]);
  await putBack(alice, old);
  await said({ alice, bob }, "third");
  assertEquals((await recordOf(alice, GENERATION)).value, 1);
});

// What follows is not noticed: nothing that is written with it, and need not be written more often
// for it, knows better, and whoever puts one record back can put back two. SECURITY.md says so;
// should one of these fail, it promises too little.

Deno.test("T84: not noticed: what is known of a user's devices, with what the application said of them", async () => {
  const { alice, bob } = await aliceAndBob();
  await said({ alice, bob }, "first");
  const old = await recordOf(alice, ["crypto", "devices", bob.userId]);
  const { userId, deviceId } = bob;
  const { ed25519 } = bob.engine.identity();
  await alice.engine.steps.setDeviceTrust({ userId, deviceId, ed25519, trust: "blacklisted" });
  const trust = async () => (await alice.engine.devicesOf([userId])).map((device) => device.trust);
  assertEquals(await trust(), ["blacklisted"]);
  await putBack(alice, old);
  assertEquals(await trust(), ["unsigned"]);
});

Deno.test("T84: not noticed: which messages of a session have been there", async () => {
  const { alice, bob } = await aliceAndBob();
  const first = await bob.send("first");
  await alice.sync();
  const old = await recordOf(alice, ["crypto", "replay", ROOM, sessionOf(first), "0"]);
  const event = await bob.send("second");
  await alice.sync();
  const copy = { ...event, event_id: "$copy" as const };
  await alice.sync({ encrypted: [copy] });
  assertEquals(alice.outcome(copy), "REPLAYED");
  await putBack(alice, old);
  await alice.sync({ encrypted: [copy] });
  assertEquals(alice.outcome(copy), "text: second");
});

for (const sealed of [false, true]) {
  const name = sealed ? "sealed" : "not sealed";
  Deno.test(`T84: not noticed by a store that is ${name}: any record`, async () => {
    const inner = new MemoryStore();
    const store = sealed ? await SealedStore.open(inner, crypto.getRandomValues(new Uint8Array(32))) : inner;
    const key = ["@a:a", "D", "crypto", "devices", "@b:b"];
    await store.commit([{ type: "set", key, value: "not blocked" }]);
    const [old] = await inner.getMany([key]);
    await store.commit([{ type: "set", key, value: "blocked" }]);
    await inner.commit([{ type: "set", key, value: old?.value }]);
    const [entry] = await store.getMany([key]);
    assertEquals(entry?.value, "not blocked");
  });
}
