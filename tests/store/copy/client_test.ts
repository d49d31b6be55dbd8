import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  exportDevice,
  importDevice,
  inspectDevice,
  listDevices,
  MemoryStore,
  SealedStore,
  type Store,
} from "@greenroom/matrix";
import { StoreError, StoreInUseError, StoreKeyError } from "@greenroom/matrix/errors";
import type { DeviceInspection } from "@greenroom/matrix/types";
import { begin, twoInARoom } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../../client/support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const KEY = new Uint8Array(32).fill(7);

/** Whose device is in a store. */
async function deviceIn(store: Store) {
  const [device] = await Array.fromAsync(listDevices(store));
  assert(device);
  return device;
}

/** Expects that a client does not start on a store, and changes nothing. */
async function assertRefused(stage: ClientStage, store: Store, kind: typeof StoreError): Promise<void> {
  const before = await Array.fromAsync(store.list([]));
  const client = stage.client("carol", { encryption: EVERYBODY, store });
  await assertRejects(() => client.start(), kind);
  await client.close();
  assertEquals(await Array.fromAsync(store.list([])), before);
}

Deno.test("A bot goes on from a copy of its device in a sealed store, with the keys of sessions that go on too", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const { clock } = stage;
  const old = new MemoryStore();
  const carol = stage.client("carol", { encryption: EVERYBODY, store: old });
  const texts = heard(carol);
  await begin(stage, carol);
  await alice.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  await stage.settle();
  await alice.sendText(roomId, "One");
  await stage.until(() => texts.includes("One"));
  const identity = await carol.crypto?.getOwnDeviceKeys();
  const device = await deviceIn(old);
  const held = exportDevice(old, { ...device, clock }).getReader();
  await assertRejects(() => held.read(), StoreInUseError);
  await carol.close();
  await alice.sendText(roomId, "While it was off"); // in the same session, whose key was sent before

  const sealed = await SealedStore.open(new MemoryStore(), KEY);
  const before = await inspectDevice(old, device);
  await importDevice(sealed, exportDevice(old, { ...device, key: KEY, clock }), { key: KEY, clock });
  const after = await inspectDevice(sealed, device);
  const counts = ({ kinds }: DeviceInspection) =>
    Object.entries(kinds).map(([kind, { records }]) => [kind, records]);
  // How a number or a text is encoded depends on what became of it before.
  assertEquals(counts(after), counts(before));
  assert(after.hasPosition && after.schema !== undefined && after.kinds["crypto/account"]?.records === 1);

  const again = stage.client("carol", { encryption: EVERYBODY, store: sealed });
  const heardAgain = heard(again);
  await begin(stage, again);
  await stage.until(() => heardAgain.includes("While it was off"));
  assertEquals(heardAgain, ["While it was off"]);
  assertEquals(await again.crypto?.getOwnDeviceKeys(), identity);
});

Deno.test("A client refuses a sealed store without its seal, and a device that was imported in part", async () => {
  await using stage = clientStage();
  const { clock } = stage;
  const inner = new MemoryStore();
  const carol = stage.client("carol", { store: await SealedStore.open(inner, KEY) });
  await begin(stage, carol);
  await carol.close();
  await assertRefused(stage, inner, StoreKeyError);

  const sealed = await SealedStore.open(inner, KEY);
  const device = await deviceIn(sealed);
  const bytes = await new Response(exportDevice(sealed, { ...device, clock })).bytes();
  const dead = new class extends MemoryStore {
    commits = 0;
    override async commit(...change: Parameters<MemoryStore["commit"]>): Promise<boolean> {
      if (++this.commits > 2) throw new StoreError("Cannot write: the disk is gone");
      return await super.commit(...change);
    }
  }();
  await assertRejects(() => importDevice(dead, ReadableStream.from([bytes]), { clock }), StoreError);
  await clock.tick(60_000);
  await assertRefused(stage, dead, StoreError);
  dead.commits = -Infinity;
  await importDevice(dead, ReadableStream.from([bytes]), { clock });
  await begin(stage, stage.client("carol", { store: dead }));
  assertStringIncludes((await deviceIn(dead)).mxid, "@carol");
});
