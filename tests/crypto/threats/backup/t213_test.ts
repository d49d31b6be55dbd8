/**
 * A server says of each upload that the backup's version is gone, and shows another one with the same public key each
 * time: the device followed, asked and uploaded without a pause.
 *
 * What must hold: the wait goes by what the server can't make, the backup's key; a backup with another key is used at
 * once.
 *
 * The class of mistake: a wait is kept under a name that the server chooses.
 */

import { assert, assertEquals } from "@std/assert";
import { backedUp, stage, withSessions } from "../../backup/stage.ts";

const DAY = 86_400_000;

Deno.test("T213: a server that names another version of the backup each time is asked ever more rarely", async () => {
  const { server, bob, backups } = await stage();
  await backedUp(bob, backups);
  await withSessions(bob, 1);
  let uploads = 0;
  const begin = server.clock.now();
  while (server.clock.now() < begin + DAY) {
    for (let [request] = await bob.engine.requests(); request; [request] = await bob.engine.requests()) {
      const { id } = request;
      if (request.kind === "backupVersion") {
        await bob.engine.answer({ id, response: { ...backups.shown(bob), version: `${uploads + 1}` } });
        continue;
      }
      assert(request.kind === "backupUpload" && ++uploads < 200, "there is no end");
      await bob.engine.fail({ id, failure: { status: 404, errcode: "M_NOT_FOUND", message: "" } });
    }
    await server.clock.tick(30_000);
  }
  assert(uploads > 10 && uploads < 150, `${uploads}`);
  await backedUp(bob, backups); // with another key
  assertEquals(backups.sessions(bob).length, 1);
});

Deno.test("T213: nor does a server keep it busy that takes the first keys of each version, and says then that it is gone", async () => {
  const { server, bob, backups } = await stage();
  await withSessions(bob, 250);
  await backedUp(bob, backups);
  await bob.flush();
  await withSessions(bob, 1);
  let [uploads, versions, isFirst] = [0, 1, false];
  const begin = server.clock.now();
  while (server.clock.now() < begin + 60_000) {
    for (let [request] = await bob.engine.requests(); request; [request] = await bob.engine.requests()) {
      const { id } = request;
      if (request.kind === "backupVersion") {
        isFirst = true;
        await bob.engine.answer({ id, response: { ...backups.shown(bob), version: `v${versions++}` } });
        continue;
      }
      assert(request.kind === "backupUpload" && ++uploads < 50, "there is no end");
      if (isFirst) await bob.engine.answer({ id, response: { count: 100_000, etag: "x" } });
      else await bob.engine.fail({ id, failure: { status: 404, errcode: "M_NOT_FOUND", message: "" } });
      isFirst = false;
    }
    await server.clock.tick(30_000);
  }
  assert(uploads > 1, `${uploads}`);
});
