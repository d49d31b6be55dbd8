import { assert, assertEquals, assertFalse, assertNotEquals } from "@std/assert";
import { Bot } from "../engine/bot.ts";
import { Refusal, ROOM } from "../engine/homeserver.ts";
import { RawDevice, RawSession } from "../engine/raw_device.ts";
import { backedUp, NEW, newSession, stage, trusting, withSessions } from "./stage.ts";

Deno.test("A backup gets the sessions that were there, in batches, and then each new one", async () => {
  const { alice, bob, backups } = await stage();
  const before = await withSessions(bob, 250);
  const secret = await backedUp(bob, backups);
  assertEquals(backups.log, [["backupUpload", 100], ["backupUpload", 100], ["backupUpload", 50]]);
  assertEquals(backups.sessions(bob), before);
  assert((await bob.engine.steps.backupState())?.isComplete);

  const event = await alice.send("hello");
  await bob.sync();
  assertEquals(bob.outcome(event), "text: hello");
  assertEquals(backups.log.slice(3), [["backupUpload", 1]]);
  const sessionId = String(event.content.session_id);
  const read = backups.read(bob, { roomId: ROOM, sessionId }, secret);
  assertEquals([read?.senderKey, read?.senderEd25519], [
    alice.engine.identity().curve25519,
    alice.engine.identity().ed25519,
  ]);
  const data = backups.current(bob)?.get(ROOM, sessionId);
  assertEquals([data?.forwarded_count, data?.first_message_index, data?.is_verified], [0, 0, false]);
  await bob.send("own sessions too");
  await bob.flush();
  assertEquals(backups.sessions(bob).length, 252);
});

Deno.test("Nothing is uploaded before a backup is in use, nor after it was forgotten", async () => {
  const { alice, bob, backups } = await stage();
  const { definition } = await bob.engine.steps.newBackup(NEW);
  backups.create(bob, definition);
  await alice.send("hello");
  await bob.sync();
  assertEquals(backups.log, []);
  await backedUp(bob, backups);
  assertEquals(backups.sessions(bob).length, 1);
  await bob.engine.steps.forgetBackup();
  await withSessions(bob, 1);
  await bob.flush();
  assertEquals(backups.log, [["backupUpload", 1]]);
  assertEquals(await bob.engine.steps.backupState(), undefined);
});

Deno.test("A session that reads more by now is uploaded once more, one with the same key is not", async () => {
  const { bob, backups } = await stage();
  const { sessionId, from } = newSession();
  await backedUp(bob, backups);
  const indexes: unknown[] = [];
  for (const index of [3, 5, 1, 1]) {
    await bob.engine.steps.importKeys([from(index)]);
    await bob.flush();
    indexes.push(backups.current(bob)?.get(ROOM, sessionId)?.first_message_index);
  }
  assertEquals(indexes, [3, 3, 1, 1]);
  assertEquals(backups.log.length, 2);
});

Deno.test("What another device gets later, from a session's owner, does not take the place of a key that reads more", async () => {
  const { server, alice, bob, backups } = await stage();
  const secret = await backedUp(bob, backups);
  const session = new RawSession();
  const owner = new RawDevice(server, alice.userId, "TABLET").publish();
  const { session_id: sessionId, session_key } = session.exported(ROOM, owner.own) as Record<string, string>;
  const { curve25519: senderKey, ed25519: senderEd25519 } = owner.own;
  const shared = { senderKey, senderEd25519, source: "bundle", sharedHistory: true } as const;
  await bob.engine.steps.importKeys([
    { ...shared, roomId: ROOM, sessionId: sessionId ?? "", sessionKey: session_key ?? "" },
  ]);
  await bob.flush();
  session.event(ROOM, "the first");
  const fresh = await Bot.open(server, { userId: bob.userId, deviceId: "FRESH" });
  await trusting(fresh, backups, secret);
  await fresh.sync({ toDevice: [owner.message(fresh, "m.room_key", session.roomKey(ROOM))] });
  await fresh.flush();
  assertEquals(backups.log, [["backupUpload", 1], ["backupUpload", 1]]);
  assertEquals(backups.current(bob)?.get(ROOM, session.id)?.first_message_index, 0);
});

Deno.test("C20: keys whose upload was not answered are uploaded again, also by the next process", async () => {
  for (const ending of ["retry", "restart"]) {
    const { server, bob, backups } = await stage();
    const old = await withSessions(bob, 3);
    backups.isDeaf = true;
    await backedUp(bob, backups);
    assertEquals(backups.log, [["backupUpload", 3]]);
    assertFalse((await bob.engine.steps.backupState())?.isComplete);
    const fresh = await withSessions(bob, 2);
    await bob.flush();
    assertEquals(backups.log.length, 1, "it waits after a failure");
    backups.isDeaf = false;
    if (ending === "retry") await server.clock.tick(5_000);
    else await bob.restart();
    await bob.flush();
    assertEquals(
      backups.log.slice(1),
      [["backupUpload", 2], ["backupUpload", 5]],
      "once too often, which does no harm",
    );
    assertEquals(backups.sessions(bob), [...old, ...fresh].sort());
    assert((await bob.engine.steps.backupState())?.isComplete);
    await bob.restart();
    assertEquals(backups.log.length, 3, "what the server has said that it has is not uploaded again");
  }
});

Deno.test("C20: a key that comes when all others are there, and whose upload is not answered, is uploaded again", async () => {
  for (const ending of ["retry", "restart"]) {
    const { server, bob, backups } = await stage();
    await withSessions(bob, 1);
    await backedUp(bob, backups);
    assert((await bob.engine.steps.backupState())?.isComplete);
    backups.isDeaf = true;
    await withSessions(bob, 1);
    await bob.flush();
    assertFalse((await bob.engine.steps.backupState())?.isComplete);
    backups.isDeaf = false;
    if (ending === "retry") await server.clock.tick(5_000);
    else await bob.restart();
    await bob.flush();
    assertEquals(backups.log, [["backupUpload", 1], ["backupUpload", 1], ["backupUpload", 1]], ending);
    assert((await bob.engine.steps.backupState())?.isComplete);
  }
});

Deno.test("C20: a session that got a better key while it was uploaded is uploaded once more", async () => {
  const { bob, backups } = await stage();
  const { sessionId, from } = newSession();
  await backedUp(bob, backups);
  await bob.engine.steps.importKeys([from(3)]);
  const [request] = await bob.engine.requests();
  assert(request?.kind === "backupUpload");
  await bob.engine.steps.importKeys([from(1)]);
  assertEquals(await bob.engine.requests(), [], "one at a time");
  await bob.carry(request);
  assertEquals(backups.current(bob)?.get(ROOM, sessionId)?.first_message_index, 3);
  await bob.flush();
  assertEquals(backups.current(bob)?.get(ROOM, sessionId)?.first_message_index, 1);
});

Deno.test("C20: a crash before or after any commit of an upload loses no key", async () => {
  for (const when of ["before", "after"] as const) {
    for (let commits = 0; commits < 3; commits++) {
      const { bob, backups } = await stage();
      const old = await withSessions(bob, 101);
      const { definition, secret } = await bob.engine.steps.newBackup(NEW);
      backups.create(bob, definition);
      await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret });
      bob.failing = { when, commits };
      await bob.flush().catch(() => {});
      await bob.restart();
      assertEquals(backups.sessions(bob), old, `${when} ${commits}`);
      assert((await bob.engine.steps.backupState())?.isComplete);
    }
  }
});

Deno.test("A failed upload is tried again later and later, up to a quarter of an hour", async () => {
  const { server, bob, backups } = await stage();
  await withSessions(bob, 1);
  backups.refusal = new Refusal(502);
  await backedUp(bob, backups);
  const waits: number[] = [];
  let last = server.clock.now();
  while (waits.length < 10) {
    await server.clock.tick(1_000);
    const { length } = backups.log;
    await bob.flush();
    if (backups.log.length === length) continue;
    waits.push((server.clock.now() - last) / 1_000);
    last = server.clock.now();
  }
  assertEquals(waits, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
});

Deno.test("C19: the key of a backup to be made is the same after a crash, until it is in use", async () => {
  const { bob, backups } = await stage();
  const first = await bob.engine.steps.newBackup(NEW);
  await bob.restart();
  assertEquals(await bob.engine.steps.newBackup(NEW), first);
  backups.create(bob, first.definition); // by a request whose answer got lost
  const { publicKey, secret } = first;
  assertEquals(await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret }), "adopted");
  const state = { version: "1", publicKey, isReadable: true, phase: "on", isComplete: false };
  assertEquals(await bob.engine.steps.backupState(), state);
  assertNotEquals((await bob.engine.steps.newBackup(NEW)).secret, secret);
});
