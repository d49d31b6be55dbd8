/** A swapped identity, when a room's key is shared: nothing is sent. */

import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import { device } from "../../sharing/fakes.ts";
import { BOB } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

for (const sendTo of ["cross-signed", "verified"] as const) {
  Deno.test(`T18: with ${sendTo}, nothing is sent once a verified user's identity was swapped, after a restart either`, async () => {
    const stage = await Stage.open({ policy: { sendTo } });
    stage.devices.masters.set(BOB, "the identity of Bob");
    stage.devices.verified.add(BOB);
    stage.devices.put(device(BOB, "BOB1", { trust: "verified" }));
    await stage.send();
    const before = stage.taken.size;
    stage.devices.put(device(BOB, "EVIL", { trust: "violation" }));
    for (let time = 0; time < 2; time++) {
      assertEquals(await stage.tryToSend(), undefined);
      await assertRejects(() => stage.ready(), IdentityChangedError, BOB);
      await stage.restart();
    }
    assertEquals([stage.taken.size, stage.outbox.pending()], [before, []]);
  });
}

Deno.test("T18: with cross-signed, who swaps an identity that was only seen gets no key, after a restart either", async () => {
  const stage = await Stage.open({ policy: { sendTo: "cross-signed" } });
  stage.devices.put(device(BOB, "BOB1", { trust: "cross-signed" }));
  await stage.send();
  const evil = device(BOB, "EVIL", { trust: "violation" });
  stage.devices.put(evil);
  for (let time = 0; time < 2; time++) {
    assertFalse(stage.canRead(evil, await stage.send()));
    await stage.restart();
  }
});
