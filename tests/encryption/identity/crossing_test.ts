/** Devices of one user that start for the first time at the same time. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { OwnIdentityError } from "@greenroom/matrix/errors";
import { publicBackupKey } from "../../../src/crypto/backup/session_data.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { testContext } from "../../crypto/support/context.ts";
import { before, device, KEY, patiently, shown } from "./scene.ts";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";

const IS_DONE = true;
const WITH_KEY = { recoveryKey: KEY };

Deno.test("A device that publishes its identity stores the private keys again if another has stored its own meanwhile", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL");
  const fetch = before(here, async () => {
    using storage = await rival.secretStorage.open({ recoveryKey: KEY });
    for (const [index, name] of Object.values(SEED_SECRETS).entries()) {
      await storage.set(name, new Uint8Array(32).fill(index).toBase64());
    }
  });
  const first = await device(here, "FIRST", { encryption: WITH_KEY, fetch });
  await first.crypto?.start();
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  const { signers } = await shown(next);
  assertEquals(signers.NEXT?.length, 1);
  assertEquals(signers.FIRST, signers.NEXT);
});

Deno.test("A device whose user got another identity meanwhile takes that one", async () => {
  await using here = clientStage();
  const { master } = await (async () => {
    const winner = await device(here, "WINNER", { encryption: WITH_KEY });
    const fetch = before(here, async () => {
      using storage = await winner.secretStorage.open({ recoveryKey: KEY });
      for (const name of Object.values(SEED_SECRETS)) await storage.delete(name);
      await winner.crypto?.start();
    });
    const loser = await device(here, "LOSER", { encryption: WITH_KEY, fetch });
    await patiently(here, loser.crypto?.start());
    assertEquals((await loser.crypto?.ensureVerified())?.backup, "on");
    return await shown(winner);
  })();
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  const { master: now, signers } = await shown(next);
  assert(master !== undefined);
  assertEquals(now, master);
  const [signer = "none"] = signers.WINNER ?? [];
  assert(signers.LOSER?.includes(signer)); // beside the one that was never published
});

Deno.test("A device that finds the identity published which it was about to publish is verified by it", async () => {
  await using here = clientStage();
  const other = await device(here, "OTHER", { encryption: WITH_KEY });
  const fetch = before(here, async () => await other.crypto?.start());
  const one = await device(here, "ONE", { encryption: WITH_KEY, fetch });
  await one.crypto?.start();
  const { signers } = await shown(one);
  assertEquals(signers.ONE?.length, 1);
  assertEquals(signers.OTHER, signers.ONE);
});

Deno.test("A device whose user got another identity meanwhile says so if its private keys are not stored", async () => {
  await using here = clientStage();
  const winner = await device(here, "WINNER", { encryption: WITH_KEY });
  const fetch = before(here, async () => {
    using storage = await winner.secretStorage.open({ recoveryKey: KEY });
    for (const name of Object.values(SEED_SECRETS)) await storage.delete(name);
    await winner.crypto?.start();
    for (const [index, name] of Object.values(SEED_SECRETS).entries()) {
      await storage.set(name, new Uint8Array(32).fill(index).toBase64());
    }
  });
  const loser = await device(here, "LOSER", { encryption: WITH_KEY, fetch });
  const error = await assertRejects(
    () => patiently(here, loser.crypto?.start()),
    OwnIdentityError,
  );
  assertEquals(error.problem, "mismatch");
  const { master } = await shown(winner);
  assertEquals((await winner.crypto?.ensureVerified())?.master, master);
});

Deno.test("Devices that start at the same time publish the same identity: the private keys that are stored by then", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL");
  const names = Object.values(SEED_SECRETS);
  const theirs = names.map((_name, index) =>
    new Uint8Array(32).fill(index + 1).toBase64({ omitPadding: true })
  );
  const fetch = before(here, async () => {
    using storage = await rival.secretStorage.open({ recoveryKey: KEY });
    for (const [index, name] of names.entries()) await storage.set(name, theirs[index] ?? "");
  }, "/keys/upload");
  const first = await device(here, "FIRST", { encryption: WITH_KEY, fetch });
  await first.crypto?.start();
  using storage = await rival.secretStorage.open({ recoveryKey: KEY });
  assertEquals(await Promise.all(names.map((name) => storage.get(name))), theirs);
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  const { signers } = await shown(next);
  const [signer = "none", ...others] = signers.NEXT ?? [];
  assertEquals(others, []);
  assert(signers.FIRST?.includes(signer)); // beside the one that was never published
});

Deno.test("Devices that make the backup at the same time make it with the same key: the one that is stored by then", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL");
  const theirs = new Uint8Array(32).fill(9).toBase64({ omitPadding: true });
  let isDone = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const isStored = request.method === "PUT" && request.url.endsWith("/account_data/m.megolm_backup.v1");
    const response = await here.homeserver.fetch(request);
    if (!isStored || isDone) return response;
    isDone = true;
    using storage = await rival.secretStorage.open({ recoveryKey: KEY });
    await storage.set("m.megolm_backup.v1", theirs);
    return response;
  };
  const first = await device(here, "FIRST", { encryption: WITH_KEY, fetch });
  await first.crypto?.start();
  using storage = await rival.secretStorage.open({ recoveryKey: KEY });
  assertEquals([isDone, await storage.get("m.megolm_backup.v1")], [IS_DONE, theirs]);
  const next = await device(here, "NEXT", { encryption: WITH_KEY });
  await next.crypto?.start();
  assertEquals((await next.crypto?.ensureVerified())?.backup, "on");
});

/** Where a kind of request waits, until it may pass. */
class Gate {
  readonly reached = Promise.withResolvers<void>();
  readonly #open = Promise.withResolvers<void>();
  readonly #is: (request: Request) => boolean;
  constructor(is: (request: Request) => boolean) {
    this.#is = is;
  }
  pass(): void {
    this.#open.resolve();
  }
  async at(request: Request): Promise<void> {
    if (!this.#is(request)) return;
    this.reached.resolve();
    await this.#open.promise;
  }
}

const STORES_KEY = (request: Request) =>
  request.method === "PUT" && request.url.endsWith("/account_data/m.megolm_backup.v1");
const MAKES_BACKUP = (request: Request) =>
  request.method === "POST" && request.url.endsWith("/room_keys/version");

/** A server at which some requests wait. */
function gated(
  here: ClientStage,
  gates: readonly Gate[],
  next: typeof fetch = here.homeserver.fetch,
): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (const gate of gates) await gate.at(request);
    return await next(request);
  };
}

/** Who makes a backup with the key that another stores, while that one stores its own and makes its own. */
async function mixed(here: ClientStage) {
  await (await device(here, "OWNER", { encryption: { ...WITH_KEY, backup: false } })).crypto?.start();
  const [stores, makes] = [new Gate(STORES_KEY), new Gate(MAKES_BACKUP)];
  const late = await device(here, "LATE", { encryption: WITH_KEY, fetch: gated(here, [stores, makes]) });
  const lateStart = late.crypto?.start();
  await stores.reached.promise;
  await (await device(here, "FIRST", { encryption: WITH_KEY })).crypto?.start();
  stores.pass();
  await makes.reached.promise; // the stored key is the late one's, the backup the first one's
  return { late, lateStart, makes };
}

/**
 * A server at which something happens when a device looks at a path for the third time,
 * before it is shown that.
 */
function atThirdLook(here: ClientStage, path: string, happen: () => Promise<void> | undefined): typeof fetch {
  let looks = 0;
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes(path) && ++looks === 3) await happen();
    return await here.homeserver.fetch(request);
  };
}

Deno.test("A device that comes while others make the backup waits until the stored key fits it", async () => {
  await using here = clientStage();
  const { late, lateStart, makes } = await mixed(here);
  const fetch = atThirdLook(here, "/room_keys/version", () => {
    makes.pass();
    return lateStart;
  });
  const next = await device(here, "NEXT", { encryption: WITH_KEY, fetch });
  await patiently(here, next.crypto?.start());
  const outcomes = [late, next].map(async (each) => (await each.crypto?.ensureVerified())?.backup);
  assertEquals(await Promise.all(outcomes), ["on", "on"]);
});

Deno.test("A device that overwrites the key of a backup that is newer than its own puts that key back", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL", { encryption: { ...WITH_KEY, backup: false } });
  await rival.crypto?.start();
  using storage = await rival.secretStorage.open({ recoveryKey: KEY });
  const theirs = new Uint8Array(32).fill(9).toBase64({ omitPadding: true });
  const public_key = publicBackupKey(testContext().vodozemac, new Uint8Array(32).fill(9));
  let made = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (STORES_KEY(request) && made === 1) {
      made++;
      await rival.raw.createKeyBackupVersion({
        algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
        auth_data: { public_key },
      });
    }
    const response = await here.homeserver.fetch(request);
    if (MAKES_BACKUP(request)) {
      made++;
      await storage.set("m.megolm_backup.v1", theirs); // their backup comes a little later
    }
    return response;
  };
  const slow = await device(here, "SLOW", { encryption: WITH_KEY, fetch });
  await patiently(here, slow.crypto?.start());
  assertEquals((await slow.crypto?.ensureVerified())?.backup, "on");
  assertEquals([made, await storage.get("m.megolm_backup.v1")], [2, theirs]);
});

Deno.test("A device that comes while others make the identity waits until the stored private keys fit it", async () => {
  await using here = clientStage();
  const rival = await device(here, "RIVAL");
  let isPublished = false;
  const stores = new Gate((request) =>
    isPublished && request.method === "PUT" && request.url.includes("/account_data/m.cross_signing.")
  );
  const storeOthers = before(here, async () => {
    using storage = await rival.secretStorage.open({ recoveryKey: KEY });
    for (const [index, name] of Object.values(SEED_SECRETS).entries()) {
      await storage.set(name, new Uint8Array(32).fill(index + 1).toBase64({ omitPadding: true }));
    }
    isPublished = true;
  });
  const first = await device(here, "FIRST", {
    encryption: WITH_KEY,
    fetch: gated(here, [stores], storeOthers),
  });
  const firstStart = first.crypto?.start();
  await stores.reached.promise; // the identity is the first one's, the private keys are the rival's
  const fetch = atThirdLook(here, "/account_data/m.cross_signing.master", () => {
    stores.pass();
    return firstStart;
  });
  const next = await device(here, "NEXT", { encryption: WITH_KEY, fetch });
  await patiently(here, next.crypto?.start());
  const { signers } = await shown(next);
  assertEquals([signers.NEXT?.length, signers.NEXT], [1, signers.FIRST]);
});
