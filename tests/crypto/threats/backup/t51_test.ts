/**
 * A version of the backup that the server, or somebody with the access token, has planted: it gets no
 * key, whether the user's own one was there before or not. Only who has the private key, or the own
 * identity, can make a version that is used.
 *
 * Class of mistake: a key is taken for the user's because it is found where the user's key should be.
 */

import { assert, assertEquals } from "@std/assert";
import { BACKUP_ALGORITHM, newAuthData } from "../../../../src/types/identifiers.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { backedUp, NEW, stage, withSessions } from "../../backup/stage.ts";
import { testContext } from "../../support/context.ts";
import { FakeUser, sign, type SigningKey, signingKey } from "../../support/fake_user.ts";

const { vodozemac } = testContext();

/** What makes a version with a key of the server's. */
function planted(sign = (object: JsonObject) => object) {
  using key = vodozemac.pk.createDecryption();
  return { algorithm: BACKUP_ALGORITHM, auth_data: newAuthData(key.publicKey, sign) };
}

Deno.test("T51: a planted version gets no key where no backup is in use, and trust in it needs its private key", async () => {
  const { bob, backups } = await stage();
  await withSessions(bob, 3);
  backups.create(bob, planted());
  await bob.flush();
  await bob.restart();
  const { secret } = await bob.engine.steps.newBackup(NEW);
  const shown = backups.shown(bob);
  for (const given of [secret, undefined, "", "AAAA", shown.auth_data.public_key as string]) {
    assertEquals(await bob.engine.steps.adoptBackup({ shown, secret: given }), "mismatch");
  }
  assertEquals(
    await bob.engine.steps.adoptBackup({ shown: { ...shown, algorithm: "m.other" }, secret }),
    "unusable",
  );
  assertEquals(
    await bob.engine.steps.adoptBackup({ shown: { ...shown, auth_data: {} }, secret }),
    "unusable",
  );
  await bob.flush();
  assertEquals(backups.log, []);
});

Deno.test("T51: a planted version gets no key in place of the one in use, nor after a restart", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  const ownAuthData = backups.current(bob)?.authData ?? {};
  // With the signature of the own device.
  const keep = (object: JsonObject) => ({ ...ownAuthData, ...object });
  for (const definition of [planted(), planted(keep), { ...planted(), algorithm: "m.other" }]) {
    backups.create(bob, definition);
    await withSessions(bob, 1);
    await bob.flush();
    await bob.restart();
    await withSessions(bob, 1);
    await bob.flush();
    assertEquals((await bob.engine.steps.backupState())?.phase, "replaced");
    assertEquals(backups.sessions(bob), []);
  }
});

Deno.test("T51: the own identity vouches for a version once it was accepted, and no other one does", async () => {
  const { server, bob, backups } = await stage();
  const { userId } = bob;
  const own = new FakeUser(userId).crossSign();
  const { master } = own;
  assert(master);
  server.identities.set(userId, own);
  server.show(bob);
  await bob.sync();
  const signedBy = (key: SigningKey) => (object: JsonObject) =>
    sign(object, { userId, keyId: `ed25519:${master.publicKey}`, key });
  await backedUp(bob, backups);
  const phaseAfter = async (definition: ReturnType<typeof planted>) => {
    const version = backups.create(bob, definition);
    await withSessions(bob, 1);
    await bob.flush();
    const state = await bob.engine.steps.backupState();
    return [state?.phase, state?.isReadable, state?.version === version];
  };
  assertEquals(
    await phaseAfter(planted(signedBy(master))),
    ["replaced", true, false],
    "the server may have made it",
  );
  await bob.engine.steps.acknowledgeIdentity({ userId, master: master.publicKey });
  await bob.restart();
  assertEquals((await bob.engine.steps.backupState())?.phase, "on");
  assertEquals(backups.sessions(bob).length, 1);
  assertEquals(await phaseAfter(planted(signedBy(signingKey()))), ["replaced", false, false]);
  assertEquals(
    await phaseAfter(planted(signedBy(master))),
    ["replaced", false, false],
    "before it was asked",
  );
  await bob.restart();
  assertEquals((await bob.engine.steps.backupState())?.phase, "on");
  server.identities.set(userId, new FakeUser(userId).crossSign());
  await bob.sync({ deviceLists: { changed: [userId], left: [] } });
  assertEquals(
    await phaseAfter(planted(signedBy(master))),
    ["replaced", false, false],
    "the identity was replaced",
  );
});

Deno.test("T51: a version that is planted while another one is being made gets no key, and that one all", async () => {
  const { bob, backups } = await stage();
  await backedUp(bob, backups);
  const { definition, publicKey } = await bob.engine.steps.newBackup(NEW);
  backups.create(bob, planted());
  await withSessions(bob, 1);
  await bob.flush();
  assertEquals([(await bob.engine.steps.backupState())?.phase, backups.sessions(bob)], ["replaced", []]);
  backups.create(bob, definition);
  await bob.restart();
  await bob.flush();
  const { phase, pending } = await bob.engine.steps.backupState() ?? {};
  assertEquals([phase, pending, backups.sessions(bob).length], ["on", publicKey, 1]);
});

/** Versions of a user's backup that the own identity, which was accepted, vouches for. */
async function vouchedFor() {
  const { server, alice, bob, backups } = await stage();
  const { userId } = bob;
  const { master } = server.identities.set(userId, new FakeUser(userId).crossSign()).get(userId) ?? {};
  assert(master);
  server.show(bob);
  await bob.sync();
  await bob.engine.steps.acknowledgeIdentity({ userId, master: master.publicKey });
  const first = await backedUp(bob, backups);
  const signed = (object: JsonObject) =>
    sign(object, { userId, keyId: `ed25519:${master.publicKey}`, key: master });
  const old = { algorithm: BACKUP_ALGORITHM, auth_data: signed(backups.shown(bob).auth_data) };
  return { alice, bob, backups, first, old, next: planted(signed) };
}

/**
 * How it is with the backup after a session more, which shows the bot another version, and after a restart.
 */
async function phases({ bob }: Pick<Awaited<ReturnType<typeof vouchedFor>>, "bob">) {
  const seen = [];
  for (const _time of ["at once", "after a restart"]) {
    await withSessions(bob, 1);
    await bob.flush();
    seen.push((await bob.engine.steps.backupState())?.phase);
    await bob.restart();
    await bob.flush();
  }
  return seen;
}

Deno.test("T51: a version that was left for another gets no key when it is shown again, under whatever name", async () => {
  const { bob, backups, first, old, next } = await vouchedFor();
  const version = backups.create(bob, next);
  assertEquals(await phases({ bob }), ["on", "on"]);
  assertEquals((await bob.engine.steps.backupState())?.version, version);
  backups.create(bob, old);
  assertEquals(await phases({ bob }), ["replaced", "replaced"]);
  assertEquals(backups.sessions(bob), []);
  const shown = backups.shown(bob);
  assertEquals(
    await bob.engine.steps.adoptBackup({ shown, secret: first }),
    "left",
    "as stored, by the server",
  );
  assert((await bob.engine.steps.newBackup({ latest: undefined, isNew: false, secret: first })).isLeft);
  await bob.flush();
  assertEquals(backups.sessions(bob), []);
  assertEquals(await bob.engine.steps.adoptBackup({ shown, secret: first, isChosen: true }), "adopted");
  await bob.flush();
  assert(backups.sessions(bob).length > 0, "the user has given its key");
});

Deno.test("T51: nothing is asked of a version whose private key is not here, since nothing of it could be read", async () => {
  const { alice, bob, backups, next } = await vouchedFor();
  backups.create(bob, next);
  assertEquals(await phases({ bob }), ["on", "on"]);
  const event = await alice.send("hello");
  await bob.sync({ toDevice: [] });
  assertEquals([bob.outcome(event), backups.log.map(([kind]) => kind).includes("backupDownload")], [
    "MISSING_KEY",
    false,
  ]);
});

Deno.test("T51: a version of an algorithm that is not known is not used, by any signature", async () => {
  const { bob, backups, next } = await vouchedFor();
  backups.create(bob, { ...next, algorithm: "m.other" });
  assertEquals(await phases({ bob }), ["replaced", "replaced"]);
  assertEquals(backups.sessions(bob), []);
});

Deno.test("T51: a backup that was forgotten is not used again because the server shows it, and its key", async () => {
  const { bob, backups, first } = await vouchedFor();
  await bob.engine.steps.forgetBackup();
  await bob.restart();
  assertEquals(await bob.engine.steps.adoptBackup({ shown: backups.shown(bob), secret: first }), "left");
  await withSessions(bob, 1);
  await bob.flush();
  assertEquals(backups.sessions(bob), []);
});
