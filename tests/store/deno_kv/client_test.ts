import { assertEquals } from "@std/assert";
import { Client } from "../../../src/client/client.ts";
import { KvStore } from "@greenroom/matrix/store/kv";
import { Homeserver } from "@greenroom/matrix/testing";

Deno.test("Client goes on from where it was when it starts again on the same KvStore", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using homeserver = new Homeserver();
    const { fetch, baseUrl } = homeserver;
    const bot = homeserver.createUser("bot");
    const alice = homeserver.createUser("alice");
    await using sender = new Client({ baseUrl, fetch, accessToken: alice.accessToken });
    const roomId = await sender.createRoom({ preset: "public_chat" });

    /** Starts the bot, handles messages up to the last one, and stops it. */
    const run = async (last: string): Promise<string[]> => {
      await using store = await KvStore.open(`${folder}/bot.db`);
      await using client = new Client({ baseUrl, fetch, accessToken: bot.accessToken, store });
      await client.joinRoom(roomId);
      const bodies: string[] = [];
      const heard = Promise.withResolvers<void>();
      client.on("m.room.message", (event) => {
        bodies.push(event.content.body);
        if (event.content.body === last) heard.resolve();
      });
      const done = client.start();
      await sender.sendText(roomId, last);
      await Promise.race([heard.promise, done]);
      await client.stop();
      await done;
      return bodies;
    };

    await run("one");
    await sender.sendText(roomId, "while it was off");
    assertEquals(await run("two"), ["while it was off", "two"]);
    assertEquals(await run("three"), ["three"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
