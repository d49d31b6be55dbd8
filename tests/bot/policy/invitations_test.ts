import { assert, assertEquals } from "@std/assert";
import type { Client, HandlerContext } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { type Invitation, Invitations } from "../../../src/bot/policy/policy.ts";
import type { Timers } from "../../../src/bot/timers/timers.ts";

const ROOM = "!room:a" as RoomID;
const ALICE = "@alice:a" as UserID;
const EVENT = { room_id: ROOM, sender: ALICE } as Invitation;
const NOW = 1_000;

/** A join that goes on. */
interface Join {
  readonly signal: AbortSignal;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
}

/** Invitations of a client whose joins end when they are let go; what is noted and when it is tried again. */
function scene(limit?: false | { readonly count: number }) {
  const joins: Join[] = [];
  const timers: number[] = [];
  const noted: (string | undefined)[] = [];
  const warned: unknown[] = [];
  const client = {
    api: { clock: { now: () => NOW } },
    log: { info: () => {}, warn: (_message: string, data: unknown) => void warned.push(data) },
    sessions: {
      update: (_session: unknown, _room: RoomID, change: () => { inviter: { by: string } }) =>
        Promise.resolve(void noted.push(change().inviter.by)),
      end: () => Promise.resolve(void noted.push(undefined)),
    },
    joinRoom: (_room: RoomID, { signal }: { signal: AbortSignal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      joins.push({ signal, end: resolve, fail: reject });
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    },
  } as unknown as Client;
  const context = { settle: () => Promise.resolve() } as unknown as HandlerContext;
  const keeper = {
    add: (_context: unknown, due: number) => void timers.push(due),
    wake: () => {},
  } as unknown as Timers;
  const invitations = new Invitations(client, keeper, limit);
  const accept = (turn = NOW) => invitations.accept(EVENT, turn, context);
  return { invitations, accept, joins, timers, noted, warned };
}

const later = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("An invitation whose turn is now is accepted now, and one whose turn is later then", async () => {
  const now = scene();
  const accepted = now.accept();
  await later();
  now.joins[0]?.end();
  assertEquals([await accepted, now.timers, now.noted], [true, [], [ALICE]]);
  const then = scene();
  assertEquals([await then.accept(NOW + 1), then.timers, then.joins.length], [false, [NOW + 1], 0]);
});

Deno.test("Without a limit every invitation has its turn now; with the default one fifty of a user have", () => {
  for (const [limit, expected] of [[false, 60], [undefined, 50]] as const) {
    const { invitations } = scene(limit);
    const turns = Array.from({ length: 60 }, () => invitations.turnOf(ALICE));
    assertEquals(turns.filter((turn) => turn === NOW).length, expected);
  }
});

Deno.test("That invitations of a user are not accepted is said once, and nothing of those that wait", () => {
  const { invitations, warned } = scene({ count: 1 });
  const turns = (count: number) => Array.from({ length: count }, () => invitations.turnOf(ALICE));
  assert(turns(11).every((turn) => turn !== undefined));
  assertEquals(warned, []);
  assertEquals(turns(3), [undefined, undefined, undefined]);
  assertEquals(warned, [{ user: ALICE }]);
});

Deno.test("A join ends when its invitation is withdrawn: its inviter is forgotten, and it is not tried again", async () => {
  const { invitations, accept, joins, timers, noted } = scene();
  const accepted = accept();
  await later();
  await invitations.left(ROOM);
  assertEquals([await accepted, joins[0]?.signal.aborted, timers, noted], [
    false,
    true,
    [],
    [ALICE, undefined],
  ]);
});

Deno.test("An invitation that is withdrawn while its inviter is noted is not accepted", async () => {
  const { invitations, accept, joins, timers, noted } = scene();
  const accepted = accept();
  await invitations.left(ROOM);
  await later();
  for (const { signal } of joins) assert(signal.aborted);
  assertEquals([await accepted, timers, noted], [false, [], [ALICE, undefined]]);
});

Deno.test("A newer invitation into a room ends the join of the older one, and takes its place", async () => {
  const { invitations, accept, joins, timers, noted } = scene();
  const older = accept();
  await later();
  const newer = accept();
  assert(!await older);
  await later();
  assertEquals([joins.map(({ signal }) => signal.aborted), noted], [[true, false], [ALICE, ALICE]]);
  await invitations.left(ROOM);
  assertEquals([await newer, timers, noted], [false, [], [ALICE, ALICE, undefined]]);
});

Deno.test("A join that has ended is not ended again", async () => {
  const { invitations, accept, joins } = scene();
  const accepted = accept();
  await later();
  joins[0]?.end();
  await accepted;
  await invitations.left(ROOM);
  assert(!joins[0]?.signal.aborted);
});
