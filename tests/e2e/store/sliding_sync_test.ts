import { assert, assertEquals } from "@std/assert";
import { Client, type ClientOptions, MemoryStore } from "@greenroom/matrix";
import { newUser, synapseTest } from "../support/synapse.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const ENCRYPTED = [{
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
}];
const LINES = Array.from({ length: 25 }, (_, index) => `line ${index}`);

/** A fetch that asks once with a position that Synapse does not know. */
function forgetful(): typeof globalThis.fetch {
  let isForgotten = false;
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const pos = url.searchParams.get("pos");
    if (isForgotten || pos === null) return fetch(input, init);
    isForgotten = true;
    url.searchParams.set("pos", pos.replace(/^\d+/, "987654321"));
    return fetch(input instanceof Request ? new Request(url, input) : url, init);
  };
}

for (const ways of [["sliding", "sliding"], ["classic", "sliding"], ["sliding", "classic"]] as const) {
  synapseTest(
    `A bot that syncs by ${ways.join(" and then ")} sync gets each event once, encrypted ones too`,
    async (server) => {
      const alice = await newUser(server, "alice", { unlimited: "people" });
      const bot = await newUser(server, "bot");
      const client = ({ accessToken }: typeof bot, options: Partial<ClientOptions>): Client =>
        new Client({ baseUrl: server.baseUrl, accessToken, encryption: EVERYBODY, log: false, ...options });
      await using person = client(alice, {});
      const store = new MemoryStore();
      const received: string[] = [];
      let isForgetful = false;
      const pass = async (
        sync: "classic" | "sliding",
        act?: (bot: Client) => Promise<void>,
      ): Promise<number> => {
        await using made = client(bot, { store, sync, ...(isForgetful ? { fetch: forgetful() } : {}) });
        let counts = 0;
        made.on("DEVICE_OTK_COUNT", ({ signed_curve25519 }) => void (counts = signed_curve25519));
        made.on("m.room.message", ({ content }) => void received.push(content.body));
        made.on(
          "JOIN",
          ({ state_key }) => void received.push(`${state_key === bot.userId ? "bot" : "other"} joins`),
        );
        made.on("com.example.cue", ({ content }) => void received.push(`cue ${content.act}`));
        await made.syncOnce();
        await act?.(made);
        await made.syncOnce();
        return counts;
      };
      const [first, second] = ways;
      const room = await person.createRoom({ invitees: [bot.userId], initialState: ENCRYPTED });
      const clear = await person.createRoom({ invitees: [bot.userId] });
      const cue = (act: number) => person.sendToDevice("com.example.cue", { [bot.userId]: { "*": { act } } });
      await cue(1);
      await pass(first, async (made) => {
        for (const id of [room, clear]) await made.joinRoom(id);
      });
      assertEquals(received.toSorted(), ["bot joins", "bot joins", "cue 1"]);
      await person.syncOnce();
      received.length = 0;
      await person.sendText(room, "a secret");
      for (const line of LINES) await person.sendText(clear, line);
      await cue(2);
      isForgetful = first === second;
      const counts = await pass(second);
      isForgetful = false;
      assert(counts > 0, "keys are counted");
      assertEquals(received.toSorted(), ["a secret", "cue 2", ...LINES].toSorted());
      assertEquals(received.filter((text) => text.startsWith("line")), LINES);
      received.length = 0;
      await person.sendText(clear, "back");
      await person.sendText(room, "another secret");
      await pass(first);
      await pass(second);
      assertEquals(received.toSorted(), ["another secret", "back"]);
    },
  );
}
