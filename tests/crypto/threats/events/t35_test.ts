/** The server adds members who were not invited. */

import { assert, assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { device } from "../../sharing/fakes.ts";
import { ALICE, BOB, memberEvent } from "../../sharing/room.ts";
import { Stage, unknown } from "../../sharing/stage.ts";

const GHOST: UserID = "@ghost:evil.example";

for (const membership of ["join", "invite"]) {
  Deno.test(`T35: a ghost who is shown to ${membership} gets no key before the application approves`, async () => {
    const stage = await Stage.open({ policy: { approveRecipients: true } });
    const ghost = device(GHOST, "GHOST1");
    await stage.describe();
    await stage.prepare({ approved: unknown(ALICE, BOB) });
    const first = await stage.send();
    stage.devices.put(ghost);
    await stage.sync([memberEvent(GHOST, membership)]);
    for (let time = 0; time < 3; time++) {
      assertEquals(await stage.tryToSend(), undefined);
      assertEquals(await stage.prepare(), { needs: "approval", users: unknown(GHOST) });
      await stage.deliver();
    }
    await stage.restart();
    stage.noteMember(GHOST, membership);
    await stage.describe();
    assertEquals(await stage.prepare(), { needs: "approval", users: unknown(GHOST) });
    assertEquals(stage.keysOf(ghost), []);

    await stage.sync([memberEvent(GHOST, "leave")]); // shown the door instead
    stage.noteMember(GHOST, "leave");
    const second = await stage.send();
    assertEquals([stage.canRead(ghost, first), stage.canRead(ghost, second)], [false, false]);
  });
}

Deno.test("T35: without approval, the report names the ghost", async () => {
  const stage = await Stage.open();
  stage.devices.put(device(GHOST, "GHOST1"));
  stage.room.members.set(GHOST, "join");
  assert((await stage.ready()).shared.some(({ userId }) => userId === GHOST));
});
