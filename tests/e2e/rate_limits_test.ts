/**
 * The rate limits of Synapse, as they are by default.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { newUser, synapseTest } from "./support/synapse.ts";

/** More than Synapse takes at once: ten, and then one each five seconds. */
const COUNT = 13;

synapseTest(
  "Messages sent at once arrive in order, though Synapse takes no more than ten at once",
  async (server) => {
    const { accessToken: token } = await newUser(server, "talker");
    await using client = new Client({ baseUrl: server.baseUrl, accessToken: token, log: false });
    const room = await client.createRoom();
    const texts = Array.from({ length: COUNT }, (_, index) => `${index}`);
    await Promise.all(texts.map((text) => client.sendText(room, text)));
    const { chunk } = await client.getMessages(room, "b", undefined, { limit: 100 });
    const said = chunk.filter(({ type }) => type === "m.room.message").map(({ content }) => content.body);
    assertEquals(said.toReversed(), texts);
  },
);
