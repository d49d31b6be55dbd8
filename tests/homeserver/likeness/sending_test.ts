import { assertEquals, assertFalse } from "@std/assert";
import { type Caller, type Json, stage } from "../harness.ts";

const REFUSED = [400, "M_UNKNOWN"];

async function tryToSend(caller: Caller, room: string, type: string, content: Json): Promise<unknown[]> {
  return await caller.refusal("PUT", `/rooms/${room}/send/${type}/t${crypto.randomUUID()}`, content);
}

Deno.test("a relation needs an event of the same room, and an annotation a key", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const [room, other] = [await alice.createRoom(), await alice.createRoom()];
  const elsewhere = await alice.say(other, "elsewhere");
  const here = await alice.say(room, "here");
  const relate = (relation: Json) =>
    tryToSend(alice, room, "m.room.message", { msgtype: "m.text", body: "x", "m.relates_to": relation });
  assertEquals(await relate({ rel_type: "m.reference", event_id: "$none" }), REFUSED);
  assertEquals(await relate({ rel_type: "m.thread", event_id: elsewhere }), REFUSED);
  assertEquals(await relate({ rel_type: "m.annotation", event_id: here }), REFUSED);
  assertEquals(await relate({ rel_type: "m.annotation", event_id: here, key: "k".repeat(501) }), REFUSED);
  assertEquals(await relate({ rel_type: "m.reference", event_id: here }), [200, undefined]);
});

Deno.test("a server ACL that keeps the own server out is refused", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const put = (content: Json) => alice.refusal("PUT", `/rooms/${room}/state/m.room.server_acl`, content);
  assertEquals(await put({ allow: ["away.example"] }), REFUSED);
  assertEquals(await put({ allow: ["*"], deny: ["local*"] }), REFUSED);
  assertEquals(await put({}), REFUSED);
  assertEquals(await put({ allow: ["local????"], deny: [] }), [200, undefined]);
});

Deno.test("a tombstone does not lead back into its room, and a create event comes once", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const put = (type: string, content: Json) => alice.refusal("PUT", `/rooms/${room}/state/${type}`, content);
  assertEquals(await put("m.room.tombstone", { replacement_room: room }), REFUSED);
  assertEquals(await put("m.room.create", { room_version: "12" }), [400, "M_INVALID_PARAM"]);
});

Deno.test("power levels are integers in all versions, and numbers are free in old rooms", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const old = await alice.createRoom({ room_version: "5" });
  assertEquals(
    await alice.refusal("PUT", `/rooms/${old}/state/m.room.power_levels`, { users: { [alice.id]: "100" } }),
    [400, "M_BAD_JSON"],
  );
  assertEquals(await tryToSend(alice, old, "org.example", { share: 0.5 }), [200, undefined]);
  const current = await alice.createRoom();
  assertEquals(await tryToSend(alice, current, "org.example", { share: 0.5 }), [400, "M_BAD_JSON"]);
});

Deno.test("what is too long for a type or a state key is too large", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const put = (type: string, key: string) => alice.refusal("PUT", `/rooms/${room}/state/${type}/${key}`, {});
  assertEquals(await put("t".repeat(256), ""), [413, "M_TOO_LARGE"]);
  assertEquals(await put("org.example", "k".repeat(256)), [413, "M_TOO_LARGE"]);
});

Deno.test("a redaction redacts in its own room, and one of nothing is never shown", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const [room, other] = [await alice.createRoom(), await alice.createRoom()];
  const elsewhere = await alice.say(other, "elsewhere");
  const redact = (id: string, content: Json = {}) => `/rooms/${room}/redact/${id}/${content.redacts ?? id}`;
  assertEquals(await alice.refusal("PUT", redact(elsewhere), {}), REFUSED);
  assertEquals(await alice.refusal("PUT", redact("$a"), { redacts: "$b" }), [400, "M_INVALID_PARAM"]);
  const { event_id } = await alice.ok("PUT", redact("$none"), {});
  assertEquals(await alice.refusal("GET", `/rooms/${room}/event/${event_id}`), [404, "M_NOT_FOUND"]);
  const { chunk } = await alice.ok("GET", `/rooms/${room}/messages?dir=b`);
  assertFalse(chunk.some((event: Json) => event.event_id === event_id));
  assertEquals(await alice.refusal("PUT", "/rooms/!none:localhost/redact/$a/1", {}), [404, "M_NOT_FOUND"]);
});

Deno.test("those who may not send are told so before what is wrong with the aliases", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const put = (caller: Caller) =>
    caller.refusal("PUT", `/rooms/${room}/state/m.room.canonical_alias`, { alias: "#none:localhost" });
  assertEquals([await put(bob), await put(alice)], [[403, "M_FORBIDDEN"], [400, "M_BAD_ALIAS"]]);
});
