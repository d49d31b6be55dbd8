import { assertEquals } from "@std/assert";
import { Bot } from "../engine/bot.ts";
import { Refusal, ROOM } from "../engine/homeserver.ts";
import { backedUp, stage as bareStage, trusting, withSessions } from "./stage.ts";

/** Bob has a backup with the key of an event, which a new device of his has not, and waits for. */
async function stage() {
  const { server, alice, bob, backups } = await bareStage();
  const event = await alice.send("before the device was there");
  await bob.sync();
  const secret = await backedUp(bob, backups);
  const fresh = await Bot.open(server, { userId: bob.userId, deviceId: "FRESH" });
  await fresh.sync({ encrypted: [event] });
  assertEquals(fresh.outcome(event), "MISSING_KEY");
  backups.log.splice(0);
  return { server, alice, bob, fresh, backups, event, secret };
}

Deno.test("An event that can't be read is read with the key from the backup, once that is trusted", async () => {
  const { fresh, backups, event, secret } = await stage();
  await trusting(fresh, backups, secret);
  assertEquals(fresh.outcome(event), "text: before the device was there");
  assertEquals(backups.log, [["backupDownload", 0], ["backupUpload", 1]]);
  await fresh.restart();
  assertEquals(backups.log.length, 2);
});

Deno.test("An event that comes while the backup is in use is read with its key", async () => {
  const { alice, bob, fresh, backups, secret } = await stage();
  await trusting(fresh, backups, secret);
  const { content, txnId } = await alice.encrypt("only for Bob's old device");
  const event = alice.server.publish(alice, content, txnId);
  await bob.sync();
  const input = fresh.collect();
  await fresh.sync({ ...input, toDevice: [], encrypted: [event] }); // its key was withheld
  assertEquals(fresh.outcome(event), "text: only for Bob's old device");
});

Deno.test("A session that is not in the backup is not asked for again before ten minutes, and then later and later", async () => {
  const { server, alice, fresh, backups, secret } = await stage();
  await trusting(fresh, backups, secret);
  backups.log.splice(0);
  await alice.engine.discardGroupSession(ROOM);
  const event = await alice.send("in no backup");
  const again = await alice.send("neither");
  for (const each of [event, again]) await fresh.sync({ toDevice: [], encrypted: [each] });
  assertEquals(backups.log, [["backupDownload", 0]]);
  const waits: number[] = [];
  for (let minutes = 1; minutes <= 80; minutes++) {
    await server.clock.tick(60_000);
    const { length } = backups.log;
    await fresh.sync({ toDevice: [] });
    if (backups.log.length > length) waits.push(minutes);
  }
  assertEquals(waits, [10, 30, 70]);
  assertEquals(fresh.outcome(event), "MISSING_KEY");
});

Deno.test("A download that fails is made again, and waits for the server", async () => {
  const { server, fresh, backups, event, secret } = await stage();
  backups.refusal = new Refusal(502);
  await trusting(fresh, backups, secret);
  assertEquals(fresh.outcome(event), "MISSING_KEY");
  backups.refusal = undefined;
  await fresh.flush();
  assertEquals(backups.log.length, 1);
  await server.clock.tick(5_000);
  await fresh.flush();
  assertEquals(fresh.outcome(event), "text: before the device was there");
});

Deno.test("That a key is not in the backup is settled: what is due next follows without a wait", async () => {
  const { alice, fresh, backups, secret } = await stage();
  await trusting(fresh, backups, secret);
  const [madeUp, other] = ["A".repeat(43), "E".repeat(43)].map((session_id) => {
    const content = { algorithm: "m.megolm.v1.aes-sha2", session_id, ciphertext: "AAAA" };
    return alice.server.publish(alice, content as never, session_id as never);
  });
  await withSessions(fresh, 1);
  const { engine } = fresh;
  await engine.receiveSync({ ...fresh.collect(), toDevice: [], encrypted: [madeUp, other] as never });
  const kinds: string[] = [];
  for (let [request] = await engine.requests(); request !== undefined; [request] = await engine.requests()) {
    kinds.push(request.kind);
    if (request.kind === "backupUpload") break;
    const failure = { status: 404, errcode: "M_NOT_FOUND", message: "" };
    assertEquals(await engine.fail({ id: request.id, failure }), { settled: true });
  }
  assertEquals(kinds, ["backupDownload", "backupDownload", "backupUpload"]);
});

Deno.test("A process that ends before the answer leaves the event to the next one", async () => {
  const { fresh, backups, event, secret } = await stage();
  await fresh.engine.steps.adoptBackup({ shown: backups.shown(fresh), secret });
  const [request] = await fresh.engine.requests();
  assertEquals(request?.kind, "backupDownload");
  await fresh.restart();
  assertEquals(fresh.outcome(event), "text: before the device was there");
});

Deno.test("T52: restoreKeys() restores many, counts them, and takes none of another version", async () => {
  const { fresh, bob, backups, secret } = await stage();
  const ids = await withSessions(bob, 3);
  await bob.flush();
  await trusting(fresh, backups, secret);
  backups.log.splice(0);
  const sessions = backups.current(bob)?.sessionsOf(ROOM) ?? {};
  const keys = ids.map((sessionId) => ({ roomId: ROOM, sessionId, data: sessions[sessionId] }));
  const damaged = { roomId: ROOM, sessionId: ids[0] ?? "", data: {} };
  const moved = { roomId: ROOM, sessionId: ids[0] ?? "", data: sessions[ids[1] ?? ""] };
  const output = await fresh.engine.steps.restoreKeys({ version: "1", keys: [...keys, damaged, moved] });
  assertEquals(output, { added: 3, improved: 0, known: 0, refused: 2, recovered: [] });
  const again = await fresh.engine.steps.restoreKeys({ version: "1", keys });
  assertEquals([again.added, again.known], [0, 3]);
  assertEquals((await fresh.engine.steps.restoreKeys({ version: "2", keys })).refused, 3);
  await fresh.flush();
  assertEquals(backups.log, [], "nothing of it is put into it again");
});

Deno.test("A session that can't be in a backup is not asked for: events may name anything", async () => {
  const { alice, fresh, backups, secret } = await stage();
  await trusting(fresh, backups, secret);
  backups.log.splice(0);
  await alice.engine.discardGroupSession(ROOM);
  const event = await alice.send("hello");
  for (const session_id of ["../../keys", "", "A".repeat(42), 7]) {
    const content = { ...event.content, session_id } as typeof event.content;
    await fresh.sync({ toDevice: [], encrypted: [{ ...event, event_id: `$${session_id}`, content }] });
  }
  assertEquals(backups.log, []);
  await fresh.sync({ toDevice: [], encrypted: [event] });
  assertEquals(backups.log, [["backupDownload", 0]]);
});

Deno.test("Nothing is asked of a backup that was deleted or replaced", async () => {
  const { alice, bob, fresh, backups, secret } = await stage();
  await trusting(fresh, backups, secret);
  backups.delete(bob, "1");
  await withSessions(fresh, 1);
  await fresh.flush();
  assertEquals((await fresh.engine.steps.backupState())?.phase, "deleted");
  backups.log.splice(0);
  await alice.engine.discardGroupSession(ROOM);
  await fresh.sync({ toDevice: [], encrypted: [await alice.send("hello")] });
  assertEquals(backups.log, []);
});

Deno.test("A session is asked for once in ten minutes, whoever asks, and again in another version", async () => {
  const { server, bob, fresh, backups, secret } = await stage();
  await trusting(fresh, backups, secret);
  const { steps } = fresh.engine;
  const session = { roomId: ROOM, sessionId: "A".repeat(43) } as const;
  assertEquals(await steps.versionFor(session), "1");
  assertEquals(await steps.versionFor({ ...session, sessionId: "../keys" }), undefined);
  await steps.restoreKeys({ version: "1", keys: [{ ...session, data: undefined }] });
  assertEquals(await steps.versionFor(session), undefined);
  await server.clock.tick(600_000);
  assertEquals(await steps.versionFor(session), "1");
  await steps.restoreKeys({ version: "1", keys: [{ ...session, data: undefined }] });
  const { algorithm, auth_data } = backups.shown(bob);
  backups.create(bob, { algorithm, auth_data });
  await trusting(fresh, backups, secret);
  assertEquals(await steps.versionFor(session), "2");
});
