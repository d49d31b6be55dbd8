import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, ValueError } from "@greenroom/matrix";
import type { EventID, RoomID, RoomMessageContent } from "@greenroom/matrix/types";
import {
  followUpgrade,
  PolicyLists,
  POLL_EVENTS,
  pollEnd,
  pollResponse,
  pollStart,
  redactMessages,
  tallyPoll,
  updateServerAcl,
} from "@greenroom/matrix/bot";
import { MAX_TEXT_BYTES } from "../../src/bot/text/format_pieces.ts";
import { byteLength } from "../../src/bot/text/mod.ts";
import { Scene } from "../operations/support/scene.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, synapseTest } from "./support/synapse.ts";

/** The longest text that `formatPieces()` lets pass, as an edit. */
function longestEdit(of: EventID): RoomMessageContent {
  const text = { body: "", format: "org.matrix.custom.html" as const, formatted_body: "", "m.mentions": {} };
  text.body = "a".repeat(MAX_TEXT_BYTES - byteLength(JSON.stringify(text)));
  const said = { msgtype: "m.text" as const, ...text };
  const relation = { rel_type: "m.replace" as const, event_id: of };
  return { ...said, body: `* ${said.body}`, "m.new_content": said, "m.relates_to": relation };
}

synapseTest("The longest piece of text is accepted as an edit in an encrypted room", async (server) => {
  await using scene = new Scene(synapseHost(server));
  const { userId, deviceId, accessToken: token } = await newUser(server, "bot");
  const bot = scene.client({
    mxid: userId,
    deviceId,
    accessToken: token,
    store: new MemoryStore(),
    encryption: true,
  });
  await bot.syncOnce();
  const content = { algorithm: "m.megolm.v1.aes-sha2" };
  const roomId = await bot.createRoom({
    initialState: [{ type: "m.room.encryption", state_key: "", content }],
  });
  const said = await bot.sendText(roomId, "a");
  assert((await bot.sendMessage(roomId, longestEdit(said))).startsWith("$"));
});

synapseTest("A poll is sent, voted in, ended and counted from its relations", async (server) => {
  await using scene = new Scene(synapseHost(server));
  const [alice, bob] = [await scene.player("alice"), await scene.player("bob")];
  const roomId = await alice.createRoom({ preset: "public_chat" });
  await bob.joinRoom(roomId);
  const content = pollStart({ question: "To be?", answers: ["Yes", "No"] });
  const pollId = await alice.sendMessageEvent(roomId, POLL_EVENTS.START, content);
  const vote = (client: Client, answer: string) =>
    client.sendMessageEvent(roomId, POLL_EVENTS.RESPONSE, pollResponse(pollId, [answer]));
  await vote(alice, "1");
  await vote(bob, "1");
  await vote(bob, "2");
  const tally = async () => {
    const start = await alice.getEvent(roomId, pollId);
    return tallyPoll(start, await Array.fromAsync(alice.iterateRelations(roomId, pollId)));
  };
  const counted = await tally();
  assertEquals(counted.answers.map(({ votes }) => votes), [1, 1]);
  await bob.sendMessageEvent(roomId, POLL_EVENTS.END, pollEnd(pollId, "by nobody who may"));
  assertEquals((await tally()).endedAt, undefined);
  await alice.sendMessageEvent(roomId, POLL_EVENTS.END, pollEnd(pollId, counted));
  assert((await tally()).endedAt !== undefined);
});

synapseTest(
  "A moderator redacts what a user said, and keeps servers out, but not the own one",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    const [mod, eve] = [await scene.player("mod"), await scene.player("eve")];
    const roomId = await mod.createRoom({ preset: "public_chat" });
    await eve.joinRoom(roomId);
    const said: EventID[] = [];
    for (let line = 0; line < 4; line++) said.push(await eve.sendText(roomId, `spam ${line}`));
    await mod.sendText(roomId, "stop");
    const { redacted } = await redactMessages(mod, roomId, eve.userId, { limit: 3, reason: "spam" });
    assertEquals(redacted, said.slice(1).toReversed());
    assertEquals((await redactMessages(mod, roomId, eve.userId)).redacted, said.slice(0, 1));
    const lists = new PolicyLists();
    for (const entity of ["spam.example", "*"]) {
      const content = { entity, recommendation: "m.ban" };
      lists.apply(roomId, { type: "m.policy.rule.server", state_key: entity, sender: "@mod:a.b", content });
    }
    const { eventId, skipped } = await updateServerAcl(mod, roomId, lists);
    assert(eventId !== undefined);
    assertEquals(skipped.map(({ entity }) => entity), ["*"]);
    await eve.sendText(roomId, "still here");
  },
);

synapseTest("A bot follows an upgrade, and no tombstone into another room", async (server) => {
  await using scene = new Scene(synapseHost(server));
  const [alice, bot] = [await scene.player("alice"), await scene.player("bot")];
  const from = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(from);
  const to = await alice.upgradeRoom(from, "12");
  const tombstone = (room_id: RoomID, replacement_room: RoomID) => ({
    room_id,
    sender: alice.userId,
    content: { replacement_room },
  });
  assertEquals(await followUpgrade(bot, tombstone(from, to)), to);
  const trap = await alice.createRoom({ preset: "public_chat" });
  await assertRejects(() => followUpgrade(bot, tombstone(from, trap)), ValueError);
  const joined = await bot.getJoinedRooms();
  assert(joined.includes(to) && !joined.includes(trap));
});
