/**
 * A server says of each upload that the backup's version is gone, and shows that version when it is asked
 * which there is: the device asked and uploaded without a pause, thousands of times a day.
 *
 * What must hold: what has failed is tried again after growing waits, whatever else succeeds meanwhile;
 * another version that is shown is used at once.
 *
 * The class of mistake: the success of one request ends the wait of another.
 */

import { assert, assertEquals } from "@std/assert";
import { backedUp, stage, uploadsWithin, withSessions } from "../../backup/stage.ts";

const DAY = 86_400_000;

Deno.test("T162: a backup that is shown and takes nothing is asked ever more rarely, and used again when it works", async () => {
  for (const [status, errcode] of [[404, "M_NOT_FOUND"], [403, "M_WRONG_ROOM_KEYS_VERSION"]] as const) {
    const { server, bob, backups } = await stage();
    await backedUp(bob, backups);
    await withSessions(bob, 1);
    const uploads = await uploadsWithin(DAY, {
      ...{ bot: bob, most: 200 },
      shown: () => backups.shown(bob),
      upload: () => ({ status, errcode }),
    });
    assert(uploads > 10 && uploads < 150, `${uploads}`);
    await server.clock.tick(900_000);
    await bob.flush();
    assertEquals(backups.sessions(bob).length, 1, "it works again");
  }
});
