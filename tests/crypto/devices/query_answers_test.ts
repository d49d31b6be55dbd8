import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { DeviceLists } from "../../../src/crypto/devices/mod.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { testContext } from "../support/context.ts";
import { DeviceStage } from "../support/device_stage.ts";
import { FakeUser, queryResponse } from "../support/fake_user.ts";

const ALICE = "@alice:a.example";
const ME = "@me:example.org";

Deno.test("the own device is reported separately, and is not among the user's devices", async () => {
  const me = new FakeUser(ME, "OWNDEVICE", "OTHER");
  const { curve25519, signing } = me.device("OWNDEVICE");
  const stage = new DeviceStage({ curve25519, ed25519: signing.publicKey });
  const response = queryResponse(me);
  await stage.mark(ME);
  const changes = await stage.ask(response);
  assertEquals(changes.own, response.device_keys[ME]?.OWNDEVICE);
  assertEquals(changes.added.map(({ deviceId }) => deviceId), ["OTHER"]);
  assertEquals(Object.keys(await stage.trust(ME)), ["OTHER"]);
  await stage.run(async (tx) => {
    const own = await stage.lists.device(tx, ME, "OWNDEVICE");
    assertEquals([own?.curve25519, own?.trust], [curve25519, "verified"]);
    assertEquals(await stage.lists.byIdentityKey(tx, ME, curve25519), own);
  });
});

Deno.test("a missing own device in the answer is reported", async () => {
  const stage = new DeviceStage();
  assertEquals((await stage.learn(new FakeUser(ME, "OTHER"))).own, "missing");
  await stage.mark(ME);
  assertEquals((await stage.ask({ device_keys: {} })).own, "missing");
  await stage.clock.tick(60_000);
  await stage.mark(ME);
  assertEquals((await stage.ask({ device_keys: {}, failures: { "example.org": {} } })).own, undefined);
});

Deno.test("users that the answer leaves out have no devices, keep their identity, and are queried again", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A").crossSign());
  await stage.mark(ALICE);
  const changes = await stage.ask({ device_keys: {} });
  assertEquals(changes.removed.map(({ deviceId }) => deviceId), ["A"]);
  assertEquals(await stage.trust(ALICE), {});
  assert(await stage.run((tx) => stage.lists.identityOf(tx, ALICE)));
  assertFalse(stage.lists.tracked.isDirty([ALICE]));
  assertEquals(stage.lists.tracked.nextQuery(stage.clock.now() + 15_000)?.users, [ALICE]);
});

Deno.test("users of servers out of reach keep their devices and stay dirty, but are not waited for", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  await stage.mark(ALICE);
  const changes = await stage.ask({ device_keys: {}, failures: { "a.example": {} } });
  assertEquals([changes.changed, changes.removed], [[], []]);
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
  assertFalse(stage.lists.tracked.isDirty([ALICE]));
  assertEquals(stage.lists.tracked.nextQuery(stage.clock.now() + 14_999), undefined);
  assertEquals(stage.lists.tracked.nextQuery(stage.clock.now() + 15_000)?.users, [ALICE]);
});

Deno.test("devices of an unreachable server are accepted, but may be out of date", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  await stage.ask({ ...queryResponse(new FakeUser(ALICE, "A")), failures: { "a.example": {} } });
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
  assertEquals(stage.lists.tracked.nextQuery(stage.clock.now() + 15_000)?.users, [ALICE]);
});

Deno.test("an answer that is none changes nothing, and is waited for again", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  for (const response of [{}, { device_keys: null }, { device_keys: [] }] as JsonObject[]) {
    await stage.mark(ALICE);
    await stage.clock.tick(120_000);
    assertEquals((await stage.ask(response)).changed, []);
    assertEquals(await stage.trust(ALICE), { A: "unsigned" });
    assert(stage.lists.tracked.isDirty([ALICE]));
  }
});

Deno.test("a list of devices that is none changes nothing", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "A"));
  for (const devices of [null, [], 7]) {
    await stage.mark(ALICE);
    await stage.ask({ device_keys: { [ALICE]: devices } });
    assertEquals(await stage.trust(ALICE), { A: "unsigned" });
  }
});

Deno.test("T24: the answer to a query that was given up changes nothing", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  const query = stage.lists.tracked.nextQuery(stage.clock.now());
  assert(query);
  stage.lists.tracked.failed(query, { now: stage.clock.now() });
  const response = queryResponse(new FakeUser(ALICE, "A"));
  const changes = await stage.run((tx) => stage.lists.receiveQuery(tx, query, response));
  assertEquals(changes.changed, []);
  assert(stage.lists.tracked.isDirty([ALICE]));
});

Deno.test("a step that comes to nothing leaves the query under way and the version as it was", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  const query = stage.lists.tracked.nextQuery(stage.clock.now());
  assert(query);
  const response = queryResponse(new FakeUser(ALICE, "A"));
  const { version } = stage.lists.changes;
  await assertRejects(() =>
    stage.run(async (tx) => {
      await stage.lists.receiveQuery(tx, query, response);
      throw new RangeError("the step fails");
    })
  );
  assertEquals(stage.lists.changes.version, version);
  assertEquals(await stage.trust(ALICE), {});
  await stage.run((tx) => stage.lists.receiveQuery(tx, query, response));
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
});

Deno.test("an instance that has died says nothing of devices: none is lost", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "A");
  await stage.learn(alice);
  const { Vodozemac } = await import("@greenroom/vodozemac-wasm");
  const dead = await Vodozemac.create();
  const context = { ...testContext({ vodozemac: dead, clock: stage.clock }) };
  dead[Symbol.dispose]();
  stage.lists = new DeviceLists(context);
  await stage.run((tx) => stage.lists.load(tx));
  // A signature that the runtime does not vouch for, so that vodozemac is asked.
  const response = queryResponse(new FakeUser(ALICE, "B"));
  const keys = response.device_keys[ALICE]?.B as { signatures: Record<string, Record<string, string>> };
  keys.signatures[ALICE] = { "ed25519:B": "A".repeat(86) };
  await stage.mark(ALICE);
  await assertRejects(() => stage.ask(response));
  assertEquals(await stage.trust(ALICE), { A: "unsigned" });
});
