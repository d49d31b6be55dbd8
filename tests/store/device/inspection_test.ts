import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { StoreKeyError, ValueError } from "@greenroom/matrix/errors";
import type { StoreKey, StoreMutation } from "@greenroom/matrix";
import { exportDevice, importDevice } from "../../../src/store/copy/copy.ts";
import { inspectDevice, listDevices } from "../../../src/store/device/inspection.ts";
import { encodeValue, MemoryStore } from "../../../src/store/base/mod.ts";
import { Lease } from "../../../src/store/device/mod.ts";
import { SealedStore } from "../../../src/store/sealed/sealed.ts";
import { TestClock } from "@greenroom/matrix/testing";

const DEVICE = { mxid: "@alice:example.org", deviceId: "DEVICE" } as const;
const PREFIX: StoreKey = [DEVICE.mxid, DEVICE.deviceId];
const KEY = new Uint8Array(32).fill(7);
const SECRETS = ["SECRET", "!room", "$event", "@bob", "m.room.member", "s1"];

const set = (path: StoreKey, value: unknown): StoreMutation => ({
  type: "set",
  key: [...PREFIX, ...path],
  value,
});

async function storeWith(...changes: StoreMutation[]): Promise<MemoryStore> {
  const store = new MemoryStore();
  await store.commit(changes);
  return store;
}

const some = () =>
  storeWith(
    set(["schema"], { format: 3 }),
    set(["sync"], { nextBatch: "s1" }),
    set(["room", "!room:example.org"], { roomId: "!room:example.org" }),
    set(["state", "!room:example.org", "m.room.member", "@bob:example.org"], { content: { name: "SECRET" } }),
    set(["state", "!room:example.org", "m.room.member", "ä"], 1),
    set(["crypto", "account"], { pickle: "SECRET" }),
    set(["crypto", "inbound", "!room:example.org", "SECRET-1"], new Uint8Array(500)),
    set(["crypto", "inbound", "!room:example.org", "SECRET-2"], new Uint8Array(700)),
    set(["crypto"], 1),
    set(["__proto__"], 1),
  );

Deno.test("inspectDevice() counts records and bytes by kind, and says nothing of what they hold", async () => {
  const store = await some();
  const inspection = await inspectDevice(store, DEVICE);
  const counts = Object.entries(inspection.kinds).map((
    [kind, { records }],
  ): [string, number] => [kind, records]);
  assertEquals(counts, [
    ["__proto__", 1],
    ["crypto", 1],
    ["crypto/account", 1],
    ["crypto/inbound", 2],
    ["room", 1],
    ["schema", 1],
    ["state", 2],
    ["sync", 1],
  ]);
  const bytes = (kind: string) => inspection.kinds[kind]?.bytes ?? 0;
  assertEquals(
    bytes("crypto/account"),
    encodeValue({ pickle: "SECRET" }).length + [...PREFIX, "crypto", "account"].join("").length,
  );
  assertEquals(inspection.records, 10);
  assertEquals(inspection.bytes, counts.reduce((sum, [kind]) => sum + bytes(kind), 0));
  assertEquals([inspection.schema, inspection.hasPosition, inspection.isImporting], [3, true, false]);
  assertEquals(inspection.holder, undefined);
  const text = Deno.inspect(inspection, { depth: 9 }) + JSON.stringify(inspection);
  for (const secret of SECRETS) assertFalse(text.includes(secret), secret);
});

Deno.test("inspectDevice() counts the same when the records are sealed", async () => {
  const clear = await some();
  const sealed = await SealedStore.open(new MemoryStore(), KEY);
  for await (const { key, value } of clear.list([])) await sealed.commit([{ type: "set", key, value }]);
  assertEquals(await inspectDevice(sealed, DEVICE), await inspectDevice(clear, DEVICE));
});

Deno.test("inspectDevice() finds nothing of a device that is not there, or that only begins alike", async () => {
  const store = await storeWith(
    { type: "set", key: PREFIX, value: 1 },
    { type: "set", key: [DEVICE.mxid, "DEVICE2", "sync"], value: { nextBatch: "s1" } },
  );
  assertEquals(await inspectDevice(store, DEVICE), {
    ...DEVICE,
    records: 0,
    bytes: 0,
    kinds: {},
    schema: undefined,
    hasPosition: false,
    isImporting: false,
    holder: undefined,
  });
});

Deno.test("inspectDevice() reports the holder of a device and its lease, without disturbing it", async () => {
  const clock = new TestClock();
  const store = await some();
  const before = await inspectDevice(store, DEVICE);
  const lease = await Lease.acquire(store, PREFIX, { clock, owner: "the bot", duration: 5_000 });
  assertEquals(await inspectDevice(store, DEVICE), {
    ...before,
    holder: { owner: "the bot", until: clock.now() + 5_000 },
  });
  await lease.release();
  assertEquals((await inspectDevice(store, DEVICE)).holder, { owner: "the bot", until: 0 });
});

Deno.test("inspectDevice() reports an unfinished import, and an invalid position", async () => {
  const store = await storeWith(
    set(["importing"], {}),
    set(["sync"], { filter: {} }),
    set(["schema"], "odd"),
  );
  const { isImporting, hasPosition, schema, records } = await inspectDevice(store, DEVICE);
  assertEquals([isImporting, hasPosition, schema, records], [true, false, undefined, 2]);
});

Deno.test("inspectDevice() counts the same of a device that was moved", async () => {
  const clock = new TestClock();
  const [from, to] = [await some(), new MemoryStore()];
  const before = await inspectDevice(from, DEVICE);
  await importDevice(to, exportDevice(from, { ...DEVICE, clock }), { clock });
  assertEquals({ ...await inspectDevice(to, DEVICE), holder: undefined }, before);
});

Deno.test("listDevices() finds each device once, and nothing else", async () => {
  const keys: StoreKey[] = [
    ["@a:b", "", "sync"],
    ["@a:b", "D", "room", "!a:b"],
    ["@a:b", "D", "sync"],
    ["@a:b", "D2", "sync"],
    ["@a:b", "FREE", "owner"],
    ["@c:d", "D", "crypto", "account"],
    ["@e:f"],
    ["@e:f", "D"],
    ["other", "D", "sync"],
    ["greeting"],
    [],
  ];
  const store = await storeWith(...keys.map((key): StoreMutation => ({ type: "set", key, value: 1 })));
  assertEquals(await Array.fromAsync(listDevices(store)), [
    { mxid: "@a:b", deviceId: "" },
    { mxid: "@a:b", deviceId: "D" },
    { mxid: "@a:b", deviceId: "D2" },
    { mxid: "@c:d", deviceId: "D" },
  ]);
});

Deno.test("A sealed store without its seal is neither inspected nor listed", async () => {
  const inner = new MemoryStore();
  const sealed = await SealedStore.open(inner, KEY);
  await sealed.commit([set(["sync"], { nextBatch: "s1" })]);
  await assertRejects(() => inspectDevice(inner, DEVICE), StoreKeyError);
  await assertRejects(() => Array.fromAsync(listDevices(inner)), StoreKeyError);
  assertEquals(await Array.fromAsync(listDevices(sealed)), [DEVICE]);
});

Deno.test("inspectDevice() and listDevices() end when their signal is aborted", async () => {
  const store = await some();
  const signal = AbortSignal.abort(new ValueError("Enough"));
  await assertRejects(() => inspectDevice(store, { ...DEVICE, signal }), ValueError, "Enough");
  await assertRejects(() => Array.fromAsync(listDevices(store, { signal })), ValueError, "Enough");
});
