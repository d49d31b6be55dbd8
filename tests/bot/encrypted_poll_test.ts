import { assert, assertEquals } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Homeserver, TestClock } from "@greenroom/matrix/testing";
import { countPoll, endPoll, sendPoll } from "../../src/bot/polls/polls.ts";
import { POLL_EVENTS, pollEnd, pollResponse } from "@greenroom/matrix/bot";

Deno.test("countPoll() and endPoll() count votes in an encrypted room, and let its creator end a poll", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token } = homeserver.createUser("bot");
  await using client = new Client({
    baseUrl,
    fetch,
    accessToken: token,
    store: new MemoryStore(),
    encryption: true,
  });
  const running = client.start();
  await client.ready;
  const content = { algorithm: "m.megolm.v1.aes-sha2" };
  const room = await client.createRoom({
    initialState: [{ type: "m.room.encryption", state_key: "", content }],
  });
  const poll = await sendPoll(client, room, { question: "To be?", answers: ["Yes", "No"] });
  await client.sendMessageEvent(room, POLL_EVENTS.RESPONSE, pollResponse(poll, ["1"]));
  await client.sendMessageEvent(room, POLL_EVENTS.RESPONSE, pollResponse(poll, ["2"]));
  assertEquals((await countPoll(client, room, poll)).answers.map(({ votes }) => votes), [0, 1]);
  await endPoll(client, room, poll);
  assert((await countPoll(client, room, poll)).endedAt !== undefined);
  await client.sendMessageEvent(room, POLL_EVENTS.END, pollEnd(poll, "again"));
  await client.stop();
  await running;
});

Deno.test("countPoll() reads votes page by page, and once more if those it kept came after the end", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token } = homeserver.createUser("bot");
  await using client = new Client({ baseUrl, fetch, accessToken: token, clock });
  const room = await client.createRoom();
  const poll = await sendPoll(client, room, { question: "To be?", answers: ["Yes", "No"] });
  const vote = async (answer: string) => {
    await clock.tick(1); // of votes at one time, none is the later one
    await client.sendMessageEvent(room, POLL_EVENTS.RESPONSE, pollResponse(poll, [answer]));
  };
  for (let index = 0; index < 250; index++) await vote(String(index % 2 + 1));
  const pages = () => homeserver.requests.filter("GET", /\/relations\/.*m\.reference/).length;
  const before = pages();
  assertEquals((await countPoll(client, room, poll)).answers.map(({ votes }) => votes), [0, 1]);
  assertEquals(pages() - before, 3);
  await endPoll(client, room, poll);
  await vote("1");
  assertEquals((await countPoll(client, room, poll)).answers.map(({ votes }) => votes), [0, 1]);
});
