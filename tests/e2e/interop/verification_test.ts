import { assert, assertEquals } from "@std/assert";
import { within } from "../support/deadline.ts";
import type { VerificationRequest } from "@greenroom/matrix/types";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { asked, askedBy, compareWith, nextRequest, reach } from "../support/peer/verifying.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

const WAYS = ["sas", "show-qr", "scan-qr"] as const;

for (const starts of ["ours", "theirs"] as const) {
  peerTest(
    `S41 js_sdk asks our device for a verification, and the emoji are the same when ${starts} starts`,
    ["js_sdk"],
    async (server) => {
      await using peer = await Peer.start("js_sdk", server, "peer");
      await using ours = await Ours.start(server, "ours");
      await roomWith(ours, [peer]);
      await peer.call("awaitDevice", { userId: ours.userId, deviceId: ours.deviceId });
      const { request, flowId } = await askedBy(peer, ours, { deviceId: ours.deviceId });
      assertEquals([request.userId, request.deviceId], [peer.user.userId, peer.deviceId]);
      await peer.first("verification", ({ phase }) => phase === "ready");
      if (starts === "ours") await request.startSas();
      else await peer.call("startSas", { flowId });
      await compareWith(peer, flowId, request);
      await peer.first("verification", ({ phase }) => phase === "done");
      const [device] = await ours.crypto.getDevices(peer.user.userId);
      assertEquals(device?.trust, "verified");
    },
  );
}

peerTest(
  "S42 Two users verify each other in an encrypted room with js_sdk, asked by either, and sign each other",
  ["js_sdk"],
  async (server) => {
    for (const asks of ["ours", "theirs"] as const) {
      await using peer = await Peer.start("js_sdk", server, "peer");
      await peer.call("bootstrapCrossSigning", { password: peer.user.password });
      await using ours = await Ours.start(server, "ours", { encryption: { recoveryKey: newRecoveryKey() } });
      const roomId = await roomWith(ours, [peer]);
      const said = await ours.sendText(roomId, "hello");
      await peer.message(({ eventId }) => eventId === said);
      const { request, flowId } = asks === "ours"
        ? await asked(peer, ours, { userId: peer.user.userId, roomId })
        : await askedBy(peer, ours, { roomId });
      assertEquals([request.userId, request.roomId], [peer.user.userId, roomId]);
      if (asks !== "ours") await peer.first("verification", ({ phase }) => phase === "ready");
      await reach(request, "ready");
      if (asks === "ours") await request.startSas();
      else await peer.call("startSas", { flowId });
      await compareWith(peer, flowId, request);
      assert((await request.done).isIdentityVerified);
      await peer.first("verification", ({ phase }) => phase === "done");
      await peer.call("awaitVerified", { userId: ours.userId });
      await ours.until(async () => (await ours.crypto.getIdentity(peer.user.userId))?.isVerified === true);
    }
  },
);

peerTest(
  "S41 S47 js_sdk verifies our new device of its user, which is signed by that, trusts the identity and gets its private keys",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const user = await newDevice(server, peer.user);
    await using ours = await Ours.start(server, "peer", { user });
    // What asks before is ignored.
    await peer.call("awaitDevice", { userId: ours.userId, deviceId: ours.deviceId });
    const { request, flowId } = await asked(peer, ours, { userId: ours.userId, deviceId: peer.deviceId });
    await reach(request, "ready");
    await request.startSas();
    await compareWith(peer, flowId, request);
    assertEquals(await request.done, {
      userId: ours.userId,
      deviceId: peer.deviceId,
      isDeviceVerified: true,
      isIdentityVerified: true,
    });
    await peer.call("awaitSigned", { userId: ours.userId, deviceId: ours.deviceId });
    assert((await ours.crypto.getIdentity(ours.userId))?.isVerified);
    await ours.until(async () => (await ours.crypto.ensureVerified()).state === "verified");
  },
);

peerTest(
  "S41 S47 We sign a new device of our user, run by js_sdk, that was verified by emoji, and give it the private keys",
  ["js_sdk"],
  async (server) => {
    await using ours = await Ours.start(server, "ours", { encryption: { recoveryKey: newRecoveryKey() } });
    const user = await newDevice(server, ours.user);
    await using peer = await Peer.start("js_sdk", server, "ours", { user });
    await peer.call("awaitDevice", { userId: ours.userId, deviceId: ours.deviceId });
    const { request, flowId } = await askedBy(peer, ours, { deviceId: ours.deviceId });
    await peer.first("verification", ({ phase }) => phase === "ready");
    await request.startSas();
    await compareWith(peer, flowId, request);
    await peer.call("awaitSigned", { userId: ours.userId, deviceId: peer.deviceId });
    const [device] = await ours.crypto.getDevices(ours.userId);
    assertEquals(device?.trust, "verified");
    await peer.call("awaitSecrets", {});
  },
);

peerTest(
  "S44 A verification with js_sdk that one side calls off ends on both, with why",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await using ours = await Ours.start(server, "ours");
    await roomWith(ours, [peer]);
    await peer.call("awaitDevice", { userId: ours.userId, deviceId: ours.deviceId });
    for (const who of ["ours", "theirs"] as const) {
      const { request, flowId } = await askedBy(peer, ours, { deviceId: ours.deviceId });
      await reach(request, "ready");
      await request.startSas();
      await request.compare();
      await peer.first("sas", (event) => event.flowId === flowId);
      if (who === "ours") await request.mismatch();
      else await peer.call("mismatchSas", { flowId });
      const ended = await peer.first(
        "verification",
        (event) => event.flowId === flowId && event.phase === "cancelled",
      );
      assertEquals(ended.code, "m.mismatched_sas");
      while (request.cancellation === undefined) await request.changed();
      assertEquals([request.cancellation.code, request.cancellation.by], [
        "m.mismatched_sas",
        who === "ours" ? "us" : "them",
      ]);
    }
  },
);

for (const shows of ["ours", "theirs"] as const) {
  peerTest(
    `S46 Two users verify each other by the QR code that ${shows} shows, with js_sdk`,
    ["js_sdk"],
    async (server) => {
      await using peer = await Peer.start("js_sdk", server, "peer");
      await peer.call("bootstrapCrossSigning", { password: peer.user.password });
      await using ours = await Ours.start(server, "ours", { encryption: { recoveryKey: newRecoveryKey() } });
      const roomId = await roomWith(ours, [peer]);
      const said = await ours.sendText(roomId, "hello");
      await peer.message(({ eventId }) => eventId === said);
      const { request, flowId } = await asked(peer, ours, { userId: peer.user.userId, roomId, ways: WAYS });
      await reach(request, "ready");
      await byCode(peer, flowId, { request, shows });
      assert((await request.done).isIdentityVerified);
      await peer.call("awaitVerified", { userId: ours.userId });
      await ours.until(async () => (await ours.crypto.getIdentity(peer.user.userId))?.isVerified === true);
    },
  );

  for (const trusts of ["ours", "theirs"] as const) {
    peerTest(
      `S46 Own devices verify each other by the QR code that ${shows} shows, when ${trusts} has the identity, with js_sdk`,
      ["js_sdk"],
      async (server) => {
        const encryption = trusts === "ours" ? { recoveryKey: newRecoveryKey() } : true;
        await using ours = await Ours.start(server, "ours", { encryption });
        const user = await newDevice(server, ours.user);
        await using peer = await Peer.start("js_sdk", server, "ours", { user });
        if (trusts === "theirs") await peer.call("bootstrapCrossSigning", { password: peer.user.password });
        else await peer.call("awaitIdentity", {});
        const whom = { userId: ours.userId, deviceId: peer.deviceId };
        const { request, flowId } = await asked(peer, ours, { ...whom, ways: WAYS });
        await reach(request, "ready");
        await byCode(peer, flowId, { request, shows });
        const verified = await request.done;
        assertEquals(
          [verified.isDeviceVerified, verified.isIdentityVerified],
          trusts === "ours" ? [true, false] : [false, true],
        );
        const signed = trusts === "ours" ? peer.deviceId : ours.deviceId;
        await peer.call("awaitSigned", { userId: ours.userId, deviceId: signed });
      },
    );
  }
}

/** One side shows a code, and the other scans it. */
async function byCode(
  peer: Peer,
  flowId: string,
  { request, shows }: { readonly request: VerificationRequest; readonly shows: "ours" | "theirs" },
): Promise<void> {
  if (shows === "ours") {
    const code = (await request.showQr()).toBase64();
    await peer.call("scanQr", { flowId, code });
    await reach(request, "scanned");
    await request.confirm();
  } else {
    const code = Uint8Array.fromBase64(String(await peer.call("showQr", { flowId })));
    await request.scanQr(code);
    await peer.first("scanned", (event) => event.flowId === flowId);
    await peer.call("confirmQr", { flowId });
  }
  await within(request.done, "the end of a verification");
  await peer.first("verification", ({ phase }) => phase === "done");
}

peerTest(
  "S43 nio starts a verification without a request, by the old way, and both are verified",
  ["nio"],
  async (server) => {
    await using peer = await Peer.start("nio", server, "peer");
    await using ours = await Ours.start(server, "ours");
    await roomWith(ours, [peer]);
    const flowId = String(await peer.call("startSas", { userId: ours.userId, deviceId: ours.deviceId }));
    const request = await nextRequest(ours);
    assertEquals([request.phase, request.deviceId], ["requested", peer.deviceId]);
    await request.accept();
    const { decimals } = await request.compare();
    const theirs = await peer.first("sas", (event) => event.flowId === flowId);
    assertEquals(decimals, theirs.decimal ?? undefined); // its emoji are wrong
    await peer.call("confirmSas", { flowId });
    await request.confirm();
    await within(request.done, "the end of a verification");
    await peer.first("verification", ({ phase }) => phase === "done");
    const [device] = await ours.crypto.getDevices(peer.user.userId);
    assertEquals(device?.trust, "verified");
  },
);
