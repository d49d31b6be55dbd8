/**
 * A server says of each upload that the backup's version is gone, and shows another one with the same public
 * key each time: the device followed, asked and uploaded without a pause.
 *
 * What must hold: the wait goes by what the server can't make, the backup's key;
 * a backup with another key is used at once.
 *
 * The class of mistake: a wait is kept under a name that the server chooses.
 */

import { assert, assertEquals } from "@std/assert";
import { backedUp, stage, uploadsWithin, withSessions } from "../../backup/stage.ts";

const DAY = 86_400_000;
/** How the server says that a version is gone. */
const GONE = { status: 404, errcode: "M_NOT_FOUND" };

Deno.test("T213: a server that names another version of the backup each time is asked ever more rarely", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  await withSessions(bob, 1);
  const uploads = await uploadsWithin(DAY, {
    ...{ bot: bob, most: 200 },
    shown: (count) => ({ ...backups.shown(bob), version: `${count + 1}` }),
    upload: () => GONE,
  });
  assert(uploads > 10 && uploads < 150, `${uploads}`);
  await backedUp(bob, backups); // with another key
  assertEquals(backups.sessions(bob).length, 1);
});

Deno.test("T213: nor does a server keep it busy that takes the first keys of each version, and says then that it is gone", async () => {
  const { bob, backups } = await stage();
  await withSessions(bob, 250);
  await backedUp(bob, backups);
  await bob.flush();
  await withSessions(bob, 1);
  let [versions, isFirst] = [0, false];
  const uploads = await uploadsWithin(60_000, {
    ...{ bot: bob, most: 50 },
    shown() {
      isFirst = true;
      return { ...backups.shown(bob), version: `v${++versions}` };
    },
    upload() {
      const isTaken = isFirst;
      isFirst = false;
      return isTaken || GONE;
    },
  });
  assert(uploads > 1, `${uploads}`);
});
