/** Threads that a user follows, on a Synapse that has that. */

import { assert, assertEquals } from "@std/assert";
import { MatrixRequestError } from "@greenroom/matrix";
import { NotFoundError } from "@greenroom/matrix/errors";
import { Synapse } from "../../../tools/synapse.ts";
import { roomOf, Scene } from "../../operations/support/scene.ts";
import { refused } from "../../operations/support/wait.ts";
import { synapseHost } from "../support/host.ts";
import { missing } from "../support/synapse.ts";

Deno.test({
  name: "A user follows a thread, and no more; a client follows by itself only for an event after that",
  ignore: missing,
  async fn() {
    await using synapse = await Synapse.start({ proposals: ["msc4306_enabled"], print() {} });
    await using scene = new Scene(synapseHost(synapse));
    const [alice, bob] = await scene.players("alice", "bob");
    assert(await bob.supports("org.matrix.msc4306"));
    const roomId = await roomOf(alice, bob);
    const root = await alice.sendText(roomId, "root");
    const follows = () => bob.getThreadSubscription(roomId, root);
    assertEquals(await follows(), undefined);
    await bob.setThreadSubscription(roomId, root);
    assertEquals(await follows(), { automatic: false });
    const relatesTo = { rel_type: "m.thread", event_id: root };
    const early = await alice.sendText(roomId, "Bob?", { relatesTo });
    await bob.removeThreadSubscription(roomId, root);
    assertEquals(await follows(), undefined);
    const byItself = (automatic: typeof root) => bob.setThreadSubscription(roomId, root, { automatic });
    await refused(() => byItself(early), MatrixRequestError, 409);
    await refused(() => byItself(root), MatrixRequestError, 400);
    await byItself(await alice.sendText(roomId, "Bob!", { relatesTo }));
    assertEquals(await follows(), { automatic: true });
    await refused(() => bob.setThreadSubscription(roomId, "$none"), NotFoundError, 404);
  },
});
