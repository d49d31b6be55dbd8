/** What becomes of encrypted rooms when a user resets their identity, as in Element. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import type { DeviceAlarm } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { synced } from "../../encryption/verification/pair.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

const KEY = recoveryKeyOf(7);
const BOB = "@bob:localhost";

/** A bot of Alice with defaults and Bob, both signed, in an encrypted room. */
async function pair(stage: ClientStage, bobs: object = {}) {
  const alice = await synced(stage, "alice", { encryption: { recoveryKey: KEY } });
  const bob = await synced(stage, "bob", { encryption: { recoveryKey: KEY, ...bobs } });
  const roomId = await alice.createRoom({ invitees: [BOB], initialState: ENCRYPTED });
  await bob.joinRoom(roomId);
  await stage.settle();
  return { alice, bob, roomId };
}

/** Resets the identity of a client's user. */
async function reset(stage: ClientStage, client: Client, name: string): Promise<void> {
  const report = await client.crypto?.resetIdentity({
    recoveryKey: KEY,
    password: `password of ${name}`,
    confirm: () => true,
  });
  assertEquals(report?.state, "reset");
  await stage.settle();
}

Deno.test("A user who was never verified and resets the identity is heard and gets keys as before, and the bot is told", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await pair(stage);
  const [alices, bobs] = [heard(alice), heard(bob)];
  const alarms: DeviceAlarm[] = [];
  alice.on("DEVICE_ALARM", ({ alarm }) => void alarms.push(alarm));
  await alice.sendText(roomId, "before");
  await stage.until(() => bobs.length === 1);

  await reset(stage, bob, "bob");
  await bob.sendText(roomId, "after");
  await stage.until(() => alices.length === 2);
  await alice.sendText(roomId, "to the new one");
  await stage.until(() => bobs.length === 3);

  assertEquals([alices.at(-1), bobs.at(-1)], ["to the new one", "to the new one"]);
  const bobsAlarms = alarms.filter(({ userId }) => userId === BOB);
  assertEquals(bobsAlarms.map((alarm) => alarm.kind === "identity-changed" && alarm.isAccepted), [true]);
  const told = stage.log.lines.filter(([level, message]) =>
    level === "warn" && message.includes("reset their identity")
  );
  assertEquals(told.length, 1);
});

Deno.test("A user who was verified and resets the identity is not heard, and nothing is sent, until that is judged", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await pair(stage);
  const texts = heard(alice);
  const codes: string[] = [];
  alice.on("UNDECRYPTABLE", ({ code }) => void codes.push(code));
  const before = await alice.crypto?.getIdentity(BOB);
  assert(before !== undefined);
  await alice.crypto?.verifyUser(before);
  await reset(stage, bob, "bob");
  await bob.sendText(roomId, "after");
  await stage.until(() => codes.length === 1);
  assertEquals([texts, codes], [[], ["UNTRUSTED"]]);
  const { message, users } = await assertRejects(() => alice.sendText(roomId, "no"), IdentityChangedError);
  assertEquals(users, [BOB]);
  assertStringIncludes(message, "withdrawVerification()");
  const after = await alice.crypto?.getIdentity(BOB);
  assert(after !== undefined);
  await alice.crypto?.verifyUser(after);
  await stage.until(() => texts.length === 1);
  await alice.sendText(roomId, "yes");
});

Deno.test("An own identity that was reset elsewhere silences nobody: own devices of the new one get nothing until the new recovery key is given", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await pair(stage, { accept: "all" });
  const bobs = heard(bob);
  const phone = await synced(stage, "alice", { deviceId: "PHONE" });
  const phones = heard(phone);
  let recoveryKey = "";
  await phone.crypto?.resetIdentity({
    onRecoveryKey: (key) => void (recoveryKey = key),
    password: "password of alice",
    confirm: () => true,
  });
  await stage.settle();
  const withheld = async () =>
    (await alice.shareGroupSession(roomId)).withheld.map(({ device }) => device.deviceId);

  await alice.sendText(roomId, "goes on");
  await stage.until(() => bobs.length === 1);
  assertEquals([await withheld(), phones], [["PHONE"], []]);
  const told = stage.log.lines.find(([, message]) => message.startsWith("The own identity was replaced"));
  assertStringIncludes(told?.[1] ?? "", "give the new recovery key");

  assertEquals((await alice.crypto?.ensureVerified({ recoveryKey }))?.state, "verified");
  assertEquals(await withheld(), []);
});

Deno.test("If the own identity was reset, what is said of users whom it had verified is that, and what to do", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await pair(stage);
  const bob = await alice.crypto?.getIdentity(BOB);
  assert(bob !== undefined);
  await alice.crypto?.verifyUser(bob);
  await reset(
    stage,
    await synced(stage, "alice", { deviceId: "PHONE", encryption: { recoveryKey: KEY } }),
    "alice",
  );
  await stage.until(() =>
    stage.log.lines.some(([, message]) => message.startsWith("The own identity was replaced"))
  );
  const { message } = await assertRejects(() => alice.sendText(roomId, "no"), IdentityChangedError);
  assertStringIncludes(message, "the own identity, which has verified them, was replaced");
  assertEquals((await alice.crypto?.ensureVerified())?.state, "verified");
  const now = await alice.crypto?.getIdentity(BOB);
  assert(now !== undefined);
  await alice.crypto?.verifyUser(now);
  await alice.sendText(roomId, "yes");
});
