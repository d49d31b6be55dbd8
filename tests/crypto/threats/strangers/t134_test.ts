/**
 * A stranger invites a bot into thousands of rooms:
 * all are joined at once, and each is a join over federation that the stranger's server can draw out.
 *
 * What must hold: only so many joins go on at a time, and so few for one inviter that nobody else waits for
 * them; of one user, and of all, only so many invitations are accepted in a time, in their order. Those that
 * wait do so over restarts, and no more than a bounded number.
 *
 * The class of mistake: what others can begin without end is begun at once, since it is no message.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import { InviteLimiter } from "../../../../src/bot/policy/policy.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { trying } from "../../../bot/support.ts";

const HOUR = 3_600_000;
const HOMESERVER = "https://localhost";

/** A homeserver that passes on invitations of made-up rooms, and joins them when the test lets it. */
class Flooded {
  readonly tester: BotTester;
  /** The rooms whose join was asked for, in order. */
  readonly joined: string[] = [];
  readonly told: string[] = [];
  inFlight = 0;
  mostInFlight = 0;
  /** Joins that do not end, by the beginning of the room's ID. */
  hanging = "";
  readonly #waiting: Record<string, JsonObject> = {};

  constructor(options: Partial<BotOptions> = {}) {
    this.tester = trying((bot) => {
      bot.on("invite", async (c) => {
        if (options.autoJoin === false) await c.join();
        this.told.push(c.roomId);
      });
    }, { ...options, fetch: (input, init) => this.#fetch(new Request(input, init)) });
  }

  /** Has a user invite into rooms with the next sync. */
  async invite(user: string, count: number, from = 0): Promise<void> {
    const sender = `@${user}:elsewhere.example`;
    for (let n = from; n < from + count; n++) {
      const content = { membership: "invite" };
      const event = { type: "m.room.member", sender, state_key: this.tester.mxid, content };
      this.#waiting[`!${user}${n}:elsewhere.example`] = { invite_state: { events: [event] } };
    }
    // Ends the long poll.
    await this.tester.request("waker", "POST", "/createRoom", { invite: [this.tester.mxid] });
    for (let n = 0; n < 30; n++) await this.tester.settle();
  }

  of(user: string): string[] {
    return this.joined.filter((room) => room.startsWith(`!${user}`));
  }

  async #fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const room = decodeURIComponent(/\/join\/([^/]+)$/.exec(pathname)?.[1] ?? "");
    if (room.endsWith(":elsewhere.example")) return await this.#join(room);
    const response = await this.tester.homeserver.fetch(request);
    if (!pathname.endsWith("/sync") || !response.ok) return response;
    const body = await response.json();
    const invite = { ...body.rooms?.invite, ...this.#waiting };
    for (const each of Object.keys(this.#waiting)) delete this.#waiting[each];
    return Response.json({ ...body, rooms: { ...body.rooms, invite } });
  }

  async #join(room: string): Promise<Response> {
    this.joined.push(room);
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    const waits = () => new Promise<void>((resolve) => setTimeout(resolve));
    for (let n = 0; n < 3; n++) await waits();
    while (this.hanging !== "" && room.startsWith(this.hanging)) await waits();
    this.inFlight--;
    return Response.json({ room_id: room });
  }
}

for (const autoJoin of [true, false]) {
  Deno.test(`T134: of 3,000 invitations of one user a few are accepted at a time, and in their order, ${autoJoin ? "by autoJoin" : "by a function"}`, async () => {
    const scene = new Flooded({ autoJoin });
    await using tester = scene.tester;
    await tester.start();
    await scene.invite("mallory", 3_000);
    await tester.until(() => scene.told.length >= 50, "Fifty were to be accepted");
    if (autoJoin) assertEquals(scene.of("mallory").length, 50);
    // Two of hers, and one that woke the bot.
    assert(scene.mostInFlight <= 3, `${scene.mostInFlight} joins at once`);
    assertEquals(
      scene.of("mallory").slice(0, 50),
      Array.from({ length: 50 }, (_, n) => `!mallory${n}:elsewhere.example`),
    );
    await scene.invite("alice", 1);
    await tester.until(() => scene.of("alice").length === 1, "Alice's was to be accepted");
  });
}

Deno.test("T134: those that wait are accepted in their turn, after a restart too, and no more than may wait", async () => {
  const scene = new Flooded({ inviteLimit: { count: 5 } });
  await using tester = scene.tester;
  await tester.start();
  await scene.invite("mallory", 200);
  assertEquals(scene.of("mallory").length, 5);
  assertEquals(tester.logged.filter((line) => line.includes("inviteLimit")).length, 1);
  await tester.restart();
  for (let hour = 1; hour <= 12; hour++) {
    await tester.pass(HOUR);
    const turns = Math.min(5 + 5 * hour, 55);
    await tester.until(() => scene.of("mallory").length >= turns && scene.inFlight === 0, `hour ${hour}`);
    assertEquals(scene.of("mallory").length, turns, `after ${hour} hours`);
  }
  assertEquals(
    new Set(scene.of("mallory").map((room) => Number(/\d+/.exec(room)?.[0]))),
    new Set(Array(55).keys()),
  );
});

Deno.test("T134: nobody waits for the joins that a stranger's server draws out", async () => {
  const scene = new Flooded();
  await using tester = scene.tester;
  await tester.start();
  scene.hanging = "!mallory";
  await scene.invite("mallory", 40);
  assertEquals(scene.of("mallory").length, 2);
  await scene.invite("alice", 40);
  await tester.until(() => scene.of("alice").length === 40, "Alice's were to be accepted");
  assertEquals(scene.of("mallory").length, 2);
  scene.hanging = "";
  await tester.until(() => scene.of("mallory").length === 40, "Mallory's were to be accepted");
});

Deno.test("T134: all users together are limited, too, and without a limit all are accepted, a few at a time", async () => {
  for (const inviteLimit of [{ total: 30 }, false] as const) {
    const scene = new Flooded({ inviteLimit });
    await using tester = scene.tester;
    await tester.start();
    const before = tester.homeserver.requests.filter("POST", /\/join/).length;
    for (let n = 0; n < 20; n++) await scene.invite(`user${n}x`, 10);
    for (let n = 0; n < 100; n++) await tester.settle();
    const woken = tester.homeserver.requests.filter("POST", /\/join/).length - before;
    assertEquals(scene.joined.length + (inviteLimit === false ? 0 : woken), inviteLimit === false ? 200 : 30);
    assert(scene.mostInFlight <= 50, `${scene.mostInFlight} joins at once`);
  }
});

Deno.test("T134: what is remembered of inviters is bounded, and so is how long one may wait", () => {
  const limiter = new InviteLimiter({ count: 2, total: 3, window: 100 });
  const at = (user: string, now: number) => limiter.take(user, now);
  assertEquals([at("a", 1_050), at("a", 1_050), at("a", 1_050), at("b", 1_050)], [
    1_050,
    1_050,
    1_100,
    1_050,
  ]);
  assertEquals(at("b", 1_050), 1_100, "all had three in this window");
  for (let n = 0; n < 100_000; n++) at(`user${n}`, 1_060);
  assertEquals(at("c", 1_060), undefined);
  assertEquals(at("c", 9_000), 9_000);
  assert(Deno.inspect(limiter).length < 10_000);
  const options = { baseUrl: HOMESERVER, accessToken: "t" };
  for (const inviteLimit of [{ count: 0 }, { total: 0.5 }, { window: 0 }, { count: NaN }]) {
    assertThrows(() => new Bot({ ...options, inviteLimit }), ValueError, "inviteLimit");
  }
});
