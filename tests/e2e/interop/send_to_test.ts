import { assertEquals } from "@std/assert";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

peerTest(
  "S51 By default nio, whose device nobody has signed, gets no key, and both are told why",
  ["nio"],
  async (server) => {
    await using peer = await Peer.start("nio", server, "peer");
    const encryption = { recoveryKey: newRecoveryKey(), sendTo: undefined, accept: undefined };
    await using ours = await Ours.start(server, "ours", { encryption });
    const roomId = await roomWith(ours, [peer]);
    const secret = await ours.sendText(roomId, "secret");
    const { withheld } = await peer.undecryptable(({ eventId }) => eventId === secret);
    assertEquals(withheld, "m.unverified");
    const left = (await ours.crypto.shareGroupSession(roomId)).withheld;
    assertEquals(left.map(({ device, code }) => [device.userId, device.deviceId, code]), [
      [peer.user.userId, peer.deviceId, "m.unverified"],
    ]);
    const unheard = await peer.sendText(roomId, "from an unsigned device");
    const { reason } = await ours.undecryptable(({ eventId }) => eventId === unheard);
    assertEquals(reason.split(":")[0], "UNTRUSTED");
  },
);

peerTest(
  "S52 With sendTo verified, js_sdk reads us once its user is verified, and not before",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const master = String(await peer.call("masterKey", {}));
    const { userId } = peer.user;
    const encryption = { recoveryKey: newRecoveryKey(), sendTo: "verified" } as const;
    await using ours = await Ours.start(server, "ours", { encryption });
    const roomId = await roomWith(ours, [peer]);
    await ours.until(async () => (await ours.crypto.getIdentity(userId))?.master === master);
    const secret = await ours.sendText(roomId, "before");
    await peer.undecryptable(({ eventId }) => eventId === secret);
    const { withheld } = await ours.crypto.shareGroupSession(roomId);
    assertEquals(withheld.map(({ device, code }) => [device.userId, code]), [[userId, "m.unverified"]]);

    await ours.crypto.verifyUser({ userId, master });

    const told = await ours.sendText(roomId, "after");
    assertEquals((await peer.message(({ eventId }) => eventId === told)).body, "after");
  },
);
