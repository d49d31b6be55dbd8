import { FaultyNetwork } from "../support/faulty/network.ts";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { askedBy, compareWith } from "../support/peer/verifying.ts";

const SYNC = /\/sync$/;

for (const [wins, name] of [["ours", "zoe"], ["theirs", "abe"]] as const) {
  peerTest(
    `S45 When js_sdk and we both start to compare, the start of ${wins} counts, and both end verified`,
    ["js_sdk"],
    async (server) => {
      const network = new FaultyNetwork();
      await using peer = await Peer.start("js_sdk", server, name);
      await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
      await roomWith(ours, [peer]);
      await peer.call("awaitDevice", { userId: ours.userId, deviceId: ours.deviceId });
      const { request, flowId } = await askedBy(peer, ours, { deviceId: ours.deviceId });
      await peer.first("verification", ({ phase }) => phase === "ready");
      const held = Promise.withResolvers<void>();
      const holding = network.changing(SYNC, async (answer) => {
        await held.promise;
        return answer;
      });
      await peer.call("startSas", { flowId }); // we do not know of it yet
      const started = request.startSas();
      await network.first(({ path, body }) => path.includes("m.key.verification.start") && body !== "");
      holding[Symbol.dispose]();
      held.resolve();
      await started;
      await compareWith(peer, flowId, request);
      await peer.first("verification", ({ phase }) => phase === "done");
    },
  );
}
