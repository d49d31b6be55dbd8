import { assertEquals, assertRejects } from "@std/assert";
import { NetworkError } from "@greenroom/matrix";
import type { Client } from "@greenroom/matrix";
import { BadStateError, MatrixRequestError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { joinLate, JoinQueue, nextJoin } from "../../../src/bot/policy/policy.ts";

const DAY = 86_400_000;
const ROOM = "!room:a" as RoomID;

function refused(status: number, retryAfter?: number): MatrixRequestError {
  return new MatrixRequestError(refusal(status, retryAfter));
}

function refusal(status: number, retryAfter?: number) {
  const about = { operation: "join", method: "POST", path: "/join" };
  return { ...about, status, body: { errcode: "M_OTHER" }, retryAfter };
}

Deno.test("While the homeserver is away, it is tried again for a month: ever more seldom, or when the server says", () => {
  const away = new NetworkError("Cannot join: away");
  const waits = [0, 20_000, DAY, 30 * DAY - 1, 30 * DAY].map((tried) => nextJoin(away, tried));
  assertEquals(waits, [5_000, 10_000, 3_600_000, 3_600_000, undefined]);
  assertEquals([502, 429].map((status) => nextJoin(refused(status), 0)), [5_000, 5_000]);
  const asked = [1_000, 20_000, DAY].map((retryAfter) => nextJoin(refused(429, retryAfter), 0));
  assertEquals(asked, [5_000, 20_000, 3_600_000]);
});

Deno.test("A server that may not have heard of the invitation is asked again for five minutes", () => {
  for (const status of [403, 404]) {
    const waits = [0, 20_000, 299_999, 300_000].map((tried) => nextJoin(refused(status), tried));
    assertEquals(waits, [1_000, 10_000, 149_999.5, undefined]);
  }
});

Deno.test("What else refuses refuses for good", () => {
  const banned = new BadStateError(refusal(403));
  const others = [refused(400), refused(401), banned, Object.assign(new Error(), { status: 403 }), undefined];
  assertEquals(others.map((error) => nextJoin(error, 0)), others.map(() => undefined));
});

Deno.test("A join that the client has given up since the homeserver is away is not begun again", async () => {
  const away = new NetworkError("Cannot join: away");
  let tries = 0;
  const joinRoom = () => Promise.reject(tries++ === 0 ? away : new Error("It was tried again"));
  const clock = { now: () => 0, delay: () => Promise.resolve() };
  const client = { joinRoom, api: { clock } } as unknown as Client;
  assertEquals(await assertRejects(() => joinLate(client, ROOM, {})), away);
});

/** Joins that end when they are let go. */
class Joins {
  readonly queue = new JoinQueue();
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];

  add(inviter: string): void {
    void this.queue.run(inviter, () => {
      this.begun.push(inviter);
      return new Promise<void>((end) => this.#ends.push(end));
    });
  }

  /** Ends the one that was begun first. */
  async end(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
  }
}

Deno.test("Two joins of one inviter go on at a time, and others do not wait for them", async () => {
  const joins = new Joins();
  for (const inviter of ["a", "a", "a", "a", "b"]) joins.add(inviter);
  await Promise.resolve();
  assertEquals(joins.begun, ["a", "a", "b"]);
  await joins.end();
  assertEquals(joins.begun, ["a", "a", "b", "a"]);
  await joins.end();
  assertEquals(joins.begun, ["a", "a", "b", "a", "a"]);
});

Deno.test("Fifty joins go on at a time", async () => {
  const joins = new Joins();
  for (let n = 0; n < 60; n++) joins.add(`user ${n}`);
  await Promise.resolve();
  assertEquals(joins.begun.length, 50);
  await joins.end();
  assertEquals(joins.begun.length, 51);
});
