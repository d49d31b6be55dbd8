/** Lists of invitations, on a Synapse that has them. */

import { assertEquals } from "@std/assert";
import { InviteBlockedError } from "@greenroom/matrix/errors";
import { Synapse } from "../../../tools/synapse.ts";
import { Scene } from "../../operations/support/scene.ts";
import { refused } from "../../operations/support/wait.ts";
import { synapseHost } from "../support/host.ts";
import { missing } from "../support/synapse.ts";

Deno.test({
  name:
    "Lists of invitations let some through, refuse some, and hide some; blocking all goes before them, until it is taken away",
  ignore: missing,
  async fn() {
    await using synapse = await Synapse.start({ proposals: ["msc4155_enabled"], print() {} });
    await using scene = new Scene(synapseHost(synapse));
    const [alice, friend, stranger, bore] = await scene.people("alice", "friend", "stranger", "bore");
    const lists = {
      allowed_users: [friend.userId],
      ignored_users: [bore.userId],
      blocked_servers: ["*"],
    };
    await alice.setInvitePermissions({}); // hides no lists
    await alice.setInvitePermissions(lists);
    assertEquals(await alice.getInvitePermissions() as unknown, lists);
    const heard: string[] = [];
    alice.on("m.room.member", ({ sender }) => void heard.push(sender));
    const invite = (from: typeof friend) => from.createRoom({ invitees: [alice.userId] });
    await refused(() => invite(stranger), InviteBlockedError, 403);
    await invite(bore); // who does not learn that it is not seen
    await invite(friend);
    await alice.syncOnce();
    assertEquals(heard, [friend.userId]);

    await alice.setInvitePermissions({ default_action: "block" });
    assertEquals(await alice.getInvitePermissions(), { default_action: "block" });
    await refused(() => invite(friend), InviteBlockedError, 403);
    await alice.setInvitePermissions(lists);
    assertEquals(await alice.getInvitePermissions() as unknown, lists);
    await invite(friend);
    await invite(stranger); // Synapse does not come back to the lists
  },
});
