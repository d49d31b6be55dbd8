import { assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { begin, beginIn, twoInARoom, withholding } from "../support/encrypted_room.ts";
import { clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

Deno.test("An event whose key comes late is reported immediately, and delivered when the key comes", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const { fetch, held, release } = withholding(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch });
  const told: string[] = [];
  carol.on("UNDECRYPTABLE", ({ event, code }) => void told.push(`${event.event_id} ${code}`));
  carol.on("m.room.message", ({ content, event_id }) => void told.push(`${event_id} ${content.body}`));
  await beginIn(stage, carol, { roomId, member: alice });
  const first = await alice.sendText(roomId, "First");
  const second = await alice.sendText(roomId, "Second");
  await stage.until(() => told.length === 2);
  assertEquals(told, [`${first} MISSING_KEY`, `${second} MISSING_KEY`]);
  assertEquals(held.length, 1);
  release();
  await alice.sendText(roomId, "Third"); // something for the next sync to bring
  await stage.until(() => told.length === 5);
  assertEquals(told.slice(2).map((line) => line.split(" ")[1]), ["First", "Second", "Third"]);
});

Deno.test("Nobody is warned of a message whose key comes seconds later, but of one whose key does not", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const { fetch, release } = withholding(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch });
  const heard: string[] = [];
  carol.on("m.room.message", ({ content }) => void heard.push(content.body));
  const warned = () => stage.log.lines.filter(([, message]) => message.includes("can't be read yet")).length;
  await beginIn(stage, carol, { roomId, member: alice });
  await alice.sendText(roomId, "First");
  await stage.settle();
  await stage.clock.tick(5_000);
  assertEquals([heard, warned()], [[], 0]);
  release();
  await alice.sendText(roomId, "Second"); // something for the next sync to bring
  await stage.until(() => heard.length === 2);
  await stage.clock.tick(15_000);
  assertEquals(warned(), 0);
  await alice.crypto?.discardGroupSession(roomId);
  const dropping = withholding(stage);
  const dora = stage.client("dora", { encryption: EVERYBODY, fetch: dropping.fetch });
  dora.on("m.room.message", () => {});
  await beginIn(stage, dora, { roomId, member: alice });
  await alice.sendText(roomId, "Third");
  await stage.until(() => heard.length === 3);
  await stage.settle();
  assertEquals(warned(), 0);
  await stage.clock.tick(15_000);
  assertEquals(warned(), 1);
});

Deno.test("An event that waits for its key survives a restart, and so does that it was handled", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const store = new MemoryStore();
  const { fetch, release } = withholding(stage);
  const told: string[] = [];
  const beginCarol = async (): Promise<Client> => {
    const carol = stage.client("carol", { encryption: EVERYBODY, fetch, store });
    carol.on("UNDECRYPTABLE", ({ code }) => void told.push(code));
    carol.on("m.room.message", ({ content }) => void told.push(content.body));
    await begin(stage, carol);
    return carol;
  };
  const carol = await beginCarol();
  await alice.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  await stage.settle();
  await alice.sendText(roomId, "First");
  await stage.until(() => told.length === 1);
  await carol.close();
  release();
  const again = await beginCarol();
  await alice.sendText(roomId, "Second");
  await stage.until(() => told.length === 3);
  assertEquals(told, ["MISSING_KEY", "First", "Second"]);
  await again.close();
  await beginCarol();
  await stage.settle();
  assertEquals(told.length, 3);
});

Deno.test("A handler with waitSync delays the next sync for an event whose key came late", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const { fetch, release } = withholding(stage);
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch });
  const gate = Promise.withResolvers<void>();
  const bodies: string[] = [];
  carol.on("m.room.message", ({ content }) => {
    bodies.push(content.body);
    return gate.promise;
  }, { waitSync: true });
  await beginIn(stage, carol, { roomId, member: alice });
  await alice.sendText(roomId, "First");
  await stage.settle();
  release();
  await alice.sendText(roomId, "Second");
  await stage.until(() => bodies.length > 0);
  await alice.sendText(roomId, "Third");
  await stage.settle();
  assertEquals(bodies, ["First"]);
  gate.resolve();
  await stage.until(() => bodies.length === 3);
});
