/** A device that the server has added, when a room's key is shared. */

import { assert, assertEquals } from "@std/assert";
import { device } from "../../sharing/fakes.ts";
import { BOB } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

for (const sendTo of ["cross-signed", "verified"] as const) {
  Deno.test(`T17: with ${sendTo}, a device that the server has put in gets no key, but a notice`, async () => {
    const stage = await Stage.open({ policy: { sendTo } });
    const injected = device(BOB, "INJECTED");
    const good = device(BOB, "BOB1", { trust: "verified" });
    stage.devices.put(injected, good);
    const event = await stage.send();
    assertEquals([stage.canRead(good, event), stage.canRead(injected, event)], [true, false]);
    assertEquals(stage.keysOf(injected), []);
    assertEquals(stage.noticesOf(injected).map(({ code }) => code), ["m.unverified"]);
    const { withheld } = await stage.ready();
    assert(withheld.some(({ device: { deviceId } }) => deviceId === "INJECTED"));
  });
}
