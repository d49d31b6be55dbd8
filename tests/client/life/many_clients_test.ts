import { assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, ValueError } from "@greenroom/matrix";
import type { Membership, RoomID } from "@greenroom/matrix/types";
import { clientStage, heard } from "../support/stage.ts";

Deno.test("A client refuses to go on with the store when it logs in as another user", async () => {
  for (const shared of [false, true]) {
    await using here = clientStage();
    here.client("bob");
    const client = here.client("alice", shared ? { store: new MemoryStore() } : {});
    await client.syncOnce();
    await client.login({ identifier: "@bob:localhost", password: "password of bob" });
    await assertRejects(() => client.syncOnce(), ValueError);
    await assertRejects(() => client.stateStore.isEncrypted("!a"), ValueError);
  }
});

Deno.test("Clients that share a store keep to themselves, and leave it open", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  let closed = 0;
  store.close = () => void closed++;
  const rooms: RoomID[] = [];
  for (const name of ["alice", "bob"]) {
    await using client = here.client(name, { store });
    rooms.push(await client.createRoom());
    await client.syncOnce();
    assertEquals(await client.stateStore.getJoinedRooms(), rooms.slice(-1));
  }
  assertEquals(closed, 0);
});

Deno.test("20 clients in one process share nothing", async () => {
  await using here = clientStage();
  const names = Array.from({ length: 20 }, (_, index) => `bot${index}`);
  const clients = names.map((name) => here.client(name));
  const texts = clients.map(heard);
  const rooms = await Promise.all(clients.map((client) => client.createRoom({ name: "mine" })));
  clients[0]?.encryptionBlacklist.add("m.room.message");
  clients.forEach((client) => void client.start());
  await here.settle();
  await Promise.all(
    clients.map((client, index) => client.sendText(rooms[index] ?? "!none", `I am ${index}`)),
  );
  await here.settle();
  assertEquals(texts, names.map((_, index) => [`I am ${index}`]));
  for (const [index, client] of clients.entries()) {
    assertEquals(await client.stateStore.getJoinedRooms(), rooms.slice(index, index + 1));
    assertEquals([...client.encryptionBlacklist].length, index === 0 ? 2 : 1);
    const membership: Membership = "join";
    assertEquals(
      await client.stateStore.getMembership(rooms[index] ?? "!none", `@bot${index}:localhost`),
      membership,
    );
  }
  await clients[0]?.stop();
  await clients[1]?.sendText(rooms[1] ?? "!none", "still here");
  await here.settle();
  assertEquals(texts[1], ["I am 1", "still here"]);
});
