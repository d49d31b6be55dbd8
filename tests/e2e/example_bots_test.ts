/**
 * The bots of `examples/bots/` on Synapse, as their READMEs say that they are run, each through a
 * restart, and as a user meets them: in encrypted rooms.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { pollResponse } from "@greenroom/matrix/bot";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { ToyNetwork } from "../../examples/bots/bridge/network.ts";
import { freePort } from "../../tools/free_port.ts";
import { Synapse } from "../../tools/synapse.ts";
import { ExampleProcess } from "./support/example_process.ts";
import { Guest } from "./support/guest.ts";
import { Ours } from "./support/ours.ts";
import { newUser, synapseTest, type TestUser } from "./support/synapse.ts";

synapseTest("examples/bots/reminders reminds after a restart", async (server) => {
  await using guest = await Guest.of(server, "reminders");
  await guest.reaction(await guest.say("!remind 2s Tea"));
  await guest.reaction(await guest.say("!remind 3d Coffee"));
  await guest.process.restart();
  await guest.hears("Tea");
  await guest.say("!reminders");
  await guest.hears(/^1\. .* UTC: Coffee$/);
});

synapseTest(
  "examples/bots/assistant streams answers of a model, and remembers what was said before a restart",
  async (server) => {
    const answers = [["To ", "**be**"], ["As you ", "like it"]];
    const asked: { messages: { content: string }[] }[] = [];
    await using model = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      asked.push(await request.json());
      const data = answers[asked.length - 1]?.map((content) =>
        `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
      );
      return new Response(`${data?.join("")}data: [DONE]\n\n`);
    });
    const env = { MODEL_URL: `http://127.0.0.1:${model.addr.port}/v1`, MODEL: "stub" };
    await using guest = await Guest.of(server, "assistant", () => env);
    const root = await guest.say("To be?");
    await guest.hears("To **be**");
    await guest.process.restart();
    await guest.alice.client.sendMessage(guest.room, {
      msgtype: "m.text",
      body: "What do you like?",
      "m.relates_to": { rel_type: "m.thread", event_id: root },
    });
    await guest.hears("As you like it");
    assertEquals(asked[1]?.messages.map(({ content }) => content).slice(1), [
      "To be?",
      "To **be**",
      "What do you like?",
    ]);
  },
);

synapseTest("examples/bots/quiz counts a vote from before a restart", async (server) => {
  await using guest = await Guest.of(server, "quiz");
  const { alice, room } = guest;
  await guest.say("!quiz");
  const { content, eventId } = await alice.message(({ type }) => type === "org.matrix.msc3381.poll.start");
  const { answers } = content["org.matrix.msc3381.poll.start"] as {
    answers: { id: string; "org.matrix.msc1767.text": string }[];
  };
  const right = answers.find((each) => each["org.matrix.msc1767.text"] === "Hamlet")?.id ?? "";
  await alice.client.sendMessageEvent(
    room,
    "org.matrix.msc3381.poll.response",
    pollResponse(eventId as EventID, [right]),
  );
  await guest.process.restart();
  await guest.say("!solve");
  await guest.hears(`It was Hamlet. A point for ${alice.userId}.`);
  await guest.say("!points");
  await guest.hears(`1 ${alice.userId}`);
});

synapseTest(
  "examples/bots/moderation bans who is on the list, also who joins after a restart, and removes messages",
  async (server) => {
    const [mallory, malvolio] = [await newUser(server, "mallory"), await newUser(server, "malvolio")];
    let policyRoom: RoomID = "!";
    await using guest = await Guest.of(server, "moderation", async ({ alice, bot }) => {
      policyRoom = await alice.client.createRoom({ invitees: [bot.userId] });
      return { POLICY_ROOM: policyRoom, MATRIX_ADMINS: alice.userId };
    });
    const { alice, room, bot } = guest;
    await alice.member(policyRoom, bot.userId);
    await alice.client.sendStateEvent(room, "m.room.power_levels", {
      ...await alice.client.getStateEvent(room, "m.room.power_levels"),
      users: { [bot.userId]: 100 },
    });
    const enters = async ({ userId, accessToken: token }: TestUser) => {
      await alice.client.inviteUser(room, userId);
      await using client = new Client({ baseUrl: server.baseUrl, accessToken: token, log: false });
      await client.joinRoom(room);
    };
    await enters(mallory);
    await alice.member(room, mallory.userId);
    const rule = { entity: "@mal*:localhost", recommendation: "m.ban", reason: "spam" };
    await alice.client.sendStateEvent(policyRoom, "m.policy.rule.user", rule, { stateKey: "mal" });
    await alice.member(room, mallory.userId, "ban");
    await guest.process.restart();
    await enters(malvolio);
    await alice.member(room, malvolio.userId, "ban");
    for (const text of ["one", "two"]) await guest.say(text);
    await guest.say(`!clear ${alice.userId} 3`);
    await guest.hears("Removed 3.");
  },
);

synapseTest(
  "examples/bots/feed says what is new in a feed after a restart, and what is posted to its webhook",
  async (server) => {
    const items = ["first"];
    await using site = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ headers }) => {
      const etag = `"${items.length}"`;
      if (headers.get("if-none-match") === etag) return new Response(null, { status: 304 });
      const all = items.map((name) => `<item><guid>${name}</guid><title>${name}</title></item>`).reverse();
      const rss = `<rss version="2.0"><channel><title>News</title>${all.join("")}</channel></rss>`;
      return new Response(rss, { headers: { etag } });
    });
    const host = `127.0.0.1:${site.addr.port}`;
    const env = { FEED_ALLOW: host, FEED_SCHEDULE: "* * * * * *", PORT: String(freePort()) };
    await using guest = await Guest.of(server, "feed", () => env);
    await guest.say("!feed add http://localhost/");
    await guest.hears(
      "That can't be followed: addresses of the bot's own machine and network are not asked.",
    );
    await guest.say(`!feed add http://${host}/feed`);
    await guest.hears("News: first");
    await guest.say("!hook");
    const path = /\/hooks\/[\w-]+/.exec(await guest.hears(/^Post text/))?.[0];
    items.push("second");
    await guest.hears("News: second");
    await guest.process.restart();
    items.push("third");
    await guest.hears("News: third");
    const post = (url: string) => fetch(url, { method: "POST", body: "built" });
    const answers = [
      await post(`http://127.0.0.1:${env.PORT}${path}x`),
      await post(`http://127.0.0.1:${env.PORT}${path}`),
    ];
    for (const { body } of answers) await body?.cancel();
    assertEquals(answers.map(({ status }) => status), [404, 200]);
    await guest.hears("built");
    const said = guest.texts.filter((text) => text.startsWith("News: "));
    assertEquals(said, ["News: first", "News: second", "News: third"]);
  },
);

/** A Synapse that has the registration of the bridge, as the bridge itself has made it. */
async function bridgedSynapse(
  stack: AsyncDisposableStack,
): Promise<{ synapse: Synapse; env: Record<string, string> }> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bridge-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const file = `${folder}/registration.yaml`;
  const env = {
    MATRIX_SERVER_NAME: "localhost",
    BRIDGE_URL: `http://127.0.0.1:${freePort()}`,
    BRIDGE_REGISTRATION: file,
  };
  const args = ["run", "--no-prompt", "--no-check", "--allow-env", `--allow-write=${folder}`];
  const register = new Deno.Command(Deno.execPath(), {
    args: [...args, ExampleProcess.path("bridge"), "register"],
    env,
    stdout: "null",
  });
  assertEquals((await register.output()).code, 0);
  const synapse = await Synapse.start({ appservices: [file], print() {} });
  stack.use(synapse);
  return { synapse, env: { ...env, MATRIX_URL: synapse.baseUrl } };
}

synapseTest("examples/bots/bridge takes what is said both ways, once each, through a restart", async () => {
  await using stack = new AsyncDisposableStack();
  const { synapse, env } = await bridgedSynapse(stack);
  const network = new ToyNetwork();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) network.serve(connection).catch(() => {}); // a bridge that ends
  })();
  stack.defer(async () => {
    listener.close();
    await serving;
  });
  const alice = stack.use(await Ours.start(synapse, "alice", { encryption: false }));
  const bridge = await ExampleProcess.start("bridge", {
    ...env,
    TOY_NETWORK: `127.0.0.1:${listener.addr.port}`,
  });
  stack.use(bridge);
  const bot = "@toybridge:localhost";
  const room = await alice.client.createRoom({ invitees: [bot] });
  await alice.member(room, bot);
  await alice.sendText(room, "!bridge lobby");
  await alice.message(({ body }) => body === "This room is bridged to lobby now.");
  await alice.sendText(room, "!bridge lobby"); // its answer comes when the first is committed
  await alice.message(({ body }) => body === "This room is bridged to lobby; !unbridge it first.");

  const bob = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  stack.defer(() => bob.close());
  const types = async (line: string) => void await bob.write(new TextEncoder().encode(`${line}\n`));
  const hears = async (text: string) => {
    let heard = "";
    const decoder = new TextDecoder();
    const bytes = new Uint8Array(4_096);
    while (!heard.includes(text)) {
      heard += decoder.decode(bytes.subarray(0, await bob.read(bytes) ?? 0), { stream: true });
    }
  };
  await types("NICK bob");
  await types("JOIN lobby");
  await alice.member(room, "@toy_bob:localhost");
  await types("SAY lobby Hello");
  const { sender } = await alice.message(({ body }) => body === "Hello");
  assertEquals([sender, await alice.client.getDisplayname("@toy_bob:localhost")], [
    "@toy_bob:localhost",
    "bob",
  ]);
  await alice.sendText(room, "Who is there?");
  await hears("SAY lobby Who is there?");
  await bridge.restart();
  await types("SAY lobby It is me");
  await alice.message(({ body }) => body === "It is me");
  await alice.sendText(room, "Come in");
  await hears("SAY lobby Come in");
  const said = alice.seen.filter((each) => each.event === "message" && each.sender === "@toy_bob:localhost");
  assertEquals(said.map((each) => each.event === "message" && each.body), ["Hello", "It is me"]);
  assertEquals(network.happenings.map(({ verb, text }) => `${verb} ${text}`.trim()), [
    "JOIN",
    "SAY Hello",
    "SAY Who is there?",
    "SAY It is me",
    "SAY Come in",
  ]);
});
