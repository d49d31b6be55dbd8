import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import type { BotTester, FaultRule } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { trying } from "./support.ts";

const FORBIDDEN = {
  kind: "status",
  status: 403,
  body: { errcode: "M_FORBIDDEN", error: "Not invited" },
} as const;
const NOT_FOUND = {
  kind: "status",
  status: 404,
  body: { errcode: "M_NOT_FOUND", error: "No room" },
} as const;
const AWAY = { kind: "html", status: 502 } as const;

/** A bot that says hello where it is invited. */
function polite(options: Partial<BotOptions> = {}): BotTester {
  return trying((bot: Bot) => void bot.on("invite", (c) => c.send("hello")), options);
}

/** Has a user invite the bot into a new room. */
async function invited(tester: BotTester): Promise<RoomID> {
  const { room_id } = await tester.request("alice", "POST", "/createRoom", { invite: [tester.mxid] });
  await tester.settle();
  return room_id as RoomID;
}

function membership(tester: BotTester, room: RoomID): string {
  return tester.homeserver.room(room).membership(tester.mxid);
}

function hellos(tester: BotTester, room: RoomID): number {
  return tester.homeserver.room(room).messages.filter(({ content }) => content.body === "hello").length;
}

/** Has joins of the bot fail. */
function refusing(tester: BotTester, fault: typeof FORBIDDEN | typeof NOT_FOUND | typeof AWAY) {
  return tester.homeserver.faults.add({ ...fault, match: { path: "/join", user: tester.mxid } } as FaultRule);
}

/** Lets time pass in steps. */
async function passing(tester: BotTester, ms: number, step = 1_000): Promise<void> {
  for (let at = 0; at < ms; at += step) await tester.pass(step);
}

Deno.test("Forty invitations at once are all accepted by a bot whose homeserver limits joins, and each is told once", async () => {
  await using tester = polite();
  await tester.start();
  tester.homeserver.rateLimits.joins = { perSecond: 0.1, burst: 10 };
  const rooms = await Promise.all(Array.from({ length: 40 }, () => invited(tester)));
  await passing(tester, 300_000, 5_000);
  assertEquals(rooms.map((room) => membership(tester, room)), rooms.map(() => "join"));
  await tester.restart();
  assertEquals(rooms.map((room) => hellos(tester, room)), rooms.map(() => 1));
});

for (const [cause, fault] of Object.entries({ 403: FORBIDDEN, 404: NOT_FOUND, 502: AWAY })) {
  Deno.test(`An invitation that can't be accepted for a while (${cause}) is accepted later, and told once`, async () => {
    await using tester = polite();
    await tester.start();
    const refuses = refusing(tester, fault);
    const room = await invited(tester);
    await passing(tester, 120_000);
    assertEquals(membership(tester, room), "invite");
    assert(refuses.hits > 4 && refuses.hits < 20, `${refuses.hits} tries`);
    refuses.remove();
    await passing(tester, 120_000);
    assertEquals([membership(tester, room), hellos(tester, room)], ["join", 1]);
  });

  Deno.test(`An invitation that could not be accepted (${cause}) is accepted after a restart`, async () => {
    await using tester = polite();
    await tester.start();
    const refuses = refusing(tester, fault);
    const room = await invited(tester);
    await passing(tester, 100_000);
    await tester.stop();
    refuses.remove();
    await tester.start();
    await passing(tester, 120_000);
    assertEquals([membership(tester, room), hellos(tester, room)], ["join", 1]);
  });
}

Deno.test("An invitation whose bot ends while it waits for the limit is accepted after the restart", async () => {
  await using tester = polite({ closeTimeout: 1_000 });
  await tester.start();
  tester.homeserver.rateLimits.joins = { perSecond: 0.1, burst: 1 };
  const rooms = await Promise.all(Array.from({ length: 3 }, () => invited(tester)));
  const stopping = tester.stop();
  await tester.pass(1_000);
  await stopping;
  await tester.start();
  await passing(tester, 60_000);
  assertEquals(
    rooms.map((room) => [membership(tester, room), hellos(tester, room)]),
    rooms.map(() => ["join", 1]),
  );
});

Deno.test("An invitation that is refused for five minutes is given up, and said in the log", async () => {
  await using tester = polite();
  await tester.start();
  const refuses = refusing(tester, FORBIDDEN);
  const room = await invited(tester);
  await passing(tester, 600_000, 5_000);
  const tries = refuses.hits;
  await passing(tester, 600_000, 5_000);
  assertEquals([refuses.hits, membership(tester, room)], [tries, "invite"]);
  assert(
    tester.logged.some((line) => line.includes("failed") && line.includes("M_FORBIDDEN")),
    tester.logged.join("\n"),
  );
});

Deno.test("An invitation that was withdrawn is not tried any more; a new one is accepted and told once", async () => {
  await using tester = polite();
  await tester.start();
  const refuses = refusing(tester, AWAY);
  const room = await invited(tester);
  await passing(tester, 100_000);
  const path = `/rooms/${encodeURIComponent(room)}`;
  await tester.request("alice", "POST", `${path}/kick`, { user_id: tester.mxid });
  await tester.settle();
  const tries = refuses.hits;
  await passing(tester, 200_000);
  assertEquals(refuses.hits, tries);
  refuses.remove();
  await tester.request("alice", "POST", `${path}/invite`, { user_id: tester.mxid });
  await passing(tester, 600_000, 5_000);
  assertEquals([membership(tester, room), hellos(tester, room)], ["join", 1]);
});

Deno.test("An invitation that was withdrawn is not tried any more when another was accepted at once", async () => {
  await using tester = polite();
  await tester.start();
  const refuses = refusing(tester, AWAY);
  const room = await invited(tester);
  await passing(tester, 100_000);
  const path = `/rooms/${encodeURIComponent(room)}`;
  await tester.request("alice", "POST", `${path}/kick`, { user_id: tester.mxid });
  refuses.remove();
  await tester.request("alice", "POST", `${path}/invite`, { user_id: tester.mxid });
  await tester.settle();
  assertEquals([membership(tester, room), hellos(tester, room)], ["join", 1]);
  const joins = () =>
    tester.homeserver.requests.filter("POST", "/join").filter(({ user }) => user === tester.mxid).length;
  const before = joins();
  await passing(tester, 600_000, 5_000);
  assertEquals([joins(), hellos(tester, room)], [before, 1]);
});

Deno.test("c.join() takes an invitation that its server has not heard of yet", async () => {
  await using tester = trying((bot) =>
    void bot.on("invite", async (c) => {
      await c.join();
      await c.send("hello");
    }), { autoJoin: false });
  await tester.start();
  const refuses = refusing(tester, FORBIDDEN);
  const room = await invited(tester);
  await passing(tester, 5_000);
  refuses.remove();
  await passing(tester, 60_000);
  assertEquals([membership(tester, room), hellos(tester, room)], ["join", 1]);
});

/** How often the bot has asked to join. */
function joinsOf(tester: BotTester): number {
  return tester.homeserver.requests.filter("POST", "/join").filter(({ user }) => user === tester.mxid).length;
}

Deno.test("autoJoin decides about the bot's own invitations, and about nobody else's", async () => {
  const asked: string[] = [];
  await using tester = polite({
    autoJoin: ({ sender, state_key }) => {
      asked.push(`${sender} ${state_key}`);
      return Promise.resolve(sender.startsWith("@alice"));
    },
  });
  await tester.start();
  for (const user of ["bob", "carol"]) tester.homeserver.createUser(user);
  const room = await invited(tester);
  const { room_id } = await tester.request("bob", "POST", "/createRoom", { invite: [tester.mxid] });
  const path = `/rooms/${encodeURIComponent(room)}/invite`;
  await tester.request("alice", "POST", path, { user_id: "@carol:localhost" });
  await tester.settle();
  assertEquals(membership(tester, room), "join");
  assertEquals(membership(tester, room_id as RoomID), "invite");
  assertEquals(asked, [`@alice:localhost ${tester.mxid}`, `@bob:localhost ${tester.mxid}`]);
});

Deno.test("autoJoin may be a list of users and patterns, and nothing else that is no user", async () => {
  await using tester = polite({ autoJoin: ["@alice:localhost", "@*:example.org"] });
  await tester.start();
  const room = await invited(tester);
  const { room_id } = await tester.request("bob", "POST", "/createRoom", { invite: [tester.mxid] });
  await tester.settle();
  assertEquals(membership(tester, room), "join");
  assertEquals(membership(tester, room_id as RoomID), "invite");
  for (const autoJoin of [["alice"], "@alice:localhost"]) {
    const options = { baseUrl: "https://example.org", accessToken: "t", autoJoin: autoJoin as string[] };
    assertThrows(() => new Bot(options), ValueError, "Cannot make a bot: autoJoin");
  }
});

Deno.test("A bot joins once for each invitation, and for nothing else that becomes of its membership", async () => {
  const heard: unknown[] = [];
  await using tester = trying((bot) => {
    bot.on("m.room.member", (c) => void heard.push(c.event.content.membership));
  });
  await tester.start();
  const room = await invited(tester);
  await tester.request("alice", "POST", `/rooms/${encodeURIComponent(room)}/kick`, { user_id: tester.mxid });
  await tester.settle();
  await tester.request("alice", "POST", `/rooms/${encodeURIComponent(room)}/invite`, {
    user_id: tester.mxid,
  });
  await tester.settle();
  assertEquals([membership(tester, room), joinsOf(tester)], ["join", 2]);
});

Deno.test("An invitation that the program itself declines is not tried any more", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => void (made = bot));
  await tester.start();
  const refuses = refusing(tester, AWAY);
  const room = await invited(tester);
  await passing(tester, 100_000);
  await made?.client.leaveRoom(room);
  await tester.settle();
  const tries = refuses.hits;
  await passing(tester, 200_000);
  assertEquals([refuses.hits, membership(tester, room)], [tries, "leave"]);
});

Deno.test("More invitations of a user than inviteLimit lets in are ignored, and the log says so once", async () => {
  await using tester = polite({ inviteLimit: { count: 1, window: 1_000, total: 1 } });
  await tester.start();
  const rooms = await Promise.all(Array.from({ length: 12 }, () => invited(tester)));
  await passing(tester, 60_000);
  const joined = rooms.filter((room) => membership(tester, room) === "join").length;
  assert(joined < rooms.length, `${joined} of ${rooms.length}`);
  assertEquals(joinsOf(tester), joined);
  assertEquals(tester.logged.filter((line) => line.includes("Ignores invitations of a user")).length, 1);
});

Deno.test("Invitations that the list of autoJoin refuses leave the turns of inviteLimit to others", async () => {
  await using tester = polite({
    autoJoin: ["@admin:localhost"],
    inviteLimit: { count: 1, total: 1, window: "1h" },
  });
  await tester.start();
  const refused = await Promise.all(Array.from({ length: 12 }, () => invited(tester)));
  const invite = [tester.mxid];
  const { room_id } = await tester.request("admin", "POST", "/createRoom", { invite });
  await tester.settle();
  assertEquals(membership(tester, room_id as RoomID), "join");
  assertEquals(refused.map((room) => membership(tester, room)), refused.map(() => "invite"));
});
