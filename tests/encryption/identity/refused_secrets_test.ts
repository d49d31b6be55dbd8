import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { AuthenticationNeededError, OwnIdentityError, SecretStorageError } from "@greenroom/matrix/errors";
import type { CrossSigningKey } from "@greenroom/matrix/types";
import { FakeUser } from "../../crypto/support/fake_user.ts";
import { DEFAULT_KEY, kept, plant } from "../secrets/scene.ts";
import { clientStage } from "../../client/support/stage.ts";
import {
  ALICE,
  changed,
  changes,
  device,
  KEY,
  OTHER_KEY,
  PASSWORD,
  patiently,
  selfSigning,
  shown,
} from "./scene.ts";

const NOT_STARTED = "it has started";

Deno.test("A wrong recovery key ends the start with an error that says so, and nothing is published or adopted", async () => {
  await using here = clientStage();
  await (await device(here, "FIRST", { encryption: { recoveryKey: KEY } })).crypto?.start();
  const { fetch, made } = changes(here);
  for (const recoveryKey of [OTHER_KEY, KEY.slice(1)]) {
    const second = await device(here, "SECOND", { fetch, encryption: { recoveryKey } });
    const { problem } = await assertRejects(() => second.start(), SecretStorageError);
    assertEquals(problem, recoveryKey === OTHER_KEY ? "wrong-key" : "mistyped");
    assertEquals(made, []);
  }
});

Deno.test("Private keys that are missing, damaged, or of another identity are not adopted", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  const name = "m.cross_signing.self_signing";
  const content = await kept(first, name);
  const master = "m.cross_signing.master";
  const contentOfMaster = await kept(first, master);
  const seed = new Uint8Array(32).fill(1).toBase64({ omitPadding: true });
  const damaged = { encrypted: { [storage.keyId]: { iv: "", ciphertext: "", mac: "" } } };
  const cases: [() => Promise<void>, string][] = [
    [() => storage.set(name, "AAAA"), "incomplete"],
    [() => storage.set(name, seed), "mismatch"],
    [() => plant(first, name, damaged), "damaged"],
    [() => plant(first, name, {}), "incomplete"],
    [async () => { // only the master key proves the identity to a new device
      await plant(first, name, content);
      await plant(first, master, {});
    }, "incomplete"],
  ];
  const { fetch, made } = changes(here);
  for (const [spoil, problem] of cases) {
    await spoil();
    const second = await device(here, "SECOND", { fetch, encryption: { recoveryKey: KEY } });
    const outcome = await patiently(here, second.crypto?.start()).then(
      () => NOT_STARTED,
      (error) => error.problem,
    );
    assertEquals([outcome, made], [problem, []]);
  }
  await plant(first, master, contentOfMaster);
  await (await device(here, "SECOND", { encryption: { recoveryKey: KEY } })).crypto?.start();
  assertEquals((await shown(first)).signers.SECOND, [await selfSigning(first)]);
});

Deno.test("An identity that was accepted, and is not proven yet, is proven by the next call that finds the master key", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const name = "m.cross_signing.master";
  const content = await kept(first, name);
  await plant(first, name, {});
  const second = await device(here, "SECOND");
  await second.syncOnce();
  const own = await second.crypto?.getIdentity(ALICE);
  if (own !== undefined) await second.crypto?.acknowledgeIdentity(own);
  const ensured = async () => {
    const report = await second.crypto?.ensureVerified({ recoveryKey: KEY });
    return [report?.state, (await second.crypto?.getIdentity(ALICE))?.isVerified];
  };
  assertEquals(await ensured(), ["verified", false]);
  await plant(first, name, content);
  assertEquals(await ensured(), ["verified", true]);
});

Deno.test("Where the server hides what the account had, nothing is made in its place", async () => {
  await using here = clientStage();
  const first = await device(here, "FIRST", { encryption: { recoveryKey: KEY } });
  await first.crypto?.start();
  const before = await shown(first);
  const stored = await kept(first, "m.cross_signing.master");
  const fetch = changed(here, "/keys/query", (body) => {
    for (const name of ["master_keys", "self_signing_keys", "user_signing_keys"]) delete body[name];
  });
  // The private keys that are in the storage are published again: those are no others.
  const second = await device(here, "SECOND", { fetch, encryption: { recoveryKey: KEY } });
  await assertRejects(async () => await second.crypto?.start(), AuthenticationNeededError);
  const encryption = { recoveryKey: KEY, password: PASSWORD };
  const again = await device(here, "AGAIN", { fetch, encryption });
  const error = await assertRejects(async () => await again.crypto?.start(), OwnIdentityError);
  assertEquals([error.problem, (await shown(first)).master], ["not-shown", before.master]);
  assertEquals(await kept(first, "m.cross_signing.master"), stored, "they are not stored again");

  await plant(first, DEFAULT_KEY, {}); // hidden as well
  const third = await device(here, "THIRD", { fetch, encryption: { recoveryKey: OTHER_KEY } });
  const hidden = await assertRejects(async () => await third.crypto?.start(), OwnIdentityError);
  assertEquals([hidden.problem, (await first.secretStorage.info()).problem], ["hidden", "absent"]);
  assertEquals((await shown(first)).signers.THIRD, undefined);
});

/** A server that wants a password before it takes the first identity. */
function wanting(
  inner: typeof fetch,
  before: () => Promise<unknown> = () => Promise.resolve(),
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.endsWith("/keys/device_signing/upload")) return await inner(request);
    const { auth } = await request.clone().json();
    if (auth !== undefined) return await inner(request);
    await before();
    const challenge = { flows: [{ stages: ["m.login.password"] }], params: {}, session: "1" };
    return Response.json(challenge, { status: 401 });
  };
}

Deno.test("A password is given to a server that wants it, and without one the start ends", async () => {
  await using here = clientStage();
  const fetch = wanting(here.homeserver.fetch);
  const without = await device(here, "FIRST", { fetch, encryption: { recoveryKey: KEY } });
  const outcome = await without.crypto?.start().then(() => NOT_STARTED, (error) => error.name);
  assertEquals([outcome, (await shown(without)).master], ["AuthenticationNeededError", undefined]);
  const encryption = { recoveryKey: KEY, password: PASSWORD };
  const client = await device(here, "SECOND", { fetch, encryption });
  await client.crypto?.start();
  assertEquals((await client.crypto?.ensureVerified())?.state, "verified");
});

Deno.test("A password never replaces an identity that came up meanwhile", async () => {
  await using here = clientStage();
  const other = new FakeUser(ALICE).crossSign();
  const key = (name: "master" | "selfSigning" | "userSigning", usage: string) =>
    other.crossSigningKey(
      other[name] ?? { publicKey: "", secret: new Uint8Array() },
      usage,
    ) as unknown as CrossSigningKey;
  const rival = await device(here, "RIVAL");
  const fetch = wanting(here.homeserver.fetch, () =>
    rival.raw.uploadCrossSigningKeys({
      masterKey: key("master", "master"),
      selfSigningKey: key("selfSigning", "self_signing"),
      userSigningKey: key("userSigning", "user_signing"),
    }));
  const encryption = { recoveryKey: KEY, password: PASSWORD };
  const client = await device(here, "FIRST", { fetch, encryption });
  const outcome = await patiently(here, client.crypto?.start()).then(
    () => NOT_STARTED,
    (error) => error.problem,
  );
  assertEquals([outcome, (await shown(rival)).master], ["mismatch", other.master?.publicKey]);
  assertEquals((await rival.crypto?.backup.info())?.problem, "absent", "nothing is made for it");
});

Deno.test("An identity that was replaced is not taken back, with the secrets of its time, before the user accepts it", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const encryption = { recoveryKey: KEY };
  const answers = new Map<string, Record<string, unknown>>();
  let isReplaying = false;
  const replay = (name: string) =>
    changed(here, name, (body) => {
      if (!isReplaying) answers.set(name, structuredClone(body));
      else Object.assign(body, answers.get(name));
    });
  const replayed = ["m.cross_signing.master", "m.cross_signing.self_signing", "m.cross_signing.user_signing"];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const name = [...replayed, "/keys/query"].find((each) => request.url.includes(each));
    return name === undefined ? here.homeserver.fetch(request) : replay(name)(request);
  };
  const first = await device(here, "FIRST", { encryption });
  await first.crypto?.start();
  const bot = await device(here, "BOT", { store, fetch, encryption });
  await bot.syncOnce();
  const before = (await bot.crypto?.getIdentity(ALICE))?.master ?? "";
  const recorded = structuredClone([...answers]);
  await first.crypto?.resetIdentity({ ...encryption, password: PASSWORD, confirm: () => true });
  await bot.syncOnce();
  assertEquals((await bot.crypto?.ensureVerified())?.state, "verified");
  assertNotEquals((await bot.crypto?.getIdentity(ALICE))?.master, before);

  for (const [name, answer] of recorded) answers.set(name, answer);
  isReplaying = true;
  await first.updateDevice("FIRST", "renamed"); // the server says that something has changed
  await bot.syncOnce();
  const { master, hasChanged, isVerified } = await bot.crypto?.getIdentity(ALICE) ?? {};
  assertEquals([master, hasChanged, isVerified], [before, true, false]);
  const { problem } = await assertRejects(async () => await bot.crypto?.ensureVerified(), OwnIdentityError);
  assertEquals(problem, "replaced");
  await bot.crypto?.acknowledgeIdentity({ userId: ALICE, master: before });
  assertEquals((await bot.crypto?.ensureVerified())?.state, "verified");
});
