/** What devices that get no key are told and cost, and what the others get beside them. */

import { assert, assertEquals } from "@std/assert";
import { device } from "./fakes.ts";
import { ALICE, BOB } from "./room.ts";
import { Stage } from "./stage.ts";

const alice = device(ALICE, "ALICE1"), bob = device(BOB, "BOB1");

Deno.test("a device that gets neither the key nor a notice does not keep the room from being ready", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  stage.devices.put(device(BOB, "DEHYDRATED", { isDehydrated: true }));
  assertEquals((await stage.prepare()).needs, "nothing");
  assertEquals((await stage.send()).session_id, session_id);
});

Deno.test("others get the key while a device that can't be reached does not", async () => {
  const stage = await Stage.open();
  stage.olm.exhausted.add(bob.curve25519);
  await stage.send();
  const added = device(ALICE, "ALICE2");
  stage.devices.put(added);
  assert(stage.canRead(added, await stage.send()));
});

Deno.test("a blocked device that is unblocked and has no Olm session gets a notice of that", async () => {
  const stage = await Stage.open();
  stage.olm.exhausted.add(bob.curve25519);
  stage.devices.put({ ...bob, trust: "blacklisted" });
  await stage.send();
  stage.devices.put(bob);
  await stage.send();
  assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.blacklisted", "m.no_olm"]);
});

Deno.test("a device gets one notice of each reason why it gets no key", async () => {
  const stage = await Stage.open({ policy: { sendTo: "verified" } });
  for (const trust of ["blacklisted", "unsigned"] as const) {
    stage.devices.put({ ...bob, trust });
    await stage.send();
  }
  stage.devices.put(device(ALICE, "ALICE2")); // has everybody looked at again
  await stage.send();
  assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.blacklisted", "m.unverified"]);
});

Deno.test("no session is begun with a device that is to get no key", async () => {
  const stage = await Stage.open();
  stage.olm.begin(alice);
  stage.devices.put({ ...bob, trust: "blacklisted" });
  await stage.describe();
  assertEquals((await stage.prepare()).needs, "toDevice");
  assertEquals(stage.olm.wanted.size, 0);
});

Deno.test("a user without a key does not end the session by leaving where history is for members only", async () => {
  const stage = await Stage.open();
  stage.room.visibility = "joined";
  stage.devices.put({ ...bob, trust: "blacklisted" });
  const { session_id } = await stage.send();
  await stage.member(BOB, "leave");
  assertEquals((await stage.send()).session_id, session_id);
});

Deno.test("a device that was to get a notice, which the server refused, does not count as having the key", async () => {
  const stage = await Stage.open();
  stage.devices.put({ ...bob, trust: "blacklisted" });
  await stage.describe();
  await stage.prepare();
  stage.olm.claim();
  await stage.prepare();
  const entries = stage.outbox.pending();
  const { sessionId } = entries[0] as { sessionId?: string };
  for (const entry of entries) {
    await stage.step(async (tx) => {
      stage.outbox.remove(tx, entry.id);
      await stage.outbound.shareFailed(tx, entry);
    });
  }
  assert(sessionId !== undefined);
  assertEquals((await stage.send()).session_id, sessionId);
});

Deno.test("another user's device with the name of the own one gets the key", async () => {
  const stage = await Stage.open();
  const namesake = device(ALICE, "OWNDEVICE");
  stage.devices.put(namesake);
  assert(stage.canRead(namesake, await stage.send()));
});
