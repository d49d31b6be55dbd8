import { assert, assertEquals } from "@std/assert";
import { Refusal } from "../engine/homeserver.ts";
import { Planted, seen } from "../threats/planted.ts";
import { backedUp, NEW, stage, withSessions } from "./stage.ts";

Deno.test("A new version with the same key is followed, and gets all sessions", async () => {
  const { bob, backups } = await stage();
  const old = await withSessions(bob, 2);
  await backedUp(bob, backups);
  const { algorithm, auth_data } = backups.shown(bob);
  backups.create(bob, { algorithm, auth_data: { ...auth_data, signatures: {} } });
  const fresh = await withSessions(bob, 1);
  await bob.flush();
  assertEquals(backups.log.slice(1), [["backupUpload", 1], ["backupVersion", 0], ["backupUpload", 1], [
    "backupUpload",
    3,
  ]]);
  assertEquals(backups.sessions(bob), [...old, ...fresh].sort());
  const { version, phase, isReadable, isComplete } = await bob.engine.steps.backupState() ?? {};
  assertEquals([version, phase, isReadable, isComplete], ["2", "on", true, true]);
});

Deno.test("A deleted backup gets no more keys, until there is one with the same key again", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  const { algorithm, auth_data } = backups.shown(bob);
  backups.delete(bob, "1");
  await withSessions(bob, 1);
  await bob.flush();
  assertEquals(backups.log, [["backupUpload", 1], ["backupVersion", 0]]);
  assertEquals((await bob.engine.steps.backupState())?.phase, "deleted");
  await withSessions(bob, 1);
  await bob.flush();
  assertEquals(backups.log.length, 2);
  backups.create(bob, { algorithm, auth_data });
  await bob.restart();
  assertEquals(backups.sessions(bob).length, 2);
});

Deno.test("The server is asked again which version there is, if it could not say", async () => {
  const { server, bob, backups } = await stage();
  await backedUp(bob, backups);
  await withSessions(bob, 1);
  for (const refusal of [new Refusal(403, "M_WRONG_ROOM_KEYS_VERSION"), new Refusal(404, "M_UNRECOGNIZED")]) {
    backups.refusal = refusal;
    await bob.flush();
    assertEquals((await bob.engine.steps.backupState())?.phase, "asking");
    await server.clock.tick(900_000);
  }
  backups.refusal = undefined;
  await bob.flush();
  assertEquals((await bob.engine.steps.backupState())?.phase, "on");
  assertEquals(backups.sessions(bob).length, 1);
});

Deno.test("C20: an answer about a version that is not in use any more changes nothing", async () => {
  const { bob, backups } = await stage();
  await withSessions(bob, 1);
  await backedUp(bob, backups);
  await withSessions(bob, 1);
  const [request] = await bob.engine.requests();
  assert(request?.kind === "backupUpload");
  const { definition, secret } = await bob.engine.steps.newBackup(NEW);
  backups.create(bob, definition);
  await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret });
  await bob.engine.answer({ id: request.id, response: { count: 1, etag: "1" } });
  await bob.flush();
  assertEquals(backups.sessions(bob).length, 2);
  assertEquals((await bob.engine.steps.backupState())?.version, "2");
});

Deno.test("A version whose name has no end is neither followed nor taken into use, whoever has its key", async () => {
  const { bob, backups } = await stage();
  const secret = await backedUp(bob, backups);
  const shown = { ...backups.shown(bob), version: "1".repeat(100_000) };
  assertEquals(await bob.engine.steps.adoptBackup({ shown, secret }), "unusable");
  await withSessions(bob, 1);
  const [upload] = await bob.engine.requests();
  const failure = { status: 403, errcode: "M_WRONG_ROOM_KEYS_VERSION", message: "" } as const;
  await bob.engine.fail({ id: upload?.id ?? "", failure });
  const [asking] = await bob.engine.requests();
  await bob.engine.answer({ id: asking?.id ?? "", response: shown });
  const { version, phase } = await bob.engine.steps.backupState() ?? {};
  assertEquals([version, phase], ["1", "replaced"]);
});

Deno.test("That a version is gone which is not in use any more says nothing of the one in use", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  const state = async () => {
    const { version, phase } = await bob.engine.steps.backupState() ?? {};
    return [version, phase];
  };
  for (const kind of ["backupUpload", "backupVersion"]) {
    await withSessions(bob, 1);
    let [request] = await bob.engine.requests();
    if (kind === "backupVersion" && request !== undefined) {
      const failure = { status: 403, errcode: "M_WRONG_ROOM_KEYS_VERSION", message: "" } as const;
      await bob.engine.fail({ id: request.id, failure });
      [request] = await bob.engine.requests();
    }
    assertEquals(request?.kind, kind);
    const { definition, secret } = await bob.engine.steps.newBackup(NEW);
    const version = backups.create(bob, definition);
    await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret });
    const failure = { status: 404, errcode: "M_NOT_FOUND", message: "" } as const;
    await bob.engine.fail({ id: request?.id ?? "", failure });
    assertEquals(await state(), [version, "on"], kind);
    await bob.flush();
  }
});

Deno.test("T57: what the engine says of the backup in use has no secret, and what is forgotten is wiped", async () => {
  const { bob, backups } = await stage();
  const secret = await backedUp(bob, backups);
  const planted = new Planted();
  planted.add("private key", secret);
  planted.add("private key, as bytes", Uint8Array.fromBase64(secret));
  assertEquals(planted.leaksIn(seen([await bob.engine.steps.backupState(), bob.engine])), []);
  const record = async () => {
    const records = await Array.fromAsync(bob.store.list(["crypto"]));
    return Object(records.find(({ key }) => key[1] === "backup")?.value);
  };
  await bob.engine.steps.newBackup(NEW);
  assertEquals((await record()).used.privateKey, Uint8Array.fromBase64(secret));
  await bob.engine.steps.forgetBackup();
  assertEquals(Object.keys(await record()), ["left"], "no key, neither its own nor that of one to be made");
  await bob.restart();
  assertEquals(await bob.engine.steps.backupState(), undefined);
});
