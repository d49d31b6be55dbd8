/** When the backup leads to requests again because time has passed. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { Bot } from "../engine/bot.ts";
import { ROOM } from "../engine/homeserver.ts";
import { backedUp, stage, trusting, withSessions } from "./stage.ts";

const MINUTE = 60_000;

/** Whether there may be requests after a response that changes nothing. */
async function mayRequest(bot: Bot): Promise<boolean> {
  return (await bot.engine.receiveSync({ ...bot.collect(), toDevice: [] })).mayRequest;
}

/** Bob with a backup whose server counts no keys that are uploaded. */
async function uncounted() {
  const { server, alice, bob, backups } = await stage();
  const secret = await backedUp(bob, backups);
  await bob.ready();
  const answer = server.onBackup;
  server.onBackup = (from, request) =>
    request.kind === "backupUpload" ? { count: 0, etag: "0" } : answer(from, request);
  await withSessions(bob, 1);
  await bob.flush();
  return { server, alice, bob, backups, secret };
}

Deno.test("Keys that the server did not count lead to a request when their wait is over", async () => {
  const { server, bob } = await uncounted();
  assertFalse(await mayRequest(bob));
  await server.clock.tick(4_999);
  assertFalse(await mayRequest(bob));
  await server.clock.tick(1);
  assert(await mayRequest(bob));
});

Deno.test("What can't be read leads to a request when the first wait is over, also while uploads wait", async () => {
  const { server, alice, bob, backups, secret } = await uncounted();
  const fresh = await Bot.open(server, { userId: bob.userId, deviceId: "FRESH" });
  await fresh.sync();
  await trusting(fresh, backups, secret);
  await withSessions(fresh, 1);
  for (let round = 0; round < 10; round++) { // up to the longest wait
    await server.clock.tick(15 * MINUTE);
    await fresh.flush();
  }
  for (const _event of ["first", "second"]) {
    await alice.engine.discardGroupSession(ROOM);
    await fresh.sync({ toDevice: [], encrypted: [await alice.send("in no backup")] });
    assertEquals(backups.log.at(-1), ["backupDownload", 0]);
    await server.clock.tick(4 * MINUTE);
    await fresh.flush();
  }
  assertFalse(await mayRequest(fresh));
  await server.clock.tick(2 * MINUTE);
  assert(await mayRequest(fresh), "the first one is asked for again");
});
