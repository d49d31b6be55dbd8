/**
 * A server waits until the application has compared a key with a user, and puts another key under
 * the same name before the application trusts it. Or it does not answer when a device is to be
 * blocked.
 *
 * What must hold: every trust decision names the key that was compared, and fails without effect if
 * there is another one by now; a decision about what is known needs no answer of the server.
 *
 * The class of mistake: between comparing and deciding, the object was looked up again, by a name
 * that others can put other things under. A decision carries what it was made on.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import { twoInARoom } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { device } from "../../sharing/fakes.ts";
import { ALICE, BOB as BOB_IN_ROOM } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const BOB = "@bob:localhost";

Deno.test("T76: an identity that took the place of the one that was compared is not accepted", async () => {
  await using stage = clientStage();
  const { alice } = await twoInARoom(stage);
  const { crypto } = alice;
  assert(crypto !== undefined);
  const show = async (bob: FakeUser) => {
    stage.homeserver.faults.clear();
    stage.homeserver.faults.add({ kind: "body", match: { path: "/keys/query" }, body: queryResponse(bob) });
    await alice.handleSync({ next_batch: "s", device_lists: { changed: [BOB] } } as never);
    await crypto.getDevices(BOB);
  };
  assertEquals(await crypto.getIdentity(BOB), undefined);
  await assertRejects(
    () => crypto.acknowledgeIdentity({ userId: BOB, master: "" }),
    ValueError,
    "none is known",
  );
  const bob = new FakeUser(BOB, "PHONE").crossSign();
  const trust = async () => (await crypto.getDevices(BOB)).map(({ trust }) => trust);
  await show(bob);
  assertEquals(await trust(), ["cross-signed"]);
  const keys = { master: bob.master, selfSigning: bob.selfSigning, userSigning: bob.userSigning };
  await show(bob.crossSign());
  const compared = await crypto.getIdentity(BOB);
  assert(compared !== undefined);
  await show(Object.assign(bob, keys)); // while the application compares
  const error = await assertRejects(() => crypto.acknowledgeIdentity(compared), IdentityChangedError, BOB);
  assertEquals([error.code, error.users], ["IDENTITY_CHANGED", [BOB]]);
  assertEquals(await trust(), ["violation"]);
  const shown = await crypto.getIdentity(BOB);
  assert(shown !== undefined);
  await crypto.acknowledgeIdentity(shown);
  assertEquals(await trust(), ["cross-signed"]);
});

Deno.test("T76: a device is verified, or blocked, by the key that was compared, and not by its name", async () => {
  const stage = new DeviceStage();
  const bob = new FakeUser(BOB, "PHONE", "LAPTOP");
  await stage.learn(bob);
  const ed25519 = bob.device("LAPTOP").signing.publicKey;
  for (const trust of ["verified", "blacklisted", undefined] as const) {
    for (const key of [ed25519, "", bob.device("PHONE").curve25519]) {
      const compared = { userId: BOB, deviceId: "PHONE", ed25519: key } as const;
      await assertRejects(
        () => stage.run((tx) => stage.lists.setTrust(tx, compared, trust)),
        ValueError,
        "PHONE",
      );
      assertEquals(await stage.trust(BOB), { LAPTOP: "unsigned", PHONE: "unsigned" });
    }
  }
});

Deno.test("T76: a device is blocked, or not verified any more, while the server does not answer", async () => {
  await using stage = clientStage();
  const { alice } = await twoInARoom(stage);
  const [device] = await alice.crypto?.getDevices(BOB) ?? [];
  assert(device !== undefined);
  stage.homeserver.faults.add({ kind: "status", status: 403, match: { path: "/keys/query" } });
  await alice.handleSync({ next_batch: "s", device_lists: { changed: [BOB] } } as never);
  await alice.crypto?.setDeviceTrust(device, "blacklisted");
  stage.homeserver.faults.clear();
  const trust = async () => (await alice.crypto?.getDevices(BOB))?.map(({ trust }) => trust);
  assertEquals(await trust(), ["blacklisted"]);
  await alice.crypto?.setDeviceTrust(device, undefined);
  assertEquals(await trust(), ["unsigned"]);
});

Deno.test("T76: a device that is not known yet is looked up before it is verified by its key", async () => {
  await using stage = clientStage();
  const { alice } = await twoInARoom(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY });
  await carol.crypto?.start();
  const { ed25519 = "" } = await carol.crypto?.getOwnDeviceKeys() ?? {};
  const deviceId = String(carol.deviceId);
  const device = { userId: "@carol:localhost", deviceId, ed25519 } as const;
  await alice.crypto?.setDeviceTrust(device, "verified");
  assertEquals((await alice.crypto?.getDevices(device.userId))?.map(({ trust }) => trust), ["verified"]);
});

Deno.test("T76: a user is approved with the identity that was shown, and with another one only when asked again", async () => {
  const stage = await Stage.open({ policy: { approveRecipients: true } });
  stage.devices.masters.set(ALICE, "first");
  const [alice, bob] = [{ userId: ALICE, master: "first" }, { userId: BOB_IN_ROOM, master: undefined }];
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "approval", users: [alice, bob] });
  const swapped = { userId: ALICE, master: "second" };
  stage.devices.masters.set(ALICE, "second"); // while the application compares
  assertEquals(await stage.prepare({ approved: [alice, bob] }), { needs: "approval", users: [swapped] });
  stage.devices.masters.set(ALICE, "first");
  await stage.prepare({ approved: [alice] });
  const first = await stage.send();
  stage.devices.masters.set(ALICE, "second"); // when she has keys already
  const planted = device(ALICE, "PLANTED");
  stage.devices.put(planted);
  for (let time = 0; time < 2; time++) {
    assertEquals(await stage.tryToSend(), undefined);
    assertEquals(await stage.prepare(), { needs: "approval", users: [swapped] });
    await stage.restart();
    await stage.describe();
  }
  assertEquals(stage.keysOf(planted), []);
  await stage.prepare({ approved: [swapped] });
  const second = await stage.send();
  assertEquals([stage.canRead(planted, first), stage.canRead(planted, second)], [false, true]);
});
