import { assert, assertEquals } from "@std/assert";
import { Scene } from "../operations/support/scene.ts";
import { synapseHost } from "./support/host.ts";
import { synapseTest } from "./support/synapse.ts";

// The in-process homeserver has no guests.
synapseTest("register() makes a guest, who needs no authentication", async (server) => {
  await using scene = new Scene(synapseHost(server));
  const client = scene.client();
  const { user_id } = await client.register({ kind: "guest" });
  const who = await client.whoami();
  assertEquals([who.user_id, client.mxid], [user_id, user_id]);
  assert(who.is_guest);
});
