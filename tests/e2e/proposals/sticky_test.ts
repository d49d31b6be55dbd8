/** Sticky events, on a Synapse that has them. */

import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { Synapse } from "../../../tools/synapse.ts";
import { roomOf, Scene } from "../../operations/support/scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { synapseHost } from "../support/host.ts";
import { missing } from "../support/synapse.ts";

const CALL = "org.example.call.member";
const sticky = { query: { "org.matrix.msc4354.sticky_duration_ms": 600_000 } };

/** The sticky events that a client hears of, by how. */
function heardBy(client: Client): string[] {
  const heard: string[] = [];
  client.on("STICKY", ({ event, left = 0 }) => {
    assert(left > 0 && left <= 600_000);
    heard.push(`sticky ${event.type} ${JSON.stringify(event.content)}`);
  });
  client.on({ type: CALL, class: "message" }, ({ content }) => void heard.push(JSON.stringify(content)));
  return heard;
}

Deno.test({
  name:
    "A sticky event is known to who joins later, and to who was away for longer than the timeline goes back",
  ignore: missing,
  async fn() {
    await using synapse = await Synapse.start({ proposals: ["msc4354_enabled"], print() {} });
    await using scene = new Scene(synapseHost(synapse));
    const alice = await scene.player("alice", { unlimited: "talkative" });
    const bob = await scene.player("bob", { store: new MemoryStore() });
    assert(await alice.supports("org.matrix.msc4354"));
    const roomId = await roomOf(alice, bob);
    await bob.syncOnce();
    const [near, away] = [heardBy(bob), { fillGaps: false } as const];
    await alice.sendMessageEvent(roomId, CALL, { in: true }, sticky);
    await bob.syncOnce();
    assertEquals(near.splice(0), ['{"in":true}']); // it came in the timeline

    await alice.sendMessageEvent(roomId, CALL, { in: false }, sticky);
    for (let count = 0; count < 20; count++) await alice.sendText(roomId, `filler ${count}`);
    await bob.syncOnce(away);
    assertEquals(near, [`sticky ${CALL} {"in":false}`]);

    const carol = await scene.player("carol");
    const late = heardBy(carol);
    await carol.joinRoom(roomId);
    await carol.syncOnce();
    assertEquals(late.sort(), [`sticky ${CALL} {"in":false}`, `sticky ${CALL} {"in":true}`]);
  },
});

Deno.test({
  name: "A sticky event of an encrypted room is decrypted",
  ignore: missing,
  async fn() {
    await using synapse = await Synapse.start({ proposals: ["msc4354_enabled"], print() {} });
    await using scene = new Scene(synapseHost(synapse));
    const player = (name: string) =>
      scene.player(name, { store: new MemoryStore(), encryption: EVERYBODY, unlimited: "talkative" });
    const [alice, bob] = [await player("alice"), await player("bob")];
    await bob.syncOnce(); // its keys are there
    const content = { algorithm: "m.megolm.v1.aes-sha2" };
    const initialState = [{ type: "m.room.encryption", state_key: "", content }];
    const roomId = await alice.createRoom({ preset: "public_chat", initialState });
    await bob.joinRoom(roomId);
    await bob.syncOnce();
    const heard = heardBy(bob);
    await alice.sendMessageEvent(roomId, CALL, { in: true }, sticky);
    for (let count = 0; count < 20; count++) await alice.sendText(roomId, `filler ${count}`);
    await bob.syncOnce({ fillGaps: false });
    assertEquals(heard, [`sticky ${CALL} {"in":true}`]);
  },
});
