import { assert, assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { turnsDuring } from "../support/turns.ts";
import { memoryVault } from "../support/vault.ts";
import { device } from "./fakes.ts";
import { ROOM } from "./room.ts";
import { Stage } from "./stage.ts";

/**
 * A room that is ready, with members of one device each, and what is written and read from then on.
 */
async function readyRoom(members: number) {
  const vault = memoryVault(new MemoryStore());
  const counts = { read: 0, listed: 0, written: 0 };
  const stage = await Stage.open({
    vault: {
      ...vault,
      getMany: (keys) => {
        counts.read += keys.length;
        return vault.getMany(keys);
      },
      list: (prefix, options) => {
        counts.listed++;
        return vault.list(prefix, options);
      },
      commit: (mutations) => {
        counts.written += mutations.length;
        return vault.commit(mutations);
      },
    },
  });
  for (let index = 0; index < members; index++) {
    const userId: UserID = `@user${index}:example.org`;
    stage.room.members.set(userId, "join");
    stage.devices.put(device(userId, `DEVICE${index}`));
  }
  await stage.send();
  stage.devices.reads = 0;
  Object.assign(counts, { read: 0, listed: 0, written: 0 });
  return { stage, counts };
}

for (const members of [10, 1_000]) {
  Deno.test(`a message to ${members} members reads nothing and writes one record, and once more when it has arrived`, async () => {
    const { stage, counts } = await readyRoom(members);
    for (let count = 0; count < 20; count++) {
      const txnId = `txn${count}`;
      assert(await stage.tryToSend("hello", txnId) !== undefined);
      await stage.step((tx) => stage.outbound.roomEventSent(tx, ROOM, txnId));
    }
    // With the next event it would take no record of its own that this one has arrived.
    assertEquals([stage.devices.reads, counts], [0, { read: 0, listed: 0, written: 40 }]);
  });
}

Deno.test("a change in another room costs a check of the dirty users, and reads no devices", async () => {
  const { stage } = await readyRoom(100);
  stage.devices.markDirty("@elsewhere:example.org");
  await stage.send();
  assertEquals(stage.devices.reads, 0);
});

Deno.test("changed devices and sessions of users who are not in the room read no devices", async () => {
  const { stage } = await readyRoom(100);
  for (let count = 0; count < 20; count++) {
    const elsewhere = device("@elsewhere:example.org", `E${count}`);
    stage.devices.put(elsewhere);
    stage.olm.begin(elsewhere);
    assert(await stage.tryToSend() !== undefined);
  }
  assertEquals(stage.devices.reads, 0);
});

Deno.test("a new device costs one look at the devices", async () => {
  const { stage } = await readyRoom(100);
  stage.devices.put(device("@user1:example.org", "NEW"));
  await stage.describe(); // no member has left
  stage.olm.begin(device("@user1:example.org", "NEW"));
  await stage.send();
  for (let count = 0; count < 10; count++) await stage.send();
  assertEquals(stage.devices.reads, stage.room.members.size);
});

Deno.test("a first message to 1,000 devices looks at them a few times, not once a request", async () => {
  const { stage } = await readyRoom(1_000);
  stage.devices.reads = 0;
  await stage.step((tx) => stage.outbound.discard(tx, "!room"));
  await stage.send();
  assertEquals(stage.devices.reads, stage.room.members.size);
});

Deno.test("other work goes on while a room of 1,000 devices is made ready", async () => {
  const { stage } = await readyRoom(1_000);
  await stage.step((tx) => stage.outbound.discard(tx, "!room"));
  const turns = await turnsDuring(() => stage.send());
  assert(turns >= 100, `${turns}`); // for the plan, and for the keys
});

Deno.test("devices that can't be reached cost a look, and nothing is written of them again", async () => {
  const { stage, counts } = await readyRoom(100);
  const lost = stage.devices.of("@user1:example.org");
  for (const { curve25519 } of lost) {
    stage.olm.open.delete(curve25519);
    stage.olm.exhausted.add(curve25519);
  }
  await stage.step((tx) => stage.outbound.discard(tx, "!room"));
  await stage.send();
  stage.devices.changes.noteAll(); // a device changed somewhere
  counts.written = 0;
  await stage.ready();
  assertEquals(counts.written, 0);
});
