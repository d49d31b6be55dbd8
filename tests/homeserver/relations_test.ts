import { assertEquals } from "@std/assert";
import { bodies, type Caller, type Json, stage } from "./harness.ts";

const v1 = (room: string, path: string) => `/_matrix/client/v1/rooms/${room}/${path}`;

async function talk(caller: Caller, room: string, ...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) ids.push(await caller.say(room, text));
  return ids;
}

Deno.test("a reaction counts once, and again after its redaction", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const event_id = await alice.say(room, "like me");
  const content = { "m.relates_to": { rel_type: "m.annotation", event_id, key: "+" } };
  const reaction = await alice.sendEvent(room, "m.reaction", content);
  assertEquals(await alice.refusal("PUT", `/rooms/${room}/send/m.reaction/twice`, content), [
    400,
    "M_DUPLICATE_ANNOTATION",
  ]);
  await alice.ok("PUT", `/rooms/${room}/redact/${reaction}/1`, {});
  await alice.sendEvent(room, "m.reaction", content);
});

Deno.test("relations: edits, threads and references are bundled, listed and paged", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const root = await alice.say(room, "root");
  const relate = (caller: Caller, rel_type: string, event_id: string, body: string) =>
    caller.sendEvent(room, "m.room.message", {
      msgtype: "m.text",
      body,
      "m.new_content": { body },
      "m.relates_to": { rel_type, event_id },
    });
  await relate(bob, "m.replace", root, "forged");
  const edit = await relate(alice, "m.replace", root, "edited");
  await relate(bob, "m.thread", root, "reply 1");
  const reply = await relate(bob, "m.thread", root, "reply 2");
  const reference = await relate(bob, "m.reference", root, "about that");
  const { unsigned } = await alice.ok("GET", `/rooms/${room}/event/${root}`);
  const relations = unsigned["m.relations"];
  assertEquals(relations["m.replace"].event_id, edit);
  assertEquals(relations["m.reference"], { chunk: [{ event_id: reference }] });
  const { count, latest_event, current_user_participated } = relations["m.thread"];
  assertEquals([count, latest_event.event_id, current_user_participated], [2, reply, true]);
  const thread = await alice.ok("GET", v1(room, `relations/${root}/m.thread?dir=f`));
  assertEquals(bodies(thread.chunk), ["reply 1", "reply 2"]);
  const page = await alice.ok("GET", v1(room, `relations/${root}?limit=3`));
  const rest = await alice.ok("GET", v1(room, `relations/${root}?limit=3&from=${page.next_batch}`));
  assertEquals([bodies(page.chunk), bodies(rest.chunk)], [["about that", "reply 2", "reply 1"], [
    "edited",
    "forged",
  ]]);
  await alice.sendEvent(room, "m.reaction", {
    "m.relates_to": { rel_type: "m.annotation", event_id: reply, key: "+" },
  });
  const deep = await alice.ok("GET", v1(room, `relations/${root}?recurse=true&limit=50`));
  assertEquals(deep.chunk.length, 6);
  assertEquals(
    await alice.refusal("PUT", `/rooms/${room}/send/m.room.message/nested`, {
      msgtype: "m.text",
      body: "no",
      "m.relates_to": { rel_type: "m.thread", event_id: reply },
    }),
    [400, "M_UNKNOWN"],
  );
});

Deno.test("threads: are listed by their latest reply, all of them or those one took part in", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const [one, two] = await talk(alice, room, "one", "two");
  const reply = (caller: Caller, event_id = "") =>
    caller.sendEvent(room, "m.room.message", {
      msgtype: "m.text",
      body: "re",
      "m.relates_to": { rel_type: "m.thread", event_id },
    });
  await reply(alice, two);
  await reply(bob, one);
  const list = async (caller: Caller, query = "") =>
    bodies((await caller.ok("GET", v1(room, `threads${query}`))).chunk);
  assertEquals(await list(alice), ["one", "two"]);
  assertEquals(await list(bob, "?include=participated"), ["one"]);
  const page = await alice.ok("GET", v1(room, "threads?limit=1"));
  assertEquals(bodies((await alice.ok("GET", v1(room, `threads?limit=1&from=${page.next_batch}`))).chunk), [
    "two",
  ]);
});

Deno.test("POST /search: finds words in the rooms of the asker, newest first, with their context", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  const secret = await bob.createRoom();
  await talk(alice, room, "a green room", "between", "the Green light", "greenish");
  await bob.say(secret, "green too");
  const search = async (caller: Caller, extra = {}) =>
    (await caller.ok("POST", "/search", {
      search_categories: { room_events: { search_term: "green", ...extra } },
    })).search_categories.room_events;
  const found = await search(alice, { event_context: { before_limit: 1, after_limit: 1 } });
  assertEquals(bodies(found.results.map(({ result }: Json) => result)), ["the Green light", "a green room"]);
  assertEquals(bodies(found.results[0].context.events_before), ["between"]);
  assertEquals(found.count, 2);
  assertEquals((await search(alice, { filter: { limit: 1 }, order_by: "recent" })).next_batch, "e1");
  assertEquals((await search(bob)).count, 1);
});
