import { assertEquals, assertRejects } from "@std/assert";
import { Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";

const ALGORITHM = { algorithm: "m.megolm.v1.aes-sha2" };

Deno.test("createRoom({ encrypted: true }) makes a room that is encrypted from its first message on", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken } = homeserver.createUser("alice");
  const { userId: bob } = homeserver.createUser("bob");
  await using client = new Client({
    baseUrl,
    fetch,
    accessToken,
    encryption: true,
    store: new MemoryStore(),
    log: false,
  });
  const room = await client.createRoom({
    encrypted: true,
    invite: [bob],
    initialState: [{ type: "m.room.history_visibility", content: { history_visibility: "invited" } }],
  });
  const view = homeserver.room(room);
  assertEquals(view.state("m.room.encryption"), ALGORITHM);
  assertEquals(view.state("m.room.history_visibility"), { history_visibility: "invited" });
  assertEquals(view.membership(bob), "invite");
  await client.sendText(room, "Nobody else reads this");
  assertEquals(view.messages.map(({ type }) => type), ["m.room.encrypted"]);
});

Deno.test("What a program says of the encryption itself goes before encrypted", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken } = homeserver.createUser("alice");
  await using client = new Client({ baseUrl, fetch, accessToken });
  const own = { ...ALGORITHM, rotation_period_msgs: 7 };
  const room = await client.createRoom({
    encrypted: true,
    initialState: [{ type: "m.room.encryption", content: own }],
  });
  assertEquals(homeserver.room(room).state("m.room.encryption"), own);
  const clear = await client.createRoom({ encrypted: false });
  assertEquals(homeserver.room(clear).state("m.room.encryption"), undefined);
  await assertRejects(() => client.sendText(room, "in clear?"));
});

Deno.test("Invitees are given by one name", async () => {
  await using client = new Client({
    baseUrl: "http://localhost",
    fetch: () => Promise.reject(new Error("asked")),
  });
  await assertRejects(
    () => client.createRoom({ invite: ["@bob:localhost"], invitees: ["@bob:localhost"] }),
    ValueError,
    "Cannot create a room: it has both invite and invitees; leave out one of them",
  );
  await assertRejects(() => client.createRoom({ invite: ["bob" as "@bob:localhost"] }), ValueError, "bob");
});
