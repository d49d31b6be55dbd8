/** Private data that is deleted, on a Synapse that has that. */

import { assert, assertEquals } from "@std/assert";
import { NotFoundError } from "@greenroom/matrix/errors";
import { Synapse } from "../../../tools/synapse.ts";
import { roomOf, Scene } from "../../operations/support/scene.ts";
import { refused } from "../../operations/support/wait.ts";
import { synapseHost } from "../support/host.ts";
import { missing } from "../support/synapse.ts";

const TYPE = "com.example.settings";

Deno.test({
  name: "Data of the account and of a room that is deleted is gone, name and all",
  ignore: missing,
  async fn() {
    await using synapse = await Synapse.start({ proposals: ["msc3391_enabled"], print() {} });
    await using scene = new Scene(synapseHost(synapse));
    const alice = await scene.player("alice");
    assert(await alice.supports("org.matrix.msc3391"));
    const roomId = await roomOf(alice);
    for (const options of [{}, { roomId }]) {
      await alice.setAccountData(TYPE, { volume: 11 }, options);
      assertEquals(await alice.getAccountData(TYPE, options), { volume: 11 });
      await alice.deleteAccountData(TYPE, options);
      await refused(() => alice.getAccountData(TYPE, options), NotFoundError, 404);
      await alice.deleteAccountData(TYPE, options);
    }
    assert(!(await alice.listAccountData()).has(TYPE));
  },
});
