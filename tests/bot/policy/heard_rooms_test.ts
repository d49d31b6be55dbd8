/** Where a bot hears what, and what ends that. */

import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { Bot } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import { trying } from "../support.ts";

const echo = (bot: Bot) => void bot.on("message:text", (c) => c.send(`heard: ${c}`));

Deno.test("With rooms, a bot neither accepts an invitation to another room nor hears anything there", async () => {
  let client: Client | undefined;
  await using tester = trying((bot) => {
    client = bot.client;
    echo(bot);
  }, { rooms: [] });
  await tester.start();
  const { room_id: roomId } = await tester.request("alice", "POST", "/createRoom", { invite: [tester.mxid] });
  await tester.settle();
  const room = tester.homeserver.room(roomId as RoomID);
  assertEquals(room.membership(tester.mxid), "invite");
  await client?.joinRoomById(roomId as RoomID);
  await tester.request("alice", "PUT", `/rooms/${roomId}/send/m.room.message/1`, {
    ...{ msgtype: "m.text", body: "hello" },
  });
  await tester.settle();
  assertEquals(room.messages.map(({ content }) => content.body), ["hello"]);
});

for (const [how, path] of [["bans it", "ban"], ["throws it out", "kick"]] as const) {
  Deno.test(`What a bot asked in a room that ${how} is no question any more when it is there again`, async () => {
    await using tester = trying((bot) => {
      bot.command("name", async (c) => void await c.reply(`Hello, ${await c.ask("Your name?")}`));
      echo(bot);
    });
    const room = await tester.room("alice");
    await room.say("!name");
    await room.expect("Your name?");
    const ask = (action: string) =>
      tester.request("alice", "POST", `/rooms/${room.id}/${action}`, { user_id: tester.mxid });
    await ask(path);
    await tester.settle();
    if (path === "ban") await ask("unban");
    await ask("invite");
    await tester.settle();
    await room.say("Alice");
    await room.expect("heard: Alice");
  });
}

Deno.test("A user who changes their name has said nothing: the limit of what users say does not count it", async () => {
  const changes: unknown[] = [];
  await using tester = trying((bot) => {
    bot.on("member", (c) => void changes.push(c.event.content.displayname));
    echo(bot);
  }, { rateLimit: { count: 1, window: 60_000 } });
  const room = await tester.room("alice", "bob");
  const path = `/profile/${encodeURIComponent(tester.userId("bob"))}/displayname`;
  await tester.request("bob", "PUT", path, { displayname: "Bobby" });
  await tester.settle();
  await room.as("bob").say("hello");
  await room.expect("heard: hello");
  assertEquals(changes.at(-1), "Bobby");
});

Deno.test("Functions hear what is said in rooms, and not who reads or types there", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => {
    bot.use((c) => void heard.push(c.event.type));
    for (const type of ["m.receipt", "m.typing"]) bot.client.on(type as "m.receipt", () => {});
    for (const type of ["m.receipt", "m.typing"] as const) bot.on(type as "m.room.topic", () => {});
  });
  const room = await tester.room("alice");
  const eventId = await room.say("hello");
  const path = `/rooms/${encodeURIComponent(room.id)}`;
  await tester.request("alice", "PUT", `${path}/typing/@alice:localhost`, { typing: true, timeout: 10_000 });
  await tester.request("alice", "POST", `${path}/receipt/m.read/${encodeURIComponent(eventId)}`, {});
  await tester.settle();
  assertEquals(heard, ["m.room.member", "m.room.message"]);
});
