/**
 * A server answers an upload to the backup as if it had taken the keys, and says that it has none:
 * the device counted them as backed up, `isComplete` said so, and with its disk they would have been lost.
 *
 * What must hold: keys that the server does not count are not backed up;
 * they are uploaded again after a while.
 *
 * The class of mistake: that something was sent is taken for that it has arrived.
 */

import { assert } from "@std/assert";
import { backedUp, stage, withSessions } from "../../backup/stage.ts";

Deno.test("T156: keys that the server does not count are not backed up, and are uploaded again, ever more rarely", async () => {
  const { server, bob, backups } = await stage();
  await backedUp(bob, backups);
  await bob.ready();
  const answer = server.onBackup;
  const hours: number[] = [];
  server.onBackup = (from, request) => {
    if (request.kind !== "backupUpload") return answer(from, request);
    hours.push(server.clock.now());
    return { count: 0, etag: "0" };
  };
  await withSessions(bob, 3);
  for (let minute = 0; minute < 60; minute++) {
    await bob.flush();
    await server.clock.tick(60_000);
  }
  assert(!(await bob.engine.steps.backupState())?.isComplete);
  assert(hours.length > 1 && hours.length < 15, `${hours.length} uploads in an hour`);
  server.onBackup = answer;
  await server.clock.tick(900_000);
  await bob.flush();
  assert((await bob.engine.steps.backupState())?.isComplete);
  assert(backups.sessions(bob).length >= 3);
});

Deno.test("T156: an answer without a count, or with more than were sent, is one that has taken them", async () => {
  for (const body of [{}, { etag: "1" }, { count: 7, etag: "1" }]) {
    const { server, bob, backups } = await stage();
    await backedUp(bob, backups);
    const answer = server.onBackup;
    server.onBackup = (from, request) => request.kind === "backupUpload" ? body : answer(from, request);
    await withSessions(bob, 3);
    await bob.flush();
    assert((await bob.engine.steps.backupState())?.isComplete);
  }
});
