import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { canonicalJson } from "../../../src/crypto/encoding/encoding.ts";
import { beginIn, ENCRYPTED, twoInARoom } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { synced } from "../../encryption/verification/pair.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

Deno.test("A blacklisted device gets no key but a notice, and is in the report", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const codes: (string | undefined)[] = [];
  bob.on("UNDECRYPTABLE", ({ withheld }) => void codes.push(withheld));
  const texts = heard(bob);
  await alice.sendText(roomId, "Before");
  await stage.until(() => texts.length === 1);
  const [device] = await alice.crypto?.getDevices("@bob:localhost") ?? [];
  assert(device !== undefined);
  await alice.crypto?.setDeviceTrust(device, "blacklisted");
  const report = await alice.shareGroupSession(roomId);
  assertEquals(report.withheld.map(({ device, code }) => [device.userId, code]), [[
    "@bob:localhost",
    "m.blacklisted",
  ]]);
  await alice.sendText(roomId, "Behind your back");
  await stage.until(() => codes.length === 1);
  assertEquals([codes, texts], [["m.blacklisted"], ["Before"]]);
});

Deno.test("By default, devices without a signature get no key and are not heard, and the reasons say what helps", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const carol = stage.client("carol", { encryption: true });
  const reasons: string[] = [];
  carol.on("UNDECRYPTABLE", ({ code, reason }) => void reasons.push(`${code}: ${reason.message}`));
  const texts = heard(carol);
  const codes: (string | undefined)[] = [];
  alice.on("UNDECRYPTABLE", ({ withheld }) => void codes.push(withheld));
  await beginIn(stage, carol, { roomId, member: alice });
  await carol.sendText(roomId, "To whom I know");
  await stage.until(() => codes.length === 1);
  await alice.sendText(roomId, "From nobody");
  await stage.until(() => reasons.length === 1);
  assertEquals([codes, texts], [["m.unverified"], ["To whom I know"]]);
  assertStringIncludes(reasons.join(), "UNTRUSTED: ");
  assertStringIncludes(reasons.join(), 'encryption.accept "all"');
});

Deno.test("By default, own devices hear each other as long as the account has no identity", async () => {
  await using stage = clientStage();
  const first = await synced(stage, "carol", { encryption: true });
  const second = await synced(stage, "carol", { encryption: true, deviceId: "SECOND" });
  const roomId = await first.createRoom({ initialState: ENCRYPTED });
  await stage.settle();
  const texts = [heard(first), heard(second)];
  await first.sendText(roomId, "one");
  await second.sendText(roomId, "two");
  await stage.until(() => texts.every((all) => all.length === 2));
  assertEquals(texts, [["one", "two"], ["one", "two"]]);
});

Deno.test("Who has said sendTo or accept gives own devices no exception", async () => {
  for (const encryption of [{ sendTo: "cross-signed" }, { accept: "cross-signed-or-legacy" }] as const) {
    await using stage = clientStage();
    const carol = await synced(stage, "carol", { encryption });
    await synced(stage, "carol", { encryption, deviceId: "SECOND" });
    const roomId = await carol.createRoom({ initialState: ENCRYPTED });
    await stage.settle();
    const { withheld } = await carol.shareGroupSession(roomId);
    assertEquals(withheld.map(({ device, code }) => [device.deviceId, code]), [["SECOND", "m.unverified"]]);
  }
});

Deno.test("With sendTo cross-signed, a device that its user does not vouch for gets no key", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const carol = stage.client("carol", { encryption: { sendTo: "cross-signed" } });
  await beginIn(stage, carol, { roomId, member: alice });
  const { withheld, shared } = await carol.shareGroupSession(roomId);
  assertEquals(shared, []);
  assertEquals(withheld.map(({ device, code }) => `${device.userId} ${code}`).sort(), [
    "@alice:localhost m.unverified",
    "@bob:localhost m.unverified",
  ]);
});

Deno.test("onNewRecipient is asked before a first key, once, and its no keeps everything back", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const asked: string[] = [];
  let answer = false;
  const carol = stage.client("carol", {
    encryption: {
      ...EVERYBODY,
      onNewRecipient(_roomId, users) {
        asked.push(users.map(({ userId }) => userId).toSorted().join());
        return answer;
      },
    },
  });
  await beginIn(stage, carol, { roomId, member: alice });
  const texts = heard(bob);
  await assertRejects(() => carol.sendText(roomId, "No"), EncryptionError, "onNewRecipient");
  answer = true;
  await carol.sendText(roomId, "Yes");
  await carol.sendText(roomId, "Again");
  await stage.until(() => texts.length === 2);
  assertEquals([asked, texts], [
    ["@alice:localhost,@bob:localhost", "@alice:localhost,@bob:localhost"],
    ["Yes", "Again"],
  ]);
});

Deno.test("Keys of a known device that change are an alarm, and the known keys stay", async () => {
  await using stage = clientStage();
  const { alice, bob } = await twoInARoom(stage);
  const before = await bob.crypto?.getDevices("@alice:localhost");
  const alarms: unknown[] = [];
  bob.on("DEVICE_ALARM", ({ alarm }) => void alarms.push(alarm));
  stage.homeserver.faults.add({
    kind: "body",
    match: { path: "/keys/query", user: "@bob:localhost" },
    body: {
      device_keys: { "@alice:localhost": { [String(alice.deviceId)]: await otherKeys(stage, alice) } },
    },
  });
  await alice.uploadKeys({ oneTimeKeys: {} });
  await bob.handleSync({ next_batch: "s", device_lists: { changed: ["@alice:localhost"] } } as never);
  await stage.until(() => alarms.length > 0);
  const deviceId = alice.deviceId;
  assertEquals(alarms, [{ kind: "keys-changed", userId: "@alice:localhost", deviceId }]);
  stage.homeserver.faults.clear();
  assertEquals(await bob.crypto?.getDevices("@alice:localhost"), before);
});

/** Keys for a client's device, well signed, that are not its own. */
async function otherKeys(stage: ClientStage, { mxid, deviceId }: Client): Promise<unknown> {
  const impostor = stage.client("impostor", { encryption: EVERYBODY });
  const { deviceKeys } = await impostor.crypto?.getOwnDeviceKeys() ?? {};
  assert(deviceKeys !== undefined);
  const { olm } = await Vodozemac.load();
  using account = olm.createAccount();
  const keys = {
    ...deviceKeys,
    user_id: mxid,
    device_id: deviceId,
    keys: { [`curve25519:${deviceId}`]: account.curve25519Key, [`ed25519:${deviceId}`]: account.ed25519Key },
    signatures: undefined,
  };
  const signature = account.sign(canonicalJson(JSON.parse(JSON.stringify(keys))));
  return { ...keys, signatures: { [String(mxid)]: { [`ed25519:${deviceId}`]: signature } } };
}

Deno.test("The identity and devices of a user who shares no room are those of now, since no sync shows their changes", async () => {
  await using stage = clientStage();
  const recoveryKey = recoveryKeyOf(7);
  const alice = await synced(stage, "alice", { encryption: { recoveryKey } });
  const bob = await synced(stage, "bob");
  assert(await bob.crypto?.getIdentity("@alice:localhost"));
  const reset = { recoveryKey, password: "password of alice", confirm: () => true };
  const { master } = await alice.crypto?.resetIdentity(reset) ?? {};
  const second = await synced(stage, "alice", { deviceId: "SECOND" });
  await stage.clock.tick(10_000);

  const after = await bob.crypto?.getIdentity("@alice:localhost");

  assertEquals([after?.pinned, after?.master], [master, master]);
  const devices = await bob.crypto?.getDevices("@alice:localhost");
  assert(devices?.some(({ deviceId }) => deviceId === second.deviceId));
});
