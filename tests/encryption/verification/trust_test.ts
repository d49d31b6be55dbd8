import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ALICE, BOB, comparingPair, reach, synced } from "./pair.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

const [KEY, OTHER_KEY] = [7, 8].map(recoveryKeyOf);

/** Lets two sides compare and confirm. */
async function verify(here: ClientStage, asker: Client, other: Client) {
  const pair = await comparingPair(here, asker, other);
  for (const request of pair) await request.confirm();
  await reach(here, "done", ...pair);
  const settling = Promise.all([asker.crypto?.idle(), other.crypto?.idle()]);
  let isQuiet = false;
  settling.then(() => isQuiet = true);
  await here.until(() => isQuiet);
  return await Promise.all(pair.map(({ done }) => done));
}

/** Who has signed a key that the server shows. */
async function signers(client: Client, userId: typeof ALICE | typeof BOB, name: string): Promise<string[]> {
  const { device_keys, master_keys } = await client.queryKeys([userId]);
  const object = device_keys?.[userId]?.[name] ?? master_keys?.[userId];
  return Object.entries(object?.signatures ?? {}).flatMap(([user, keys]) =>
    Object.keys(keys).map((key) => `${user} ${key}`)
  );
}

Deno.test("A new own device is signed by the one that has the keys, and trusts the own identity from then on", async () => {
  await using here = clientStage();
  const first = await synced(here, "alice", { encryption: { recoveryKey: KEY } });
  const second = await synced(here, "alice", { deviceId: "SECOND" });
  assertEquals((await second.crypto?.getDevices(ALICE))?.map(({ trust }) => trust), ["unsigned"]);
  const [mine, theirs] = await verify(here, first, second);
  assertEquals([
    mine?.isDeviceVerified,
    mine?.isIdentityVerified,
    theirs?.isDeviceVerified,
    theirs?.isIdentityVerified,
  ], [true, false, true, true]);
  const { self_signing_keys, master_keys } = await first.queryKeys([ALICE]);
  const [self] = Object.keys(self_signing_keys?.[ALICE]?.keys ?? {});
  const [master = ""] = Object.values(master_keys?.[ALICE]?.keys ?? {});
  assert((await signers(first, ALICE, "SECOND")).includes(`${ALICE} ${self}`));
  assert((await signers(first, ALICE, master)).includes(`${ALICE} ed25519:SECOND`));
  assert((await second.crypto?.getIdentity(ALICE))?.isVerified);
  assertEquals((await second.crypto?.getDevices(ALICE))?.map(({ trust }) => trust), ["verified"]);
});

Deno.test("Two users with identities sign each other, and all devices of both count as verified", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice", { encryption: { recoveryKey: KEY } });
  const bob = await synced(here, "bob", { encryption: { recoveryKey: OTHER_KEY } });
  const other = await synced(here, "bob", { deviceId: "OTHER", encryption: { recoveryKey: OTHER_KEY } });
  const results = await verify(here, alice, bob);
  assertEquals(results.map(({ isIdentityVerified }) => isIdentityVerified), [true, true]);
  assert((await alice.crypto?.getIdentity(BOB))?.isVerified);
  assertEquals((await alice.crypto?.getDevices(BOB))?.map(({ trust }) => trust), ["verified", "verified"]);
  const { user_signing_keys } = await alice.queryKeys([ALICE]);
  const [userSigning] = Object.keys(user_signing_keys?.[ALICE]?.keys ?? {});
  const { master_keys } = await alice.queryKeys([BOB]);
  const [master = ""] = Object.values(master_keys?.[BOB]?.keys ?? {});
  assert((await signers(alice, BOB, master)).includes(`${ALICE} ${userSigning}`));
  await other.close();
});

Deno.test("Without the own private keys the other user's device is trusted here, and nothing is uploaded", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob", { encryption: { recoveryKey: KEY } });
  const [mine] = await verify(here, alice, bob);
  assertEquals([mine?.isDeviceVerified, mine?.isIdentityVerified], [true, true]);
  assertEquals((await alice.crypto?.getDevices(BOB))?.map(({ trust }) => trust), ["verified"]);
  assert((await alice.crypto?.getIdentity(BOB))?.isVerified === false);
  const { master_keys } = await bob.queryKeys([BOB]);
  const names = Object.keys(master_keys?.[BOB]?.signatures ?? {});
  assert(!names.includes(ALICE));
});

Deno.test("S47 A new own device that is verified by the one with the keys gets them, signs itself, and uses the backup", async () => {
  await using here = clientStage();
  const first = await synced(here, "alice", { encryption: { recoveryKey: KEY } });
  const second = await synced(here, "alice", { deviceId: "SECOND" });
  await verify(here, second, first);
  let report = await second.crypto?.ensureVerified();
  for (let round = 0; round < 20 && report?.backup !== "on"; round++) {
    await here.settle();
    await here.clock.tick(1_000);
    report = await second.crypto?.ensureVerified();
  }
  assertEquals([report?.state, report?.backup], ["verified", "on"]);
  const findings = await second.crypto?.doctor() ?? [];
  const codes = findings.map(({ code }) => code);
  assert(codes.includes("device-signed") && codes.includes("private-keys-here"), codes.join());
});
