/** A swapped identity, when a room's key is shared: nothing is sent. */

import { assertEquals, assertRejects } from "@std/assert";
import { IdentityChangedError } from "../../../../src/errors/encryption_error.ts";
import { device } from "../../sharing/fakes.ts";
import { BOB } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

for (const sendTo of ["cross-signed", "verified"] as const) {
  Deno.test(`T18: with ${sendTo}, nothing is sent once a user's identity was swapped, after a restart either`, async () => {
    const stage = await Stage.open({ policy: { sendTo } });
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
