/** Sending into encrypted rooms while no sync tells who comes and goes, on a real server. */

import { assert, assertEquals } from "@std/assert";
import { type ClientOptions, MemoryStore } from "@greenroom/matrix";
import { systemClock } from "../../src/base/clock.ts";
import { Scene } from "../operations/support/scene.ts";
import { synapseHost } from "./support/host.ts";
import { Ours } from "./support/ours.ts";
import { newUser, synapseTest } from "./support/synapse.ts";
import { EVERYBODY } from "../support/everybody.ts";

/** The machine's clock, which a test can put forward. */
function clockAhead() {
  let ahead = 0;
  const clock: ClientOptions["clock"] = { ...systemClock, now: () => Date.now() + ahead };
  return { clock, forward: (ms: number): void => void (ahead += ms) };
}

synapseTest(
  "Without a sync, newcomers read what is sent, and who has left does not get the key, over a restart too",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    await using bob = await Ours.start(server, "bob");
    await using carol = await Ours.start(server, "carol");
    const { userId: mxid, deviceId, accessToken: token } = await newUser(server, "script");
    const [{ clock, forward }, store] = [clockAhead(), new MemoryStore()];
    const begin = () =>
      scene.client({ mxid, deviceId, accessToken: token, clock, store, encryption: EVERYBODY });
    const script = begin();
    const content = { algorithm: "m.megolm.v1.aes-sha2" };
    const roomId = await script.createRoom({
      preset: "public_chat",
      initialState: [{ type: "m.room.encryption", state_key: "", content }],
    });
    await bob.join(roomId);
    const isRead = async (reader: Ours, eventId: string) =>
      (await reader.message((message) => message.eventId === eventId)).encrypted;
    const first = await script.sendText(roomId, "To Bob");
    assert(await isRead(bob, first));
    await carol.join(roomId);
    forward(10_000);
    const second = await script.sendText(roomId, "To both");
    assert(await isRead(bob, second) && await isRead(carol, second));
    await bob.client.leaveRoom(roomId);
    forward(10_000);
    const readers = async (client = script) =>
      (await client.shareGroupSession(roomId)).shared.map(({ userId }) => userId);
    assertEquals(await readers(), [carol.userId]);
    assert(await isRead(carol, await script.sendText(roomId, "To Carol")));
    await script.close();
    await bob.join(roomId);
    await carol.client.leaveRoom(roomId);
    const again = begin();
    assertEquals(await readers(again), [bob.userId]);
    assert(await isRead(bob, await again.sendText(roomId, "To Bob again")));
  },
);
