import { assertEquals } from "@std/assert";
import { type Caller, type Json, stage } from "./harness.ts";

/** The ephemeral events of a type since a token. */
async function ephemeral(caller: Caller, room: string, since: string, type: string): Promise<Json> {
  const { rooms, next_batch } = await caller.sync({ since });
  const events = rooms?.join?.[room]?.ephemeral.events ?? [];
  return { content: events.find((event: Json) => event.type === type)?.content, next_batch };
}

Deno.test("receipts: public ones are for everyone, private ones for their owner", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const [first, second] = [await alice.say(room, "1"), await alice.say(room, "2")];
  const [a, b] = [await alice.sync(), await bob.sync()];
  await bob.ok("POST", `/rooms/${room}/receipt/m.read/${first}`, {});
  await bob.ok("POST", `/rooms/${room}/receipt/m.read.private/${second}`, { thread_id: "main" });
  const ts = scene.clock.now();
  const seen = await ephemeral(alice, room, a.next_batch, "m.receipt");
  assertEquals(seen.content, { [first]: { "m.read": { "@bob:localhost": { ts } } } });
  assertEquals((await ephemeral(bob, room, b.next_batch, "m.receipt")).content, {
    [first]: { "m.read": { "@bob:localhost": { ts } } },
    [second]: { "m.read.private": { "@bob:localhost": { ts, thread_id: "main" } } },
  });
  assertEquals(scene.homeserver.room(room).readBy("@bob:localhost"), first as `$${string}`);
  await bob.ok("POST", `/rooms/${room}/receipt/m.read/${second}`, {});
  await bob.ok("POST", `/rooms/${room}/receipt/m.read/${first}`, {});
  assertEquals(scene.homeserver.room(room).readBy("@bob:localhost"), second as `$${string}`);
});

Deno.test("receipts: what is malformed is refused", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const event = await alice.say(room, "1");
  assertEquals(await alice.refusal("POST", `/rooms/${room}/receipt/m.seen/${event}`, {}), [400, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("POST", `/rooms/${room}/receipt/m.read/${event}`, { thread_id: "" }), [
    400,
    "M_INVALID_PARAM",
  ]);
  assertEquals(await bob.refusal("POST", `/rooms/${room}/receipt/m.read/${event}`, {}), [403, "M_FORBIDDEN"]);
});

Deno.test("read markers: m.fully_read is account data of the room, and m.read a receipt", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const event = await alice.say(room, "1");
  const { next_batch } = await alice.sync();
  await alice.ok("POST", `/rooms/${room}/read_markers`, { "m.fully_read": event, "m.read": event });
  const joined = (await alice.sync({ since: next_batch })).rooms.join[room];
  assertEquals(joined.account_data.events, [{ type: "m.fully_read", content: { event_id: event } }]);
  assertEquals(Object.keys(joined.ephemeral.events[0].content), [event]);
});

Deno.test("typing: ends by itself after its timeout, by the homeserver's clock", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await alice.sync();
  await bob.ok("PUT", `/rooms/${room}/typing/@bob:localhost`, { typing: true, timeout: 5000 });
  const started = await ephemeral(alice, room, next_batch, "m.typing");
  assertEquals(started.content, { user_ids: ["@bob:localhost"] });
  await scene.clock.tick(3000);
  await bob.ok("PUT", `/rooms/${room}/typing/@bob:localhost`, { typing: true, timeout: 5000 });
  await scene.clock.tick(4000);
  assertEquals(scene.homeserver.room(room).typing, ["@bob:localhost"]);
  await scene.clock.tick(1000);
  assertEquals((await ephemeral(alice, room, started.next_batch, "m.typing")).content, { user_ids: [] });
  assertEquals(await alice.refusal("PUT", `/rooms/${room}/typing/@bob:localhost`, { typing: true }), [
    400,
    "M_FORBIDDEN",
  ]);
});

Deno.test("presence: is set by syncing and by hand, and sent to users who share a room", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const first = await alice.sync({ set_presence: "offline" });
  assertEquals(first.presence, undefined);
  await bob.sync();
  const online = await alice.sync({ since: first.next_batch, set_presence: "offline" });
  assertEquals(online.presence.events, [{
    type: "m.presence",
    sender: "@bob:localhost",
    content: { presence: "online", last_active_ago: 0, currently_active: true },
  }]);
  await scene.clock.tick(2000);
  await bob.ok("PUT", "/presence/@bob:localhost/status", { presence: "unavailable", status_msg: "lunch" });
  assertEquals(await alice.ok("GET", "/presence/@bob:localhost/status"), {
    presence: "unavailable",
    last_active_ago: 2000,
    status_msg: "lunch",
  });
  assertEquals(await carol.refusal("GET", "/presence/@bob:localhost/status"), [403, "M_FORBIDDEN"]);
});
