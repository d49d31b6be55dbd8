import { assertEquals, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import { EVERYBODY } from "../support/everybody.ts";
import { ENCRYPTED } from "../client/support/encrypted_room.ts";

Deno.test("A user of another homeserver has rooms, a profile, messages and keys as any", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const [alice, mallory] = [
    homeserver.createUser("alice"),
    homeserver.createUser("mallory", { serverName: "elsewhere.example" }),
  ].map(({ accessToken: token, userId: mxid }) =>
    new Client({ baseUrl, fetch, accessToken: token, mxid, encryption: EVERYBODY, log: false })
  ) as [Client, Client];
  await using _one = alice;
  await using _two = mallory;
  const texts: string[] = [];
  alice.on("m.room.message", ({ sender, content }) => texts.push(`${sender}: ${content.body}`));
  await Promise.all([alice, mallory].map((each) => each.syncOnce()));
  await mallory.setDisplayname("Mallory");
  const room = await mallory.createRoom({
    invitees: ["@alice:localhost"],
    roomVersion: "10",
    initialState: ENCRYPTED,
  });
  assertEquals(room.split(":")[1], "elsewhere.example");
  await alice.joinRoom(room);
  await alice.syncOnce();
  await mallory.sendText(room, "hello");
  await alice.syncOnce();
  assertEquals(texts, ["@mallory:elsewhere.example: hello"]);
  assertEquals((await alice.getProfile("@mallory:elsewhere.example")).displayname, "Mallory");
});

Deno.test("What another homeserver sends along with an invitation or a knock stands in front of what was checked", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken: token } = homeserver.createUser("mallory", { serverName: "elsewhere.example" });
  const { accessToken } = homeserver.createUser("alice");
  await using mallory = new Client({ baseUrl, fetch, accessToken: token });
  const room = await mallory.createRoom();
  const sent = [
    { type: "m.room.name", sender: "@owner:good.example", state_key: "", content: { name: "x" } },
    { a: 1 },
  ];
  homeserver.sendAlong(room, sent);
  await mallory.inviteUser(room, "@alice:localhost");
  const answer = await fetch(`${baseUrl}/_matrix/client/v3/sync`, {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  const { events } = (await answer.json()).rooms.invite[room].invite_state;
  assertEquals(events.slice(0, 2), sent);
  const { type, sender, state_key } = events.at(-1);
  assertEquals([type, sender, state_key], [
    "m.room.member",
    "@mallory:elsewhere.example",
    "@alice:localhost",
  ]);
  assertThrows(() => homeserver.sendAlong("!none:a", []), ValueError);
});
