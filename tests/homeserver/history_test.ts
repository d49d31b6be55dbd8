import { assertEquals, assertNotEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import { bodies, type Caller, type Json, stage } from "./harness.ts";

const v1 = (room: string, path: string) => `/_matrix/client/v1/rooms/${room}/${path}`;

async function talk(caller: Caller, room: string, ...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) ids.push(await caller.say(room, text));
  return ids;
}

Deno.test("GET /messages: pages backwards and forwards meet without gap or overlap", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await talk(alice, room, "1", "2", "3", "4", "5");
  const walk = async (dir: "b" | "f") => {
    const seen: string[] = [];
    let from = "";
    while (true) {
      const page = await alice.ok(
        "GET",
        `/rooms/${room}/messages?dir=${dir}&limit=3${from && `&from=${from}`}`,
      );
      seen.push(...page.chunk.map((event: Json) => event.event_id));
      if (page.end === undefined) return seen;
      from = page.end;
    }
  };
  const all = scene.homeserver.room(room).events.map((event) => event.event_id as string);
  assertEquals(await walk("f"), all);
  assertEquals(await walk("b"), all.toReversed());
});

Deno.test("A whole history is read both ways from a server before version 1.3, which wants a token", async () => {
  await using homeserver = new Homeserver({ versions: ["v1.1", "v1.2"] });
  const { accessToken } = homeserver.createUser("alice");
  const { baseUrl, fetch } = homeserver;
  await using alice = new Client({ baseUrl, fetch, accessToken });
  const room = await alice.createRoom();
  const sent = await Array.fromAsync([1, 2, 3, 4, 5], (number) => alice.sendText(room, String(number)));
  const read = async (direction: "f" | "b") => {
    const events = await Array.fromAsync(alice.iterateMessages(room, direction, { limit: 2 }));
    return events.map(({ event_id }) => event_id);
  };
  const all = await read("f");
  assertEquals(all, homeserver.room(room).events.map((event) => event.event_id as `$${string}`));
  assertEquals(all.slice(-5), sent);
  assertEquals(await read("b"), all.toReversed());
});

Deno.test("GET /messages: prev_batch of a limited timeline leads to what it left out, and to its bound", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const { next_batch } = await alice.sync();
  await talk(alice, room, "1", "2", "3", "4", "5");
  const filter = { room: { timeline: { limit: 2 } } };
  const { timeline } = (await alice.sync({ since: next_batch, filter })).rooms.join[room];
  assertEquals(bodies(timeline.events), ["4", "5"]);
  const gap = await alice.ok(
    "GET",
    `/rooms/${room}/messages?dir=b&from=${timeline.prev_batch}&to=${next_batch}`,
  );
  assertEquals(bodies(gap.chunk), ["3", "2", "1"]);
});

Deno.test("GET /messages: a filter looks at types, senders and URLs, and brings lazy members", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await alice.say(room, "mine");
  await bob.say(room, "yours");
  await bob.sendEvent(room, "m.room.message", {
    msgtype: "m.image",
    body: "picture",
    url: "mxc://localhost/1",
  });
  const get = async (filter: Json) =>
    await alice.ok(
      "GET",
      `/rooms/${room}/messages?dir=f&filter=${encodeURIComponent(JSON.stringify(filter))}`,
    );
  assertEquals(bodies((await get({ senders: ["@bob:localhost"] })).chunk), ["yours", "picture"]);
  assertEquals(bodies((await get({ contains_url: true })).chunk), ["picture"]);
  assertEquals((await get({ types: ["m.room.n*", "m.room.create"] })).chunk.length, 1);
  const lazy = await get({ lazy_load_members: true, contains_url: true });
  assertEquals(lazy.state.map((event: Json) => event.state_key), ["@bob:localhost"]);
});

Deno.test("GET /messages: history visibility decides what a newcomer sees", async () => {
  for (
    const [history_visibility, expected] of [["shared", ["before", "after"]], ["joined", ["after"]]] as const
  ) {
    await using scene = stage(["alice", "bob", "carol"]);
    const { alice, bob, carol } = scene.users;
    const initial_state = [{ type: "m.room.history_visibility", content: { history_visibility } }];
    const room = await alice.createRoom({ preset: "public_chat", initial_state });
    await alice.say(room, "before");
    await bob.join(room);
    await alice.say(room, "after");
    assertEquals(bodies((await bob.ok("GET", `/rooms/${room}/messages?dir=f&limit=50`)).chunk), [
      ...expected,
    ]);
    assertEquals(await carol.refusal("GET", `/rooms/${room}/messages?dir=f`), [403, "M_FORBIDDEN"]);
  }
});

Deno.test("GET /context: gives what lies around an event, and tokens that go on from there", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const ids = await talk(alice, room, "1", "2", "3", "4", "5");
  const context = await alice.ok("GET", `/rooms/${room}/context/${ids[2]}?limit=2`);
  assertEquals(bodies([context.event]), ["3"]);
  assertEquals([bodies(context.events_before), bodies(context.events_after)], [["2"], ["4"]]);
  const older = await alice.ok("GET", `/rooms/${room}/messages?dir=b&limit=1&from=${context.start}`);
  const newer = await alice.ok("GET", `/rooms/${room}/messages?dir=f&limit=1&from=${context.end}`);
  assertEquals([bodies(older.chunk), bodies(newer.chunk)], [["1"], ["5"]]);
  assertEquals(await alice.refusal("GET", `/rooms/${room}/context/$none`), [404, "M_NOT_FOUND"]);
});

Deno.test("GET /timestamp_to_event: finds the nearest event in a direction", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await scene.clock.tick(1000);
  const first = await alice.say(room, "first");
  const at = scene.clock.now();
  await scene.clock.tick(1000);
  const second = await alice.say(room, "second");
  const find = async (ts: number, dir: string) =>
    (await alice.ok("GET", v1(room, `timestamp_to_event?ts=${ts}&dir=${dir}`))).event_id;
  assertEquals(await find(at + 1, "f"), second);
  assertEquals(await find(at + 1, "b"), first);
  const refusal = (ts: number, dir: string) =>
    alice.refusal("GET", v1(room, `timestamp_to_event?ts=${ts}&dir=${dir}`));
  assertEquals(await refusal(at + 5000, "f"), [404, "M_NOT_FOUND"]);
  await alice.ok("PUT", `/rooms/${room}/redact/$none/1`, {});
  assertEquals(await refusal(at + 5000, "b"), [404, "M_NOT_FOUND"]); // it does not look past what it hides
});

Deno.test("a transaction ID makes a repeated request one event, per device and path", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const put = async (path: string) =>
    (await alice.ok("PUT", `/rooms/${room}/${path}`, { body: "x", msgtype: "m.text" })).event_id;
  const first = await put("send/m.room.message/1");
  assertEquals(await put("send/m.room.message/1"), first);
  assertNotEquals(await put("send/m.room.message/2"), first);
  const failed = `/rooms/${room}/send/m.room.message/3`;
  assertEquals(await alice.refusal("PUT", failed, { body: 1 }), [400, "M_UNKNOWN"]);
  await alice.ok("PUT", failed, { body: "right", msgtype: "m.text" });
  assertEquals(scene.homeserver.room(room).messages.length, 3);
});

Deno.test("unsigned.transaction_id is for the sending device only", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const [a, b] = [await alice.sync(), await bob.sync()];
  await alice.ok("PUT", `/rooms/${room}/send/m.room.message/mine`, { body: "x", msgtype: "m.text" });
  const seen = async (caller: Caller, since: string) =>
    (await caller.sync({ since })).rooms.join[room].timeline.events[0].unsigned.transaction_id;
  assertEquals([await seen(alice, a.next_batch), await seen(bob, b.next_batch)], ["mine", undefined]);
});

Deno.test("state events tell what they replaced, and a state event that changes nothing is not sent again", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const first = await alice.putState(room, "m.room.topic", { topic: "a" });
  assertEquals(await alice.putState(room, "m.room.topic", { topic: "a" }), first);
  const second = await alice.putState(room, "m.room.topic", { topic: "b" });
  const { unsigned } = await alice.ok("GET", `/rooms/${room}/event/${second}`);
  assertEquals([unsigned.replaces_state, unsigned.prev_content], [first, { topic: "a" }]);
  const event = await alice.ok("GET", `/rooms/${room}/state/m.room.topic/?format=event`);
  assertEquals([event.event_id, event.content], [second, { topic: "b" }]);
});

Deno.test("a redaction strips the content as the room version says", async () => {
  for (const version of ["10", "11"]) {
    await using scene = stage(["alice", "bob"]);
    const { alice, bob } = scene.users;
    const room = await alice.createRoom({ preset: "public_chat", room_version: version });
    await bob.join(room);
    const said = await bob.say(room, "oops");
    const levels = scene.homeserver.room(room).events.find(({ type }) => type === "m.room.power_levels")
      ?.event_id;
    const redaction = (await alice.ok("PUT", `/rooms/${room}/redact/${said}/1`, { reason: "spam" })).event_id;
    await alice.ok("PUT", `/rooms/${room}/redact/${levels}/2`, {});
    const event = await bob.ok("GET", `/rooms/${room}/event/${said}`);
    assertEquals(event.content, {});
    assertEquals(event.unsigned.redacted_because.event_id, redaction);
    assertEquals(event.unsigned.redacted_because.content, { reason: "spam", redacts: said });
    const kept = scene.homeserver.room(room).events.find(({ event_id }) => event_id === levels)?.content ??
      {};
    assertEquals(["invite" in kept, "historical" in kept], [version === "11", false]);
  }
});

Deno.test("redacting takes power, unless the event is one's own", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const [hers, his] = [await alice.say(room, "hers"), await bob.say(room, "his")];
  const create = scene.homeserver.room(room).events[0]?.event_id;
  assertEquals(await bob.refusal("PUT", `/rooms/${room}/redact/${hers}/1`, {}), [403, "M_FORBIDDEN"]);
  assertEquals(await bob.refusal("PUT", `/rooms/${room}/redact/$none/2`, {}), [404, "M_NOT_FOUND"]);
  assertEquals(await alice.refusal("PUT", `/rooms/${room}/redact/${create}/3`, {}), [403, "M_FORBIDDEN"]);
  await bob.ok("PUT", `/rooms/${room}/redact/${his}/4`, {});
});
