/** A response about users who were not in the query. */

import { assertEquals, assertFalse } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";
const BOB = "@bob:b.example";

Deno.test("T24: an answer about users who were not queried is ignored", async () => {
  const stage = new DeviceStage();
  await stage.learn(new FakeUser(BOB, "PHONE").crossSign());
  await stage.run((tx) => stage.lists.left(tx, [BOB]));
  const pinned = await stage.run((tx) => stage.lists.identityOf(tx, BOB));
  await stage.mark(ALICE);
  const response = queryResponse(new FakeUser(ALICE, "A"), new FakeUser(BOB, "EVIL").crossSign());
  const changes = await stage.ask(response);
  assertEquals(changes.changed, [ALICE]);
  assertEquals(changes.alarms, []);
  assertEquals(await stage.trust(BOB), { PHONE: "cross-signed" });
  assertEquals(await stage.run((tx) => stage.lists.identityOf(tx, BOB)), pinned);
  assertFalse(stage.lists.tracked.isFollowed(BOB));
});
