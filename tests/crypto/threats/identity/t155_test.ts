/**
 * One altered answer ends the client, or has it give its private keys up: a server, or who
 * stands in between, shows once another identity of the own user, no default key of the secret
 * storage, or one of another algorithm.
 *
 * What must hold: it is an alarm, or a warning, nothing of that answer counts, and the server is
 * asked again, at a start and while it runs. What stays so counts: the private keys of an identity
 * that was replaced go, and a start with what opens nothing ends. A device that is signed already
 * goes on without its secret storage.
 *
 * The class of mistake: what one answer says undoes what many have shown.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { OwnIdentityError, SecretStorageError } from "@greenroom/matrix/errors";
import type { Client } from "@greenroom/matrix";
import { type ClientStage, clientStage } from "../../../client/support/stage.ts";
import { ALICE, device, KEY } from "../../../encryption/identity/scene.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

/** Has as many answers as are left show another identity of the user. */
class Alterer {
  left = 0;
  readonly fetch: typeof globalThis.fetch;

  constructor(here: ClientStage) {
    const { master_keys, self_signing_keys, user_signing_keys } = queryResponse(
      new FakeUser(ALICE, "NOWHERE").crossSign(),
    );
    this.fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await here.homeserver.fetch(request);
      if (this.left === 0 || !request.url.includes("/keys/query")) return response;
      this.left--;
      return Response.json({ ...await response.json(), master_keys, self_signing_keys, user_signing_keys });
    };
  }
}

/** Has the next answers of a kind say something else. */
function alters(here: ClientStage, path: string, body: object, times?: number, status = 200) {
  return here.homeserver.faults.add({ kind: "status", status, body, match: { path }, ...times && { times } });
}

/** A device of Alice's, with its alarms; it has begun. */
async function begun(here: ClientStage, store: MemoryStore, { fetch }: Partial<Alterer> = {}) {
  const client = await device(here, "BOT", {
    store,
    ...fetch && { fetch },
    encryption: { recoveryKey: KEY },
  });
  const alarms: string[] = [];
  client.on("DEVICE_ALARM", ({ alarm }) => void alarms.push(alarm.kind));
  try {
    await client.crypto?.start();
    await client.crypto?.idle();
  } catch (error) {
    await client.close();
    throw error;
  }
  return { client, alarms, state: async () => (await client.crypto?.ensureVerified())?.state };
}

/** Has a device look its own user up. */
async function looksUp(here: ClientStage, client: Client): Promise<void> {
  const other = await device(here, `OTHER${here.homeserver.requests.filter("POST", "/login").length}`);
  await other.crypto?.start();
  await client.syncOnce();
  await client.crypto?.idle();
}

/** What a start is refused for. */
async function refusal(here: ClientStage, store: MemoryStore, alterer: Alterer): Promise<string> {
  const error = await assertRejects(async () => {
    const starting = begun(here, store, alterer);
    starting.catch(() => {});
    for (let look = 0; look < 60; look++) {
      await here.settle();
      await here.clock.tick(200); // another device might be making one
    }
    await starting;
  }, OwnIdentityError);
  return error.problem;
}

Deno.test("T155: while it runs, one or two answers with another identity are alarms, and nothing else", async () => {
  for (const times of [1, 2]) {
    await using here = clientStage();
    const store = new MemoryStore();
    const alterer = new Alterer(here);
    const { client, alarms, state } = await begun(here, store, alterer);
    await client.syncOnce();
    alterer.left = times;
    await looksUp(here, client);
    assertEquals(alarms, Array(times).fill("identity-changed"));
    assertEquals(await state(), "verified");
    await client.close();
    const next = await begun(here, store);
    assertEquals([next.alarms, await next.state()], [[], "verified"]);
  }
});

Deno.test("T155: at a start, too", async () => {
  for (const times of [1, 2]) {
    await using here = clientStage();
    const store = new MemoryStore();
    await (await begun(here, store)).client.close();
    const alterer = new Alterer(here);
    alterer.left = times;
    const { alarms, state } = await begun(here, store, alterer);
    assertEquals(alarms, Array(times).fill("identity-changed"));
    assertEquals(await state(), "verified");
  }
});

Deno.test("T155: another identity that stays is believed, by the client that runs without an end of it, and by the next start", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const alterer = new Alterer(here);
  const { client, alarms } = await begun(here, store, alterer);
  await client.syncOnce();
  alterer.left = Infinity;
  await looksUp(here, client);
  assertEquals(alarms.length, 3);
  assert((await client.crypto?.getIdentity(ALICE))?.hasChanged);
  await client.syncOnce();
  await client.close();
  assertEquals(await refusal(here, store, alterer), "mismatch");
});

Deno.test("T155: another identity that was there before a start, and stays, ends that start", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const alterer = new Alterer(here);
  await (await begun(here, store, alterer)).client.close();
  alterer.left = Infinity;
  assertEquals(await refusal(here, store, alterer), "mismatch");
});

/** What the server can show in place of the secret storage, and what a start that believes it fails with. */
const STORAGES = [
  ["default_key", {}, 200, "absent"],
  ["default_key", { errcode: "M_NOT_FOUND", error: "Gone" }, 404, "absent"],
  ["default_key", { key: 7 }, 200, "unusable"],
  ["secret_storage.key.", {}, 200, "absent"],
  ["secret_storage.key.", { algorithm: "com.example.rot13" }, 200, "unusable"],
  [
    "secret_storage.key.",
    {
      algorithm: "m.secret_storage.v1.aes-hmac-sha2",
      iv: "A".repeat(22),
      mac: "A".repeat(43),
    },
    200,
    "wrong-key",
  ],
] as const;

Deno.test("T155: one altered answer about the secret storage ends no first start, and one that stays does", async () => {
  for (const [path, body, status, problem] of STORAGES) {
    await using here = clientStage();
    await (await device(here, "OWNER", { encryption: { recoveryKey: KEY } })).crypto?.start();
    const fault = alters(here, path, body, undefined, status);
    const error = await assertRejects(() => begun(here, new MemoryStore()), SecretStorageError);
    assertEquals(error.problem, problem, path);
    fault[Symbol.dispose]();
    alters(here, path, body, 1, status);
    assertEquals(await (await begun(here, new MemoryStore())).state(), "verified", `${path} ${problem}`);
  }
});

Deno.test("T155: a device that is signed goes on without its secret storage, at once and in each later start", async () => {
  for (const [path, body, status] of STORAGES) {
    await using here = clientStage();
    const store = new MemoryStore();
    await (await begun(here, store)).client.close();
    alters(here, path, body, undefined, status);
    for (let start = 0; start < 2; start++) {
      const { client, state } = await begun(here, store);
      assertEquals(await state(), "verified", path);
      await client.close();
    }
  }
});
