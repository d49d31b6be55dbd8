/** Names that mean something to JavaScript, like `__proto__` (CVE-2022-36059, CVE-2023-28427). */

import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

/** JSON as it is parsed off the wire: an object's `__proto__` is then a member like others. */
function overTheWire(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

Deno.test("T26: devices with names that objects have by themselves are devices like others", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "__proto__", "constructor", "toString").crossSign();
  await stage.mark(ALICE);
  await stage.ask(overTheWire(queryResponse(alice)));
  for (const deviceId of ["__proto__", "constructor", "toString"]) {
    const device = await stage.run((tx) => stage.lists.device(tx, ALICE, deviceId));
    assertEquals([device?.deviceId, device?.trust], [deviceId, "cross-signed"]);
  }
  assertEquals(({} as JsonObject).user_id, undefined);
});

Deno.test("T26: an entry on __proto__ is in no user's device list", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const response = overTheWire(queryResponse(alice));
  const planted = `{"__proto__":${JSON.stringify(response.device_keys)}}`;
  await stage.mark(ALICE);
  const changes = await stage.ask({ ...response, device_keys: JSON.parse(planted) });
  assertEquals(changes.added, []);
  const emptied = JSON.stringify(response).replace(`"${ALICE}":{"PHONE":`, `"${ALICE}":{"__proto__":`);
  await stage.mark(ALICE);
  assertEquals((await stage.ask(JSON.parse(emptied))).added, []);
  assertEquals(await stage.trust(ALICE), {});
});

Deno.test("T26: members that objects have by themselves are no keys, signatures or failures", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  const keys = alice.deviceKeys(alice.device("PHONE"));
  const inherited = Object.create(keys.keys as JsonObject);
  await stage.mark(ALICE);
  await stage.ask({ device_keys: { [ALICE]: { PHONE: { ...keys, keys: inherited } } } });
  assertEquals(await stage.trust(ALICE), {});
  const weird = new FakeUser("@weird:constructor", "PHONE");
  await stage.learn(weird);
  assert(!stage.lists.tracked.isDirty([weird.userId]));
  assertEquals(stage.lists.tracked.nextQuery(stage.clock.now() + 900_000)?.users, undefined);
});

Deno.test("T26: an own device called like something that objects have is missing if it is not shown", async () => {
  for (const deviceId of ["__proto__", "constructor"]) {
    const stage = new DeviceStage({ deviceId });
    assertEquals((await stage.learn(new FakeUser("@me:example.org", "OTHER"))).own, "missing");
  }
});
