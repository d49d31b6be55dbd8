import { assertEquals } from "@std/assert";
import { type Caller, type Json, stage } from "../harness.ts";

Deno.test("a read marker needs an event of the room, and never goes back", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const [one, two] = [await alice.say(room, "one"), await alice.say(room, "two")];
  const mark = (event: string) => alice.refusal("POST", `/rooms/${room}/receipt/m.fully_read/${event}`, {});
  assertEquals(await mark("$none"), [404, "M_UNKNOWN"]);
  await mark(two);
  await mark(one);
  const path = `/user/${alice.id}/rooms/${room}/account_data/m.fully_read`;
  assertEquals(await alice.ok("GET", path), { event_id: two });
});

Deno.test("a receipt in a thread needs an event of that thread, and any needs an event one may see", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const root = await alice.say(room, "root");
  const other = await alice.say(room, "other");
  const reply = await alice.sendEvent(room, "m.room.message", {
    msgtype: "m.text",
    body: "reply",
    "m.relates_to": { rel_type: "m.thread", event_id: root },
  });
  const read = (event: string, thread_id: unknown, caller = alice) =>
    caller.refusal("POST", `/rooms/${room}/receipt/m.read/${event}`, { thread_id });
  const refused = [400, "M_INVALID_PARAM"];
  assertEquals(await read(reply, root), [200, undefined]);
  assertEquals(await read(root, root), [200, undefined]);
  assertEquals(await read(root, "main"), [200, undefined]);
  assertEquals(await read(other, root), refused);
  assertEquals(await read(reply, "main"), refused);
  assertEquals(await read(reply, 7), refused);
  assertEquals(await read(other, undefined, bob), [403, "M_FORBIDDEN"]);
  assertEquals(await read("$none", undefined, bob), [200, undefined]);
  assertEquals(await read("none", undefined), [400, "M_UNKNOWN"]);
});

Deno.test("who sends a message or reads one was active, online or not", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await alice.sync({ set_presence: "offline" });
  const event = await bob.say(room, "here I am");
  await bob.ok("POST", `/rooms/${room}/receipt/m.read/${event}`, {});
  const { presence } = await alice.sync({ since: next_batch, set_presence: "offline" });
  assertEquals(presence.events, [{
    type: "m.presence",
    sender: bob.id,
    content: { presence: "offline", last_active_ago: 0 },
  }]);
});

Deno.test("an unthreaded receipt hides those in threads of the same event, a private one too", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const event = await alice.say(room, "read");
  const read = (type: string, body: Json, caller = alice) =>
    caller.ok("POST", `/rooms/${room}/receipt/${type}/${event}`, body);
  const typesAndUsers = async (caller: Caller) => {
    const { rooms } = await caller.sync();
    const receipts = rooms.join[room].ephemeral.events.find(({ type }: Json) => type === "m.receipt");
    return Object.entries<Json>(receipts?.content[event] ?? {}).map((
      [type, byUser],
    ) => [type, ...Object.keys(byUser)]);
  };
  await read("m.read", { thread_id: "main" });
  assertEquals(await typesAndUsers(bob), [["m.read", alice.id]]);
  await read("m.read.private", {});
  await read("m.read", { thread_id: "main" }, bob);
  assertEquals(await typesAndUsers(bob), [["m.read", bob.id]]);
  assertEquals(await typesAndUsers(alice), [["m.read.private", alice.id], ["m.read", bob.id]]);
});
