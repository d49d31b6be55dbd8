import { assertEquals } from "@std/assert";
import { Scene } from "../operations/support/scene.ts";
import { KillableProcess } from "../client/support/killable_process.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, synapseTest } from "./support/synapse.ts";
import { EVERYBODY } from "../support/everybody.ts";

synapseTest(
  "What a handler says another way after kill -9 is said on Synapse, and what it says again is not",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    const folder = await Deno.makeTempDir();
    try {
      for (const encryption of [false, true]) {
        const bot = await newUser(server, "bot");
        const alice = scene.client({
          accessToken: (await newUser(server, "alice")).accessToken,
          encryption: encryption && EVERYBODY,
        });
        const roomId = await alice.createRoom({
          preset: "public_chat",
          initialState: encryption
            ? [{ type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } }]
            : [],
        });
        await scene.client({ accessToken: bot.accessToken }).joinRoom(roomId);
        const ids: string[] = [];
        for (const says of ["A", "B", "A"]) {
          const path = `${folder}/${encryption}.db`;
          const settings = { baseUrl: server.baseUrl, token: bot.accessToken, path, says, encryption };
          await using life = new KillableProcess(settings);
          await life.says("up");
          if (ids.length === 0) await alice.sendText(roomId, "question");
          ids.push(await life.says("said"));
        }
        const { chunk } = await alice.getMessages(roomId, "b", undefined, { limit: 100 });
        const said = chunk.filter(({ sender, type }) =>
          sender === bot.userId && ["m.room.message", "m.room.encrypted"].includes(type)
        );
        assertEquals(said.map(({ event_id }) => event_id), [ids[1], ids[0]]);
        assertEquals(ids[2], ids[0]);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

synapseTest(
  "A message that kills every process is left out on Synapse, and the others are handled",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    const folder = await Deno.makeTempDir();
    try {
      const bot = await newUser(server, "bot");
      const alice = scene.client({ accessToken: (await newUser(server, "alice")).accessToken });
      const roomId = await alice.createRoom({ preset: "public_chat" });
      await scene.client({ accessToken: bot.accessToken }).joinRoom(roomId);
      for (const text of ["1", "poison", "2"]) await alice.sendText(roomId, text);
      const settings = {
        baseUrl: server.baseUrl,
        token: bot.accessToken,
        path: `${folder}/bot.db`,
        speed: 4,
      };
      for (let life = 0; life < 5; life++) {
        await using process = new KillableProcess(settings);
        await process.says("begins poison");
        await process.ended();
      }
      await using process = new KillableProcess(settings);
      assertEquals(await process.says("left out"), "3");
      await process.says("ends 2");
      await process.says("begins poison"); // after ten of its seconds
      await process.ended();
      await using last = new KillableProcess(settings);
      assertEquals(await last.says("left out"), "4");
      await alice.sendText(roomId, "3");
      await last.says("ends 3");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
