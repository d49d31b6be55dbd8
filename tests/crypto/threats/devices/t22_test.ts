/** Devices that change during a query, so that the change is missed. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

Deno.test("T22: a user whose devices change while they are looked up stays dirty, over a restart too", async () => {
  const stage = new DeviceStage();
  const alice = new FakeUser(ALICE, "PHONE");
  await stage.mark(ALICE);
  const query = stage.lists.tracked.nextQuery(stage.clock.now());
  assert(query);
  await stage.mark(ALICE);
  await stage.run((tx) => stage.lists.receiveQuery(tx, query, queryResponse(alice)));
  assert(stage.lists.tracked.isDirty([ALICE]));
  await stage.restart();
  assert(stage.lists.tracked.isDirty([ALICE]));
  assertEquals((await stage.ask(queryResponse(alice))).changed, []);
  assertFalse(stage.lists.tracked.isDirty([ALICE]));
});

Deno.test("T22: changes that were missed while devices are looked up leave everybody dirty", async () => {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  const query = stage.lists.tracked.nextQuery(stage.clock.now());
  assert(query);
  await stage.run((tx) => stage.lists.tracked.invalidateAll(tx));
  await stage.run((tx) => stage.lists.receiveQuery(tx, query, queryResponse(new FakeUser(ALICE))));
  assert(stage.lists.tracked.isDirty([ALICE]));
});

Deno.test("T22: that changes were missed is known after a restart, too", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "PHONE"));
  await stage.run((tx) => stage.lists.tracked.invalidateAll(tx));
  await stage.restart();
  assert(stage.lists.tracked.isDirty([ALICE]));
});

Deno.test("T22: a change that comes before a restart is still there after it", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(ALICE, "PHONE"));
  assertFalse(stage.lists.tracked.isDirty([ALICE]));
  await stage.run((tx) => stage.lists.tracked.changed(tx, [ALICE]));
  await stage.restart();
  assert(stage.lists.tracked.isDirty([ALICE]));
});
