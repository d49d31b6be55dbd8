/** The own identity is replaced. */

import { assertEquals } from "@std/assert";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser } from "../../support/fake_user.ts";

const ME = "@me:example.org";

Deno.test("T25: the own identity is replaced: an alarm, and the own devices it vouches for are in violation", async () => {
  const stage = new DeviceStage();
  const me = new FakeUser(ME, "OTHER").crossSign();
  await stage.learn(me);
  await stage.acknowledge(ME);
  assertEquals(await stage.trust(ME), { OTHER: "cross-signed" });
  const previous = me.master?.publicKey ?? "";
  me.crossSign();
  const current = me.master?.publicKey ?? "";
  const alarm = { kind: "identity-changed", userId: ME, previous, current, isAccepted: false } as const;
  assertEquals((await stage.learn(me)).alarms, [alarm]);
  assertEquals(await stage.trust(ME), { OTHER: "violation" });
});
