/** Addresses of an account, on a Synapse that sends mail. */

import { assert, assertEquals } from "@std/assert";
import { ThreepidAuthFailedError, ThreepidInUseError } from "@greenroom/matrix/errors";
import { Synapse } from "../../../tools/synapse.ts";
import { Scene } from "../../operations/support/scene.ts";
import { refused } from "../../operations/support/wait.ts";
import { synapseHost } from "../support/host.ts";
import { Mailbox } from "../support/mailbox.ts";
import { missing } from "../support/synapse.ts";

Deno.test({
  name: "An email address is the account's once the link of the mail has been followed, until it is removed",
  ignore: missing,
  async fn() {
    await using mailbox = new Mailbox();
    const smtp = { smtp_host: "127.0.0.1", smtp_port: mailbox.port, enable_tls: false };
    const settings = { email: { ...smtp, notif_from: "Synapse <synapse@example.org>" } };
    await using synapse = await Synapse.start({ settings, print() {} });
    await using scene = new Scene(synapseHost(synapse));
    const [alice, bob] = await scene.players("alice", "bob");
    const { password } = alice;
    const address = { medium: "email", address: "alice@example.org" } as const;
    const validation = await alice.requestEmailToken(address.address);
    const add = () => alice.addThirdPartyId(validation, { authentication: { password } });
    await refused(add, ThreepidAuthFailedError, 400);
    const [link = ""] = /http\S+/.exec(await mailbox.next()) ?? [];
    const page = await fetch(link);
    await page.body?.cancel();
    assert(page.ok, link);
    await add();
    const known = await alice.getThirdPartyIds();
    assertEquals(known.map(({ medium, address }) => ({ medium, address })), [address]);
    await refused(() => bob.requestEmailToken(address.address), ThreepidInUseError, 400);
    assertEquals(await alice.removeThirdPartyId(address), "no-support"); // no identity server has it
    assertEquals(await alice.getThirdPartyIds(), []);
  },
});
