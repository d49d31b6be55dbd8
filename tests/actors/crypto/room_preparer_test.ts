import { RESTART_DELAY } from "../../../src/api/http/mod.ts";
import {
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import type { OutgoingRequests, RoundOutcome } from "../../../src/actors/crypto/outgoing_requests.ts";
import type { CryptoHandlers } from "../../../src/actors/crypto/crypto.ts";
import type { OnNewRecipient } from "@greenroom/matrix";
import type { ShareReport } from "@greenroom/matrix/types";
import { EncryptionError, NetworkError, NotFoundError } from "@greenroom/matrix/errors";
import { roomDescriber, RoomPreparer } from "../../../src/actors/crypto/room_preparer.ts";
import type { RoomDescription } from "../../../src/crypto/sharing/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { rejectionOf } from "../kernel/support.ts";
import { answeredBy } from "../../support/answered_by.ts";

const ROOM = "!room:a";
const DESCRIBED = { roomId: ROOM, encryption: {}, historyVisibility: undefined, members: [] } as const;
const NOTHING: Step = { needs: "nothing" };

/** What the engine says that a room needs, and how many requests end for it. */
interface Step {
  readonly needs: string;
  readonly ended?: number;
  readonly failure?: Error;
  readonly users?: readonly { readonly userId: string }[];
}

/** An engine that needs one thing after the other, then nothing. */
function stage(
  steps: (step: number) => Step,
  describe: () => Promise<RoomDescription> = () => Promise.resolve(DESCRIBED),
  onNewRecipient?: OnNewRecipient,
) {
  const asked: Record<string, unknown>[] = [];
  let outcome: RoundOutcome = { ended: 0, failure: undefined };
  const here = {
    asked,
    rounds: [] as unknown[],
    described: 0,
    lastFailure: undefined as unknown,
    clock: new TestClock(),
    stopping: new AbortController(),
  };
  const actor = answeredBy<CryptoHandlers>(async (kind, body) => {
    if (kind === "describeRoom") return here.described++;
    const { needs, ended = 1, failure, users } = steps(asked.push(body) - 1);
    outcome = { ended, failure };
    await Promise.resolve();
    return needs === "nothing"
      ? { needs, share: { sessionId: `${body.since}` } }
      : { needs, users, sessionId: "of the room" };
  });
  const round = (...kind: unknown[]): Promise<RoundOutcome> => {
    here.rounds.push(kind);
    return Promise.resolve(outcome);
  };
  const http = {
    [RESTART_DELAY]: (error: unknown, restarts: number) =>
      error instanceof NetworkError && restarts < 2 ? 100 * (restarts + 1) : undefined,
  };
  const options = { actor, describe, onNewRecipient, http, clock: here.clock };
  const lastFailure = () => here.lastFailure;
  const requests = { round, lastFailure, signal: here.stopping.signal } as unknown as OutgoingRequests;
  return Object.assign(here, { rooms: new RoomPreparer(options, requests) });
}

const inTurn = (...steps: Step[]) => (step: number) => steps[step] ?? NOTHING;

Deno.test("A call during the preparation of a room shares it, unless it needs newer data", async () => {
  const sessions: [first: number | undefined, second: number | undefined, session: string, asks: number][] = [
    [5, 5, "5", 1],
    [5, 4, "5", 1],
    [5, undefined, "5", 1],
    [undefined, undefined, "undefined", 1],
    [5, 6, "6", 2],
    [undefined, 1, "1", 2],
  ];
  for (const [first, second, session, asks] of sessions) {
    const here = stage(() => NOTHING);
    const reports = [here.rooms.prepare(ROOM, first), here.rooms.prepare(ROOM, second)];
    const [before, after] = await Promise.all(reports) as [ShareReport, ShareReport];
    assertEquals([before.sessionId, after.sessionId], [`${first}`, session]);
    assertEquals(here.asked.length, asks);
  }
});

for (const needs of ["keysQuery", "keysClaim"]) {
  Deno.test(`After three rounds of ${needs} a room is made ready without what they did not bring`, async () => {
    const here = stage(inTurn(...Array.from({ length: 4 }, () => ({ needs }))));
    await here.rooms.prepare(ROOM);
    const tolerated = here.asked.map(({ tolerate }) => tolerate);
    const yes = { keysQuery: needs === "keysQuery", keysClaim: needs === "keysClaim" };
    const no = { keysQuery: false, keysClaim: false };
    assertEquals(tolerated, [no, no, no, yes, yes]);
  });

  Deno.test(`Nothing to wait for twice in a row is a failure of ${needs}; once, or in between, is not`, async () => {
    const rounds = (...ended: number[]) => stage(inTurn(...ended.map((ended) => ({ needs, ended }))));
    for (const ended of [[0], [0, 1], [1, 0], [0, 1, 0], [1, 1, 0]]) {
      assertEquals((await rounds(...ended).rooms.prepare(ROOM)).sessionId, "undefined");
    }
    for (const ended of [[0, 0], [1, 0, 0]]) {
      const error = await rejectionOf(rounds(...ended).rooms.prepare(ROOM));
      assertStringIncludes((error as Error).message, "; try again");
      assertFalse(Object.hasOwn(error as Error, "cause"));
    }
  });
}

Deno.test("That a request is not due again yet is explained by why it failed before", async () => {
  const here = stage(inTurn({ needs: "keysQuery", ended: 0 }, { needs: "keysQuery", ended: 0 }));
  here.lastFailure = new TypeError("down");
  assertStrictEquals((await rejectionOf(here.rooms.prepare(ROOM)) as Error).cause, here.lastFailure);
});

Deno.test("What failed before, and is not due again yet, begins again after a wait, as what fails now does", async () => {
  const idle = { needs: "keysClaim", ended: 0 };
  const here = stage(inTurn(idle, idle));
  here.lastFailure = new NetworkError("The connection failed");
  const prepared = here.rooms.prepare(ROOM);
  await here.clock.tick(99);
  assertEquals(here.asked.length, 2);
  await here.clock.tick(1);
  assertEquals((await prepared).sessionId, "undefined");
  assertEquals(here.asked.map(({ hasWaited }) => hasWaited), [false, false, true]);
});

Deno.test("Only of messages to devices do those of the room's session count, however few have ended", async () => {
  const kinds = ["keysUpload", "keysUpload", "keysQuery", "keysClaim", "toDevice", "toDevice"];
  const ended = (needs: string) => needs.startsWith("keysQ") || needs.startsWith("keysC") ? 1 : 0;
  const here = stage(inTurn(...kinds.map((needs) => ({ needs, ended: ended(needs) }))));
  await here.rooms.prepare(ROOM);
  const sessions = kinds.map((kind) => [kind, kind === "toDevice" ? "of the room" : undefined]);
  assertEquals(here.rounds, sessions);
});

Deno.test("A room that never gets ready is given up after ten thousand steps", async () => {
  const here = stage(() => ({ needs: "room" }));
  await assertRejects(() => here.rooms.prepare(ROOM), EncryptionError, "too many steps");
  assertEquals([here.asked.length, here.described], [10_000, 10_000]);
});

Deno.test("A room that is not encrypted is reported as such, and its members are not requested", async () => {
  const notEncrypted = new EncryptionError("the room is not encrypted");
  const down = new TypeError("down");
  const failing = (error: Error) =>
    stage(inTurn({ needs: "room" }), () => Promise.reject(error)).rooms.prepare(ROOM);
  assertStrictEquals(await rejectionOf(failing(notEncrypted)), notEncrypted);
  const error = await rejectionOf(failing(down));
  assertStrictEquals((error as Error).cause, down);
  assertInstanceOf(error, EncryptionError);
});

for (const needs of ["keysUpload", "keysQuery", "keysClaim", "toDevice"]) {
  Deno.test(`A room is not ready if ${needs} fails, and rejects with that cause`, async () => {
    const failure = new TypeError("down");
    const here = stage(inTurn({ needs, failure }));
    const error = await rejectionOf(here.rooms.prepare(ROOM));
    assertInstanceOf(error, EncryptionError);
    assertStrictEquals(error.cause, failure);
    assertEquals(here.asked.length, 1);
  });
}

const lost = () => new NetworkError("The connection failed");

for (const needs of ["keysUpload", "keysClaim"]) {
  Deno.test(`A failed ${needs} begins again as often, and after the waits, as it may`, async () => {
    const failures = (count: number) => Array.from({ length: count }, () => ({ needs, failure: lost() }));
    const here = stage(inTurn(...failures(2)));
    const prepared = here.rooms.prepare(ROOM);
    await here.clock.tick(99);
    assertEquals(here.asked.length, 1);
    await here.clock.tick(1);
    assertEquals(here.asked.length, 2);
    await here.clock.tick(199);
    assertEquals(here.asked.length, 2);
    await here.clock.tick(1);
    await prepared;
    assertEquals(here.asked.map(({ hasWaited }) => hasWaited), [false, true, true]);

    const given = stage(inTurn(...failures(3)));
    const error = rejectionOf(given.rooms.prepare(ROOM));
    await given.clock.tick(300);
    assertInstanceOf((await error as Error).cause, NetworkError);
    assertEquals(given.asked.length, 3);
  });

  Deno.test(`The end of all requests ends the wait for ${needs} with why it failed`, async () => {
    const failure = lost();
    const here = stage(inTurn({ needs, failure }));
    const error = rejectionOf(here.rooms.prepare(ROOM));
    await here.clock.tick(50);
    here.stopping.abort(new RangeError("stopped"));
    assertStrictEquals((await error as Error).cause, failure);
    assertEquals([here.asked.length, here.clock.pending], [1, 0]);
  });
}

Deno.test("Each kind of request has restarts of its own, and none of them makes a room ready without devices", async () => {
  const rounds = [
    ...Array.from({ length: 2 }, () => [
      { needs: "keysQuery" },
      { needs: "keysQuery" },
      { needs: "keysUpload", failure: lost() },
      { needs: "keysClaim", failure: lost() },
    ]).flat(),
    { needs: "keysQuery" },
    { needs: "keysQuery", ended: 0 },
    { needs: "keysClaim", failure: lost() },
  ];
  const here = stage(inTurn(...rounds));
  const error = rejectionOf(here.rooms.prepare(ROOM));
  await here.clock.tick(600);
  assertInstanceOf((await error as Error).cause, NetworkError);
  assertEquals(here.asked.length, rounds.length);
  const no = { keysQuery: false, keysClaim: false };
  assertEquals(here.asked.map(({ tolerate }) => tolerate), rounds.map(() => no));
});

Deno.test("A new recipient gets the key unless onNewRecipient says no", async () => {
  const users = [{ userId: "@b:a" }];
  for (const answer of [undefined, true, false]) {
    const onNewRecipient = answer === undefined ? undefined : () => Promise.resolve(answer);
    const here = stage(inTurn({ needs: "approval", users }), undefined, onNewRecipient as OnNewRecipient);
    const prepared = here.rooms.prepare(ROOM);
    if (answer === false) {
      await assertRejects(() => prepared, EncryptionError, "did not let @b:a have its key");
    } else await prepared;
    assertEquals(
      here.asked.map(({ approved }) => approved),
      answer === false ? [undefined] : [undefined, users],
    );
  }
});

Deno.test("A room is described by the server: its members, its history visibility, and its encryption unless known", async () => {
  const member = (userId: string, membership: string) => ({ state_key: userId, content: { membership } });
  const describe = roomDescriber(
    {
      getMembers: () =>
        Promise.resolve([member("@a:a", "join"), member("@b:a", "invite"), member("@c:a", "ban")] as never),
      getStateEvent: (_roomId: string, type: unknown) =>
        type === "m.room.history_visibility"
          ? Promise.resolve({ history_visibility: "joined" } as never)
          : Promise.reject(new Error("known already")),
    },
    { getEncryptionInfo: () => Promise.resolve({ algorithm: "m" }) },
  );
  assertEquals(await describe("!room:a"), {
    roomId: "!room:a",
    encryption: { algorithm: "m" },
    historyVisibility: { history_visibility: "joined" },
    members: [{ userId: "@a:a", membership: "join" }, { userId: "@b:a", membership: "invite" }],
  });
});

Deno.test("A room that the server says is not encrypted is described as such; a failure to find out is a failure", async () => {
  const failing = (error: Error) =>
    roomDescriber(
      { getMembers: () => Promise.resolve([]), getStateEvent: () => Promise.reject(error) },
      { getEncryptionInfo: () => Promise.resolve(undefined) },
    );
  const init = { operation: "get", method: "GET", path: "/", status: 404, body: { errcode: "M_NOT_FOUND" } };
  const { encryption } = await failing(new NotFoundError(init as never))("!room:a");
  assertEquals(encryption, undefined);
  await assertRejects(() => failing(new TypeError("down"))("!room:a"), TypeError, "down");
  const odd = roomDescriber(
    { getMembers: () => Promise.resolve([]), getStateEvent: () => Promise.resolve(["m"] as never) },
    { getEncryptionInfo: () => Promise.resolve(undefined) },
  );
  assertEquals((await odd("!room:a")).encryption, undefined);
});
