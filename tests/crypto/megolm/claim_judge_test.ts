import { assert, assertEquals, assertFalse } from "@std/assert";
import { ClaimJudge } from "../../../src/crypto/megolm/claim_judge.ts";
import type { SenderTrust } from "../../../src/types/events/encryption_info.ts";
import { KnownDevices, MALLORY, ME, Receiver } from "./support.ts";

const receiver = new Receiver();
const { context } = receiver;
const { curve25519: senderKey, ed25519: senderEd25519 } = context.own;
const judge = new ClaimJudge(context, receiver.devices);

Deno.test("a session is this device's own if the own user claims it with the own key, and nobody else's claim makes it so", async () => {
  const trustOf = async (userId: typeof ME, key = senderKey) => {
    const claim = { userId, senderKey: key, senderEd25519, sharedHistory: false };
    return (await receiver.step((tx) => judge.judge(tx, claim))).trust;
  };
  assertEquals(await trustOf(ME), "verified");
  assertEquals(await trustOf(MALLORY), "unknown-device");
  assertEquals(await trustOf(ME, senderEd25519), "unknown-device");
});

Deno.test("a claim is better than another if its device is to be trusted further, and only then", () => {
  const order: SenderTrust[] = ["mismatched-sender", "unknown-device", "unverified-identity", "verified"];
  const attributions = order.map((trust) =>
    ({ trust, source: "direct", senderKey, senderDevice: "D" }) as const
  );
  for (const [index, one] of attributions.entries()) {
    for (const [place, other] of attributions.entries()) {
      if (index > place) assert(judge.isBetter(one, other));
      else assertFalse(judge.isBetter(one, other));
    }
  }
});

Deno.test("devices of several users are read at once, those of one when they are looked at", async () => {
  const devices = new KnownDevices();
  const reading = new ClaimJudge(context, devices);
  await receiver.step((tx) => reading.prefetch(tx, [ME]));
  assertEquals(devices.readTogether, []);
  await receiver.step((tx) => reading.prefetch(tx, [ME, MALLORY]));
  assertEquals(devices.readTogether, [[ME, MALLORY]]);
});
