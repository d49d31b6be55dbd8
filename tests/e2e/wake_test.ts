import { isReachable } from "../../bench/reachable.ts";
import { assert, assertEquals } from "@std/assert";
import { Client, type ClientOptions, defineSession, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { within } from "./support/deadline.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";
import { EVERYBODY } from "../support/everybody.ts";

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ count: 0 }) });
const ENCRYPTED = [{
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
}];

/** Two instances of a bot that share a store, served on loopback in turns, and Alice, who syncs. */
async function scene(server: SynapseServer, { encryption = false } = {}) {
  const [alice, bot] = [
    await newUser(server, "alice", { unlimited: "people" }),
    await newUser(server, "bot"),
  ];
  const store = new MemoryStore();
  const clients: Client[] = [];
  const client = (user: typeof alice, options: Partial<ClientOptions>): Client => {
    const made = new Client({
      baseUrl: server.baseUrl,
      accessToken: user.accessToken,
      encryption: encryption && EVERYBODY,
      log: false,
      ...options,
    });
    clients.push(made);
    return made;
  };
  const instances = [1, 2].map(() => {
    const made = client(bot, { store, wake: { secret: "a secret for the tests" } });
    made.on("m.room.message", async ({ sender, room_id, content }, { session }) => {
      if (sender === alice.userId) await made.sendText(room_id, `${++session.count}: ${content.body}`);
    }, { session: counter, sequential: true });
    made.on("INVITE", async ({ room_id }) => void await made.joinRoom(room_id));
    return made;
  }) as [Client, Client];
  const statuses: number[] = [];
  let turn = 0;
  const listener = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const response = await instances[turn++ % 2]?.fetch(request) ?? new Response(null, { status: 500 });
    statuses.push(response.status);
    return response;
  });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const human = client(alice, {});
  const answers: string[] = [];
  let told = Promise.withResolvers<void>();
  human.on("m.room.message", ({ sender, content }) => {
    if (sender !== bot.userId) return;
    answers.push(content.body);
    told.resolve();
    told = Promise.withResolvers();
  });
  const running = human.start();
  await instances[0].syncOnce(); // its keys are there
  assert((await instances[0].registerWake(url)).isChanged);
  assert(!(await instances[1].registerWake(url)).isChanged);
  return {
    human,
    bot,
    instances,
    answers,
    statuses,
    async until(count: number): Promise<void> {
      const enough = async (): Promise<void> => {
        while (answers.length < count) await told.promise;
      };
      await within(enough(), `${count} answers; there are ${answers.length}`);
    },
    async [Symbol.asyncDispose]() {
      for (const each of clients) await each.close();
      await running;
      await listener.shutdown();
    },
  };
}

for (const encryption of [false, true]) {
  const where = encryption ? "an encrypted room" : "a room in clear";
  synapseTest(
    `Synapse wakes a bot, also for its invitation: each message is answered once and in order, in ${where}`,
    async (server) => {
      await using here = await scene(server, { encryption });
      const { human, bot, answers, statuses } = here;
      const roomId: RoomID = await human.createRoom({
        invitees: [bot.userId],
        initialState: encryption ? ENCRYPTED : [],
      });
      const joined = async (): Promise<void> => {
        while (!await isReachable(human, roomId, bot.userId)) await human.whoami();
      };
      await within(joined(), "the bot to join");
      for (let n = 0; n < 12; n++) { // more than the server lets a bot say at once
        await human.sendText(roomId, `m${n}`);
        if (n % 4 === 3) await here.until(n + 1);
      }
      assertEquals(answers, Array.from({ length: 12 }, (_, n) => `${n + 1}: m${n}`));
      assert(statuses.length > 0 && statuses.every((status) => status === 200), statuses.join());
    },
  );
}

synapseTest(
  "Synapse wakes a bot for reactions, edits, notices and topics, and forgets the pusher of a key that is rejected",
  async (server) => {
    await using here = await scene(server);
    const { human, bot, instances } = here;
    const roomId = await human.createRoom({ preset: "public_chat" });
    await instances[0].joinRoom(roomId);
    const seen = new Set<string>();
    const all = Promise.withResolvers<void>();
    for (const instance of instances) {
      const note = (sender: string | undefined, what: string): void => {
        if (sender === bot.userId) return;
        seen.add(what);
        if (["m.reaction", "m.replace", "m.room.topic", "m.notice"].every((each) => seen.has(each))) {
          all.resolve();
        }
      };
      instance.on("m.room.message", ({ sender, content }) => {
        note(sender, content["m.relates_to"]?.rel_type ?? content.msgtype);
      });
      instance.on("m.reaction", ({ sender, type }) => note(sender, type));
      instance.on("m.room.topic", ({ sender, type }) => note(sender, type));
    }
    const eventId = await human.sendNotice(roomId, "a notice");
    await human.react(roomId, eventId, "x");
    await human.sendNotice(roomId, "edited", { relatesTo: { rel_type: "m.replace", event_id: eventId } });
    await human.sendStateEvent(roomId, "m.room.topic", { topic: "theatre" });
    await within(all.promise, `all wakes; there were ${[...seen]}`);
    const [pusher] = await instances[0].getPushers();
    if (pusher === undefined) throw new Error("There is no pusher");
    await instances[0].setPusher({ ...pusher, pushkey: "another" });
    await human.sendText(roomId, "hello");
    const forgotten = async (): Promise<void> => {
      while ((await instances[0].getPushers()).length > 1) await human.whoami();
    };
    await within(forgotten(), "the pusher to be forgotten");
  },
);
