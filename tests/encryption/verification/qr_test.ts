import { assert, assertEquals, assertRejects } from "@std/assert";
import { VerificationError } from "@greenroom/matrix/errors";
import { clientStage } from "../../client/support/stage.ts";
import { ALICE, BOB, reach, readyPair, synced } from "./pair.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

const [KEY, OTHER_KEY] = [7, 8].map(recoveryKeyOf);
const WAYS = { ways: ["sas", "show-qr", "scan-qr"] } as const;

Deno.test("Two users verify each other's identities by a QR code", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice", { encryption: { recoveryKey: KEY } });
  const bob = await synced(here, "bob", { encryption: { recoveryKey: OTHER_KEY } });
  const [mine, theirs] = await readyPair(here, alice, bob, WAYS);
  assertEquals([mine.ways, theirs.ways], [WAYS.ways, WAYS.ways]);
  await theirs.scanQr(await mine.showQr());
  await reach(here, "scanned", mine);
  assertEquals(theirs.phase, "confirmed");
  await mine.confirm();
  await reach(here, "done", mine, theirs);
  const result = await mine.done;
  assertEquals([result.isDeviceVerified, result.isIdentityVerified], [false, true]);
  assert((await alice.crypto?.getIdentity(BOB))?.isVerified);
  assert((await bob.crypto?.getIdentity(ALICE))?.isVerified);

  // The code has no key of a device: its trust is that of the identity, and ends with it.
  await bob.crypto?.resetIdentity({
    recoveryKey: OTHER_KEY,
    password: "password of bob",
    confirm: () => true,
  });
  await here.clock.tick(60_000);
  assertEquals((await alice.crypto?.getDevices(BOB))?.map(({ trust }) => trust), ["violation"]);
});

Deno.test("A new own device is verified by the code that it shows, and signed", async () => {
  await using here = clientStage();
  const first = await synced(here, "alice", { encryption: { recoveryKey: KEY } });
  const second = await synced(here, "alice", { deviceId: "SECOND" });
  const [mine, theirs] = await readyPair(here, second, first, WAYS);
  await theirs.scanQr(await mine.showQr());
  await reach(here, "scanned", mine);
  await mine.confirm();
  await reach(here, "done", mine, theirs);
  assert((await second.crypto?.getIdentity(ALICE))?.isVerified);
  assertEquals((await first.crypto?.getDevices(ALICE))?.map(({ trust }) => trust), ["verified"]);
});

Deno.test("T49: a code is called off when it is looked at again and the identity is another one by then", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice", { encryption: { recoveryKey: KEY } });
  const bob = await synced(here, "bob", { encryption: { recoveryKey: OTHER_KEY } });
  const [theirs, mine] = await readyPair(here, alice, bob, WAYS);
  const code = await mine.showQr();
  const other = await synced(here, "alice", { deviceId: "OTHER" });
  const reset = { recoveryKey: KEY, password: "password of alice", confirm: () => true };
  await other.crypto?.resetIdentity(reset);
  await here.clock.tick(60_000); // what was looked up before is looked up again

  const error = await assertRejects(() => mine.showQr(), VerificationError, "m.key_mismatch");
  assertEquals(error.by, "us");
  await reach(here, "cancelled", theirs);
  await assertRejects(() => theirs.scanQr(code), VerificationError);
  const after = await bob.crypto?.getIdentity(ALICE);
  assertEquals([after?.wasReset, after?.isVerified], [true, false]);
});
