import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, ForbiddenError, LimitExceededError, ValueError } from "@greenroom/matrix";
import type { ClientEvent, EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { Homeserver, TestClock } from "@greenroom/matrix/testing";
import { untilSettled } from "../../support/scripted_fetch.ts";
import { followUpgrade, PolicyLists, redactMessages, updateServerAcl } from "@greenroom/matrix/bot";

async function clientOf(homeserver: Homeserver, name: string, clock?: TestClock): Promise<Client> {
  const { accessToken: token } = await homeserver.createUser(name);
  const { baseUrl, fetch } = homeserver;
  return new Client({ baseUrl, fetch, accessToken: token, mxid: `@${name}:localhost`, clock });
}

Deno.test("updateServerAcl() sends an ACL if it says something new, and keeps what others said", async () => {
  await using homeserver = new Homeserver();
  await using client = await clientOf(homeserver, "mod");
  const roomId = await client.createRoom();
  await client.sendStateEvent(roomId, "m.room.server_acl", {
    allow: ["*"],
    deny: ["by-hand.example"],
    allow_ip_literals: false,
  });
  const lists = new PolicyLists();
  const sender: UserID = "@mod:localhost";
  for (const entity of ["spam.example", "local*"]) {
    const content = { entity, recommendation: "m.ban" };
    lists.apply("!list", { type: "m.policy.rule.server", state_key: entity, sender, content });
  }
  const { eventId, skipped } = await updateServerAcl(client, roomId, lists);
  assert(eventId !== undefined);
  assertEquals(skipped.map(({ entity }) => entity), ["local*"]);
  assertEquals(await client.getStateEvent(roomId, "m.room.server_acl"), {
    allow: ["*"],
    deny: ["by-hand.example", "spam.example"],
    allow_ip_literals: false,
  });
  assertEquals((await updateServerAcl(client, roomId, lists)).eventId, undefined);
  await updateServerAcl(client, roomId, new PolicyLists(), { base: { deny: ["by-hand.example"] } });
  assertEquals((await client.getStateEvent(roomId, "m.room.server_acl")).deny, ["by-hand.example"]);
  const fresh = await client.createRoom();
  assert((await updateServerAcl(client, fresh, lists)).eventId !== undefined);
});

Deno.test("redactMessages() redacts a user's last events, and no others", async () => {
  await using homeserver = new Homeserver();
  await using mod = await clientOf(homeserver, "mod");
  await using eve = await clientOf(homeserver, "eve");
  const roomId = await mod.createRoom({ preset: "public_chat" });
  await eve.joinRoom(roomId);
  const said: EventID[] = [];
  for (let at = 0; at < 5; at++) {
    said.push(await eve.sendText(roomId, `spam ${at}`));
    await mod.sendText(roomId, `stop ${at}`);
  }
  const first = await redactMessages(mod, roomId, "@eve:localhost", { limit: 2, reason: "spam" });
  assertEquals(first, { redacted: said.slice(-2).toReversed(), missing: [] });
  const rest = await redactMessages(mod, roomId, "@eve:localhost");
  assertEquals(rest.redacted, said.slice(0, 3).toReversed());
  assertEquals((await redactMessages(mod, roomId, "@eve:localhost")).redacted, []);
  const left: ClientEvent[] = [];
  for await (const event of mod.iterateMessages(roomId, "f")) {
    if (event.type === "m.room.message") left.push(event);
  }
  assertEquals(left.map(({ sender, content }) => sender === "@mod:localhost" && content.body !== undefined), [
    ...Array(10).fill(undefined).map((_, at) => at % 2 === 1),
  ]);
  await assertRejects(() => redactMessages(eve, roomId, "@mod:localhost"), ForbiddenError);
});

/** A room of so many messages, of which pages are read, and whose server wants rest after some redactions. */
function restingServer(messages: number, rest: number) {
  const redacted = new Set<EventID>();
  let left = rest;
  const event = (at: number): ClientEvent => ({
    type: "m.room.message",
    event_id: `$${at}`,
    room_id: "!r",
    sender: "@eve:a.b",
    origin_server_ts: at,
    content: redacted.has(`$${at}`) ? {} : { body: "spam" },
  });
  const client: Parameters<typeof redactMessages>[0] = {
    getMessages: (_room, _direction, from = "0", { limit = 10 } = {}) => {
      const start = Number(from);
      const count = Math.min(limit, messages - start);
      const chunk = Array.from({ length: count }, (_, at) => event(start + at));
      const end = start + count < messages ? `${start + count}` : undefined;
      return Promise.resolve({ start: from, chunk, ...(end !== undefined && { end }) });
    },
    redact: (_room, eventId, { txnId } = {}) => {
      assertEquals(txnId, `redact-${eventId}`);
      const init = { operation: "redact", method: "PUT", path: "", status: 429, body: {}, retryAfter: 700 };
      if (left-- === 0) return Promise.reject(new LimitExceededError(init));
      redacted.add(eventId);
      return Promise.resolve("$redaction");
    },
  };
  return { client, redacted };
}

Deno.test("redactMessages() says where to go on when the server wants rest, and goes on there", async () => {
  const { client, redacted } = restingServer(250, 130);
  const first = await redactMessages(client, "!r", "@eve:a.b", { limit: 1_000 });
  assertEquals([first.redacted.length, first.from, first.retryAfter], [130, "100", 700]);
  const second = await redactMessages(client, "!r", "@eve:a.b", { limit: 1_000, from: first.from });
  assertEquals([second.redacted.length, second.from, redacted.size], [120, undefined, 250]);
});

Deno.test("redactMessages() goes on after an event that is not there, and tells what it did when something fails", async () => {
  await using homeserver = new Homeserver();
  await using mod = await clientOf(homeserver, "mod");
  await using eve = await clientOf(homeserver, "eve");
  const roomId = await mod.createRoom({ preset: "public_chat" });
  await eve.joinRoom(roomId);
  const said: EventID[] = [];
  for (let at = 0; at < 5; at++) said.unshift(await eve.sendText(roomId, `spam ${at}`));
  const redacting = { path: "/redact/", user: "@mod:localhost" } as const;
  const fails = (nth: EventID | undefined, status: number, errcode: string) =>
    homeserver.faults.add({
      kind: "status",
      status,
      body: { errcode, error: "No" },
      match: { ...redacting, path: encodeURIComponent(`${nth}`) },
    });
  using _gone = fails(said[1], 404, "M_NOT_FOUND");
  const forbidden = fails(said[3], 403, "M_FORBIDDEN");
  const { error, from, ...first } = await redactMessages(mod, roomId, "@eve:localhost");
  assertEquals(first, { redacted: [said[0], said[2]] as EventID[], missing: [said[1]] as EventID[] });
  assert(error instanceof ForbiddenError && from !== undefined);
  await assertRejects(() => redactMessages(mod, roomId, "@eve:localhost"), ForbiddenError);
  forbidden.remove();
  const rest = await redactMessages(mod, roomId, "@eve:localhost", { from });
  assertEquals(rest, { redacted: said.slice(3), missing: [said[1]] as EventID[] });
});

Deno.test("redactMessages() says where to go on after as many pages as it may read", async () => {
  const { client } = restingServer(250, Infinity);
  const { redacted, from } = await redactMessages(client, "!r", "@eve:a.b", { limit: 1_000, maxPages: 1 });
  assertEquals([redacted.length, from], [100, "100"]);
});

/** A room that was upgraded, and who may join the new one. */
async function upgraded(homeserver: Homeserver, clock?: TestClock) {
  const [alice, bot] = [await clientOf(homeserver, "alice"), await clientOf(homeserver, "bot", clock)];
  const from = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(from);
  const to = await alice.upgradeRoom(from, "12");
  const tombstone = (room_id: RoomID, replacement_room: unknown) => ({
    room_id,
    sender: "@alice:localhost" as const,
    content: { body: "gone", replacement_room },
  });
  return { alice, bot, from, to, tombstone };
}

Deno.test("followUpgrade() joins the room that replaces the old one, and those after it", async () => {
  await using homeserver = new Homeserver();
  const { alice, bot, from, to, tombstone } = await upgraded(homeserver);
  await using _alice = alice, _bot = bot;
  assertEquals(await followUpgrade(bot, tombstone(from, to)), to);
  assert((await bot.getJoinedRooms()).includes(to));
  assertEquals(await followUpgrade(bot, tombstone(from, to)), to);
  const last = await alice.upgradeRoom(to, "12");
  assertEquals(await followUpgrade(bot, tombstone(from, to)), last);
  assert((await bot.getJoinedRooms()).includes(last));
});

for (const isReadable of [false, true]) {
  const kind = isReadable ? "that can be read from outside" : "that only its members can read";
  Deno.test(`followUpgrade() joins a room ${kind} and that the server hears of late, and gives up after five minutes`, async () => {
    const clock = new TestClock();
    await using homeserver = new Homeserver({ clock });
    const { alice, bot, from, to, tombstone } = await upgraded(homeserver, clock);
    await using _alice = alice, _bot = bot;
    const body = { errcode: "M_FORBIDDEN", error: "Not invited" };
    if (isReadable) {
      await alice.sendStateEvent(to, "m.room.history_visibility", { history_visibility: "world_readable" });
    }
    using refuses = homeserver.faults.add({
      kind: "status",
      status: 403,
      body,
      match: { path: isReadable ? /join/ : /join|m.room.create/ },
    });
    await assertRejects(() => untilSettled(clock, followUpgrade(bot, tombstone(from, to))), ForbiddenError);
    assert(refuses.hits > 5, `${refuses.hits} tries`);
    const following = followUpgrade(bot, tombstone(from, to));
    await clock.tick(10_000);
    refuses.remove();
    assertEquals(await untilSettled(clock, following), to);
  });
}

Deno.test("followUpgrade() does not stay in a room that does not replace the old one, but where it was before", async () => {
  await using homeserver = new Homeserver();
  const { alice, bot, from, tombstone } = await upgraded(homeserver);
  await using _alice = alice, _bot = bot;
  const trap = await alice.createRoom({ preset: "public_chat" });
  await assertRejects(
    () => followUpgrade(bot, tombstone(from, trap)),
    ValueError,
    "does not say that it replaces it",
  );
  assert(!(await bot.getJoinedRooms()).includes(trap));
  await bot.joinRoom(trap);
  await assertRejects(() => followUpgrade(bot, tombstone(from, trap)), ValueError);
  assert((await bot.getJoinedRooms()).includes(trap));
});

Deno.test("followUpgrade() does nothing for a tombstone that names no room", async () => {
  await using homeserver = new Homeserver();
  await using bot = await clientOf(homeserver, "bot");
  const event = { room_id: "!a", sender: "@b:c.d", content: {} } as const;
  assertEquals(await followUpgrade(bot, event), undefined);
  for (const replacement_room of ["", "#a:b.c", 5, "!a", null]) {
    assertEquals(await followUpgrade(bot, { ...event, content: { replacement_room } }), undefined);
  }
});
