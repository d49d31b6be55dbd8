import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { ExpectationError, Homeserver, TestClock } from "@greenroom/matrix/testing";

Deno.test("Users of a homeserver talk with a bot, and read its answers one after the other", async () => {
  await using homeserver = new Homeserver();
  const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
  const user = homeserver.createUser("bot");
  await using bot = new Bot({ ...user.clientOptions, log: false });
  bot.command("ping", async (c) => {
    await c.reply("pong");
    const id = await c.send("pang");
    await c.edit(id, "peng");
  });
  const running = bot.start({ signals: false });
  await bot.client.ready;
  const room = await alice.createRoom({ name: "Stage", topic: "Hamlet", invite: [bob.userId, user.userId] });
  const view = homeserver.room(room);
  assertEquals(view.state("m.room.name"), { name: "Stage" });
  assertEquals(view.state("m.room.topic")?.topic, "Hamlet");
  assertEquals(await bob.joinRoom(room), room);
  await bob.sendMessage(room, "Hello!");
  assertEquals((await alice.nextMessage(room)).text, "Hello!");
  await alice.waitForJoin(room, user.userId);
  const id = await alice.sendMessage(room, "!ping");
  const pong = await alice.nextMessage(room);
  assertEquals([pong.text, pong.sender, pong.replyTo], ["pong", user.userId, id]);
  assert(["pang", "peng"].includes((await alice.nextMessage(room)).text));
  assertEquals((await bob.nextMessage(room)).text, "!ping");
  assertEquals((await bob.nextMessage(room)).text, "pong");
  await bob.leaveRoom(room);
  assertEquals(view.membership(bob.userId), "leave");
  await alice.inviteUser(room, bob.userId);
  assertEquals(view.membership(bob.userId), "invite");
  const like = await alice.react(room, id, "👍");
  assertEquals(view.messages.find(({ event_id }) => event_id === like)?.type, "m.reaction");
  await bot.close();
  await running;
});

Deno.test("A user waits for a message as long as five seconds of the homeserver's clock", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
  const room = await alice.createRoom({ isPublic: true });
  await bob.joinRoom(room);
  const coming = alice.nextMessage(room);
  await bob.sendMessage(room, { msgtype: "m.emote", body: "waves" });
  assertEquals((await coming).content.msgtype, "m.emote");
  const absent = assertRejects(
    () => alice.waitForJoin(room, "@carol:localhost"),
    ExpectationError,
    "and has not",
  );
  const none = assertRejects(() => alice.nextMessage(room), ExpectationError, "none has come");
  await clock.tick(5_000);
  await none;
  await absent;
  await assertRejects(() => bob.inviteUser(room, "@nobody" as "@a:b"), ValueError, "as @bob:localhost");
  await assertRejects(() => alice.createRoom({ invitees: [] } as never), ValueError, "no option invitees");
});

Deno.test("A reaction of a user does not hide what comes before it", async () => {
  await using homeserver = new Homeserver();
  const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
  const room = await alice.createRoom({ isPublic: true });
  await bob.joinRoom(room);
  await bob.sendMessage(room, "one");
  await bob.sendMessage(room, "two");
  const { eventId } = await alice.nextMessage(room);
  await alice.react(room, eventId, "👍");
  assertEquals((await alice.nextMessage(room)).text, "two");
});

Deno.test("A user reads a room as far as it is in the room", async () => {
  const clock = new TestClock();
  await using homeserver = new Homeserver({ clock });
  const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
  const room = await alice.createRoom({ invite: [bob.userId] });
  await alice.sendMessage(room, "before");
  const never = assertRejects(() => bob.nextMessage(room), ExpectationError, "is not in the room");
  await clock.tick(5_000);
  await never;
  const coming = bob.nextMessage(room);
  await bob.joinRoom(room);
  await alice.sendMessage(room, "within");
  assertEquals((await coming).text, "within");
  await alice.sendMessage(room, "goodbye");
  await alice.request("POST", `/rooms/${room}/kick`, { user_id: bob.userId });
  await alice.sendMessage(room, "after");
  assertEquals((await bob.nextMessage(room)).text, "goodbye");
  const gone = assertRejects(() => bob.nextMessage(room), ExpectationError, "is not in the room");
  await clock.tick(5_000);
  await gone;
  await alice.inviteUser(room, bob.userId);
  await bob.joinRoom(room);
  await alice.sendMessage(room, "again");
  assertEquals((await bob.nextMessage(room)).text, "again");
});

Deno.test("A user's client encrypts, and the user says that it can't read that", async () => {
  await using homeserver = new Homeserver();
  const [alice, bob] = [homeserver.createUser("alice"), homeserver.createUser("bob")];
  await using client = new Client({
    ...alice.clientOptions,
    encryption: true,
    store: new MemoryStore(),
    log: false,
  });
  const room = await client.createRoom({ encrypted: true, invite: [bob.userId] });
  await bob.joinRoom(room);
  await client.sendText(room, "Secret");
  await assertRejects(() => bob.nextMessage(room), ExpectationError, "m.room.encrypted");
});
