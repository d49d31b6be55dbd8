/** The backup in use, from one version and phase to the next: what is uploaded, and what is known of it. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { inboundKey } from "../../../src/crypto/megolm/inbound_record.ts";
import { Refusal, ROOM } from "../engine/homeserver.ts";
import { memoryVault } from "../support/vault.ts";
import { backedUp, NEW, stage, withSessions } from "./stage.ts";

Deno.test("A backup is complete until something is due", async () => {
  const { bob, backups } = await stage();
  await withSessions(bob, 1);
  await backedUp(bob, backups);
  assert((await bob.engine.steps.backupState())?.isComplete);
  backups.isDeaf = true;
  await withSessions(bob, 1);
  await bob.flush();
  assertFalse((await bob.engine.steps.backupState())?.isComplete);
});

Deno.test("To ask for the backup that is in use makes none", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
  const again = await bob.engine.steps.newBackup({ latest: publicKey, isNew: false });
  assertEquals([again.isThere, again.publicKey], [true, publicKey]);
  assertEquals((await bob.engine.steps.backupState())?.pending, undefined);
  const other = await bob.engine.steps.newBackup({ latest: publicKey, isNew: true });
  assertEquals((await bob.engine.steps.backupState())?.pending, other.publicKey);
});

Deno.test("Another key under the same version gets all sessions, and so does one that was deleted and is there again", async () => {
  const { bob, backups } = await stage();
  const sessions = await withSessions(bob, 2);
  const secret = await backedUp(bob, backups);
  const { steps } = bob.engine;
  const shown = backups.shown(bob);
  assertEquals(await steps.adoptBackup({ shown, secret }), "adopted");
  await bob.flush();
  assertEquals(backups.log, [["backupUpload", 2]], "the same one has them");

  const other = await steps.newBackup(NEW);
  const renamed = { ...other.definition, version: shown.version };
  assertEquals(await steps.adoptBackup({ shown: renamed, secret: other.secret }), "adopted");
  await bob.flush();
  assertEquals(backups.log.slice(1), [["backupUpload", 2]]);

  assertEquals(await steps.adoptBackup({ shown, secret, isChosen: true }), "adopted");
  await bob.flush();
  backups.delete(bob, shown.version);
  await withSessions(bob, 1);
  await bob.flush();
  assertEquals((await steps.backupState())?.phase, "deleted");
  const { algorithm, auth_data } = shown;
  backups.create(bob, { algorithm, auth_data });
  const before = backups.log.length;
  assertEquals(await steps.adoptBackup({ shown, secret }), "adopted"); // under its old name
  const counts: number[] = [];
  for (
    let [request] = await bob.engine.requests();
    request !== undefined;
    [request] = await bob.engine.requests()
  ) {
    assert(request.kind === "backupUpload");
    counts.push(Object.values(request.keys.rooms).flatMap(({ sessions }) => Object.keys(sessions)).length);
    await bob.engine.answer({ id: request.id, response: { count: 1, etag: "1" } });
  }
  assertEquals([counts, sessions.length, backups.log.length], [[1, 3], 2, before], "what is due, then all");
});

Deno.test("A backup that was taken up again is not one that was left", async () => {
  const { bob, backups } = await stage();
  const { steps } = bob.engine;
  const secret = await backedUp(bob, backups);
  const first = backups.shown(bob);
  await backedUp(bob, backups);
  assertEquals(await steps.adoptBackup({ shown: first, secret }), "left");
  assertEquals(await steps.adoptBackup({ shown: first, secret, isChosen: true }), "adopted");
  assertEquals(await steps.adoptBackup({ shown: first, secret }), "adopted");
});

Deno.test("Keys that come while the server is asked for the version are uploaded when it has answered", async () => {
  const { server, bob, backups } = await stage();
  const old = await withSessions(bob, 1);
  await backedUp(bob, backups);
  const [first] = await withSessions(bob, 1);
  backups.refusal = new Refusal(403, "M_WRONG_ROOM_KEYS_VERSION");
  await bob.flush();
  assertEquals((await bob.engine.steps.backupState())?.phase, "asking");
  const [second] = await withSessions(bob, 1);
  backups.refusal = undefined;
  await server.clock.tick(900_000);
  await bob.flush();
  assertEquals(backups.sessions(bob), [...old, first, second].sort());
});

Deno.test("A session that can't be exported keeps no other one out of the backup, whether it was there before or is due", async () => {
  const damages = [
    (record: object) => ({ ...record, state: new Uint8Array(8) }),
    (record: object) => ({ ...record, hearsay: undefined }), // nobody is known to have made it
  ];
  for (const damage of damages) {
    for (const when of ["before", "due"] as const) {
      const { server, bob, backups } = await stage();
      if (when === "due") {
        await backedUp(bob, backups);
        backups.refusal = new Refusal(500);
      }
      const [damaged, other] = await withSessions(bob, 2);
      await bob.flush();
      const vault = memoryVault(bob.store);
      const key = inboundKey(ROOM, damaged ?? "").path;
      const [record] = await vault.getMany([key]);
      await vault.commit([{ type: "set", key, value: damage({ ...record as object }) }]);
      await bob.restart();
      backups.refusal = undefined;
      await server.clock.tick(900_000);
      await (when === "due" ? bob.flush() : backedUp(bob, backups));
      assertEquals(backups.sessions(bob), [other]);
      assert((await bob.engine.steps.backupState())?.isComplete);
    }
  }
});

Deno.test("Only that the version is another one has the server asked which there is", async () => {
  for (const refusal of [new Refusal(403, "M_FORBIDDEN"), new Refusal(400, "M_WRONG_ROOM_KEYS_VERSION")]) {
    const { bob, backups } = await stage();
    await backedUp(bob, backups);
    await withSessions(bob, 1);
    backups.refusal = refusal;
    await bob.flush();
    assertEquals((await bob.engine.steps.backupState())?.phase, "on");
  }
});

Deno.test("A server that fails, or does not say which version there is, is asked again, and deletes nothing by that", async () => {
  const { server, bob, backups } = await stage();
  await backedUp(bob, backups);
  await withSessions(bob, 1);
  backups.refusal = new Refusal(404, "M_UNRECOGNIZED");
  await bob.flush();
  backups.refusal = new Refusal(500, "M_NOT_FOUND");
  await server.clock.tick(900_000);
  await bob.flush();
  assertEquals((await bob.engine.steps.backupState())?.phase, "asking");
  await server.clock.tick(900_000);
  const [request] = await bob.engine.requests();
  assert(request?.kind === "backupVersion");
  await bob.engine.answer({ id: request.id, response: { count: 1 } });
  assertEquals((await bob.engine.steps.backupState())?.phase, "asking");
});

Deno.test("The outcome of another request is not that of an upload", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  const [session] = await withSessions(bob, 1);
  const [request] = await bob.engine.requests();
  assert(request?.kind === "backupUpload");
  await bob.engine.answer({ id: "another", response: { count: 1, etag: "1" } });
  await bob.engine.fail({ id: "another", failure: { status: 404, errcode: "M_NOT_FOUND", message: "" } });
  assertEquals(await bob.engine.requests(), [], "it is still under way");
  assertEquals((await bob.engine.steps.backupState())?.phase, "on");
  await bob.restart();
  assertEquals(backups.sessions(bob), [session]);
});

Deno.test("C20: what a version has taken is not taken for what the next one has", async () => {
  const { bob, backups } = await stage();
  const old = await withSessions(bob, 3);
  const { definition, secret } = await bob.engine.steps.newBackup(NEW);
  backups.create(bob, definition);
  await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret });
  const [request] = await bob.engine.requests();
  assert(request?.kind === "backupUpload");
  const next = await bob.engine.steps.newBackup(NEW);
  backups.create(bob, next.definition);
  await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret: next.secret });
  await bob.engine.answer({ id: request.id, response: { count: 3, etag: "1" } });
  await bob.flush();
  assertEquals(backups.sessions(bob), old);
  assert((await bob.engine.steps.backupState())?.isComplete);
});
