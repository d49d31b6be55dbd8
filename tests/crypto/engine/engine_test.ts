/** Whole engines on stores of their own: what a conversation is when nothing goes wrong. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertEquals, assertRejects } from "@std/assert";
import { accountKey, type AccountRecord } from "../../../src/crypto/account/own_account.ts";
import type { CryptoInput } from "../../../src/crypto/engine/engine.ts";
import { EncryptionError } from "@greenroom/matrix/errors";
import { memoryVault } from "../support/vault.ts";
import { aliceAndBob } from "./bot.ts";
import { ROOM } from "./homeserver.ts";

Deno.test("two engines talk, one of them over a restart", async () => {
  const { alice, bob } = await aliceAndBob();
  const one = await alice.send("one");
  await bob.sync();
  const two = await bob.send("two");
  await alice.restart();
  const three = await alice.send("three");
  await Promise.all([alice.sync(), bob.sync()]);
  assertEquals([one, three].map((event) => bob.outcome(event)), ["text: one", "text: three"]);
  assertEquals([one, two, three].map((event) => alice.outcome(event)), [
    "text: one",
    "text: two",
    "text: three",
  ]);
});

Deno.test("a sync that comes twice is read twice, and a key that comes late recovers what waited, once", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const one = await alice.send("one");
  const late = server.mailbox(bob).toDevice.splice(0);
  const input = bob.collect();
  await bob.take(input);
  await bob.take(input);
  assertEquals(bob.outcomes.get(one.event_id), ["MISSING_KEY", "MISSING_KEY"]);
  await bob.sync({ toDevice: late });
  assertEquals(bob.outcomes.get(one.event_id), ["MISSING_KEY", "MISSING_KEY", "text: one"]);
  await bob.sync({ toDevice: late });
  await bob.take(input);
  assertEquals(bob.outcomes.get(one.event_id)?.slice(3), ["text: one"]);
});

Deno.test("a process that ends between a key and the events that waited for it leaves them to the next", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const one = await alice.send("one");
  const late = server.mailbox(bob).toDevice.splice(0);
  await bob.sync();
  bob.failing = { when: "after", commits: 0 };
  await assertRejects(() => bob.sync({ toDevice: late }), TypeError, "The disk is gone");
  await bob.restart();
  assertEquals(bob.outcome(one), "MISSING_KEY");
  await bob.sync({ toDevice: late }); // the same once more: its messages have been read already
  assertEquals(bob.outcomes.get(one.event_id), ["MISSING_KEY", "text: one"]);
});

Deno.test("a message that comes while the account is damaged comes again, and is read when it is mended", async () => {
  const { alice, bob } = await aliceAndBob();
  const one = await alice.send("one");
  const input: CryptoInput = { ...bob.collect(), oneTimeKeyCounts: { signed_curve25519: 50 } };
  const { path: key } = accountKey();
  const vault = memoryVault(bob.store);
  const record = (await vault.getMany([key]))[0] as AccountRecord;
  const keep = async (value: AccountRecord) => {
    await vault.commit([{ type: "set", key, value }]);
    await bob.restart();
  };
  await keep({ ...record, state: new Uint8Array(40) });
  await assertRejects(() => bob.take(input), EncryptionError, "the store is damaged");
  assertEquals(bob.outcome(one), undefined);
  await keep(record);
  await bob.take(input);
  assertEquals(bob.outcome(one), "text: one");
});

for (const when of ["between two steps", "within a step"]) {
  Deno.test(`the instance of vodozemac dies ${when}: another takes its place, and nothing is lost`, async () => {
    const { alice, bob } = await aliceAndBob();
    const sent = [await alice.send("one")];
    await bob.sync();
    const kill = async () => (await Vodozemac.load())[Symbol.dispose]();
    const works = [
      async () => sent.push(await alice.send("two")),
      () => bob.sync(),
      async () => sent.push(await bob.send("three")),
      () => alice.sync(),
      async () => {
        await alice.engine.discardGroupSession(ROOM);
        sent.push(await alice.send("four"));
      },
      () => bob.sync(),
    ];
    for (const work of works) {
      if (when === "within a step") { for (const bot of [alice, bob]) bot.onRead = kill; }
      else await kill();
      await work();
    }
    assertEquals(sent.map((event) => bob.outcome(event) ?? alice.outcome(event)), [
      "text: one",
      "text: two",
      "text: three",
      "text: four",
    ]);
    assertEquals(new Set(sent.slice(0, 2).map(({ content }) => content.session_id)).size, 1);
  });
}

Deno.test("after the instance of vodozemac died, the account still makes keys, and signs them", async () => {
  const { alice, bob, server } = await aliceAndBob();
  (await Vodozemac.load())[Symbol.dispose]();
  const before = server.oneTimeKeys(alice);
  await alice.sync({ oneTimeKeyCounts: { signed_curve25519: 1 } });
  assertEquals(server.oneTimeKeys(alice), before + 49);
  const event = await bob.send("hello");
  await alice.sync();
  assertEquals(alice.outcome(event), "text: hello");
});
