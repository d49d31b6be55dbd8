import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import {
  ActorError,
  ActorStoppedError,
  StoreError,
  StoreFormatError,
  StoreInUseError,
} from "@greenroom/matrix/errors";
import { spawnStore, storeOpener } from "../../../src/actors/store/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { ROOM } from "../support/events.ts";
import { CheckingStore, DEVICE, leaseStage, overtake } from "../support/lease_stage.ts";

Deno.test("T60: every commit of the Store checks that no other process has taken the device", async () => {
  await using here = leaseStage();
  const store = await here.opened("one");
  here.kv.checks.length = 0;
  await store.noEncryption(ROOM);
  await store.commitRecords([{ type: "set", key: ["crypto"], value: 1 }]);
  await store.saveFilter({ id: "f", definition: "" });
  assertEquals(here.kv.checks.map((checks) => checks.map(({ key }) => key)), [
    [[...DEVICE, "owner"]],
    [[...DEVICE, "owner"]],
    [[...DEVICE, "owner"]],
  ]);
});

Deno.test("The first commit writes the schema's version; one that comes when a third of the lease is gone renews it", async () => {
  await using here = leaseStage();
  const store = await here.opened("one");
  assertEquals(here.kv.touched, ["owner lease"]);
  await store.noEncryption(ROOM);
  assertEquals(here.kv.touched.slice(1), ["schema room"]);
  await store.noEncryption(ROOM);
  await here.clock.tick(4_999);
  await store.noEncryption(ROOM);
  assertEquals(here.kv.touched.slice(2), ["room", "room"]);
  await here.clock.tick(1);
  assertEquals(here.kv.touched.slice(4), ["lease"]); // nothing else was to be written
  assertEquals(await here.kv.value("lease"), { until: 1_020_000 });
});

Deno.test("A commit that renews the lease saves one of the timer's", async () => {
  await using here = leaseStage();
  const store = await here.opened("one", { duration: 60_000 });
  await here.clock.tick(5_000); // brings the schema's version
  await here.clock.tick(14_999);
  assertEquals(here.kv.touched, ["owner lease", "schema"]);
  await here.clock.tick(1);
  assertEquals(here.kv.touched.slice(2), ["lease"]);
  await here.clock.tick(19_999);
  await store.noEncryption(ROOM);
  await here.clock.tick(1);
  await here.clock.tick(4_999);
  assertEquals(here.kv.touched.slice(3), ["room", "lease"]);
});

Deno.test("An idle Store wakes up only when its lease is due; what waits is committed within five seconds", async () => {
  await using here = leaseStage();
  const delay = here.clock.delay.bind(here.clock);
  const waits: number[] = [];
  here.clock.delay = (ms, options) => (waits.push(ms), delay(ms, options));
  const store = await here.opened("one", { duration: 60_000 });
  await here.clock.tick(20_000);
  waits.length = 0;
  for (let renewals = 0; renewals < 3; renewals++) await here.clock.tick(20_000);
  assertEquals(waits, [20_000, 20_000, 20_000]);
  await here.clock.tick(2_000);
  here.kv.commits.length = 0;
  await store.deferRecords([{ type: "set", key: ["crypto"], value: 1 }]);
  await here.clock.tick(4_999);
  assertEquals(here.kv.touched, []);
  await here.clock.tick(1);
  assertEquals(here.kv.touched, ["sync crypto"]);
});

Deno.test("A process that was paused past its lease, and replaced, writes nothing, and names the other", async () => {
  await using here = leaseStage();
  const store = await here.opened("one");
  await store.noEncryption(ROOM);
  await overtake(here.kv);
  const error = await assertRejects(() => store.noEncryption("!other:a"), ActorError);
  assertInstanceOf(error.cause, StoreInUseError);
  assertEquals([error.actor, error.cause.owner, error.cause.until], ["store", "the other", 9_000_000]);
  assertEquals(await assertRejects(() => store.done, ActorError), error);
  await store.stop();
  assertEquals(await here.kv.value("room", "!other:a"), undefined);
  assertEquals(await here.kv.value("lease"), { until: 9_000_000 }); // not released either
});

Deno.test("An idle process that was overtaken learns it when it would renew its lease", async () => {
  await using here = leaseStage();
  const store = await here.opened("one");
  await overtake(here.kv);
  await here.clock.tick(5_000);
  const error = await assertRejects(() => store.done, ActorError);
  assertInstanceOf(error.cause, StoreInUseError);
});

Deno.test("A Store that stops releases the device; the next one need not wait", async () => {
  await using here = leaseStage();
  const one = await here.opened("one");
  await one.stop();
  assertEquals(await here.kv.value("lease"), { until: 0 });
  await here.opened("two", { held: "refuse" });
});

Deno.test("A failure to release the device is ignored: its lease runs out", async () => {
  await using here = leaseStage();
  const one = await here.opened("one");
  await one.noEncryption(ROOM);
  here.kv.failure = new Error("The disk is gone");
  await one.stop();
  await one.done;
  here.kv.failure = undefined;
});

Deno.test("A device that another holds is refused by name, and that is the end of the Store", async () => {
  await using here = leaseStage();
  await here.opened("one");
  const two = here.process("two", { held: "refuse" });
  const error = await assertRejects(() => two.open(DEVICE), ActorError);
  assertInstanceOf(error.cause, StoreInUseError);
  assertEquals(error.cause.owner, "one");
  assertEquals(await assertRejects(() => two.done, ActorError), error);
});

Deno.test("A Store that waits for the device answers other messages, and stops immediately", async () => {
  await using here = leaseStage();
  await here.opened("one");
  const two = here.process("two");
  const opening = assertRejects(() => two.open(DEVICE), ActorStoppedError);
  await here.clock.tick(1);
  await assertRejects(() => two.position(), Error, "not been opened");
  await two.stop();
  await opening;
  await two.done;
});

Deno.test("The wait for the device ends with its last caller, and not before", async () => {
  await using here = leaseStage();
  const one = await here.opened("one");
  const store = here.process("two");
  const session = { mxid: "", deviceId: undefined, account: () => Promise.resolve(DEVICE) } as const;
  const shared = true;
  const open = storeOpener(store, session, shared);
  const [first, second] = [new AbortController(), new AbortController()];
  const ends = [first, second].map(({ signal }) => assertRejects(() => open(signal), Error, "enough"));
  await here.clock.tick(1);
  assertEquals(here.clock.pending, 3); // the first renews, and commits what waits; the second waits
  first.abort(new Error("enough"));
  await ends[0];
  assertEquals(here.clock.pending, 3);
  second.abort(new Error("enough"));
  await ends[1];
  await here.clock.tick(0);
  assertEquals(here.clock.pending, 2);
  const again = open(); // a later caller waits again
  await here.clock.tick(1);
  assertEquals(here.clock.pending, 3);
  await one.stop();
  await here.clock.tick(5_000);
  await again;
  await store.noEncryption(ROOM);
});

Deno.test("A store of one's own has no lease, no schema and no timer", async () => {
  const clock = new TestClock();
  const kv = new CheckingStore();
  const store = spawnStore({ kv, clock });
  await store.open(DEVICE);
  await store.noEncryption(ROOM);
  assertEquals([kv.touched, kv.checks, clock.pending], [["room"], [[]], 0]);
  await store.stop();
  assertEquals(kv.touched, ["room"]);
});

Deno.test("A schema that is not known, and an import that did not finish, end the Store; nothing is written", async () => {
  const cases = [["schema", { format: 99 }, StoreFormatError], ["importing", {}, StoreError]] as const;
  for (const [name, value, type] of cases) {
    await using here = leaseStage();
    await here.kv.commit([{ type: "set", key: [...DEVICE, name], value }]);
    const store = here.process("one");
    const error = await assertRejects(() => store.open(DEVICE), ActorError);
    assertInstanceOf(error.cause, type);
    await store.stop();
    assertEquals(here.kv.commits.length, 1);
  }
});

Deno.test("An import that began while the device was waited for is noticed, and the device let go of", async () => {
  await using here = leaseStage();
  const one = await here.opened("one");
  const two = here.process("two");
  const opening = assertRejects(() => two.open(DEVICE), ActorError, "import");
  await here.clock.tick(1);
  await one.commitRecords([{ type: "set", key: ["importing"], value: {} }]);
  await one.stop();
  await here.clock.tick(5_000);
  await opening;
  await two.stop();
  assertEquals(await here.kv.value("lease"), { until: 0 });
});

Deno.test("Records that a Greenroom before 0.1.0 has written are refused, and none of them is changed", async () => {
  await using here = leaseStage();
  const room = { roomId: ROOM, membership: "leave", allMembers: false };
  await here.kv.commit([{ type: "set", key: [...DEVICE, "room", ROOM], value: room }]);
  await assertRejects(() => here.opened("one"), ActorError, "a Greenroom before 0.1.0 has written it");
  assertEquals(here.kv.touched.filter((each) => each.includes("room")), ["room"]);
});
