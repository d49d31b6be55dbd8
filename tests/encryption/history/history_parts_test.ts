/** What of a history is shared with whom, with an engine and a server that say what a test wants. */

import { assertEquals, assertRejects } from "@std/assert";
import { MatrixError } from "@greenroom/matrix";
import { MalformedContentError, NotFoundError } from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";
import type { EngineRunner } from "../../../src/actors/crypto/crypto.ts";
import { RESTART_DELAY } from "../../../src/api/http/mod.ts";
import { MAX_BUNDLED } from "../../../src/crypto/history/history.ts";
import type { ExportedSession } from "../../../src/crypto/megolm/mod.ts";
import { type HistoryClient, shareHistory } from "../../../src/encryption/history.ts";
import { answeredBy } from "../../support/answered_by.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";

const ROOM = "!room:localhost", BOB = "@bob:localhost";
const ANSWER = { operation: "getStateEvent", method: "GET", path: "/", status: 404, body: {} } as const;

/** What a test changes. */
interface Scene {
  /** The pages of sessions. */
  readonly pages?: readonly (readonly ExportedSession[])[];
  /** How many devices there are, wait for keys, and are told. */
  readonly devices?: readonly [all: number, waiting: number, told: number];
  /** How often the devices are stale. */
  readonly stale?: number;
  /** Requests that fail, by kind. */
  readonly failing?: Readonly<Record<string, Error>>;
  /** Why the server does not say who may read. */
  readonly visibility?: Error;
  /** How long to wait before what failed begins again, each time. */
  readonly waits?: readonly number[];
}

function session(id: string, change: Partial<ExportedSession> = {}): ExportedSession {
  const content = { room_id: ROOM, session_id: id, session_key: id, sender_key: id } as const;
  return { content, senderEd25519: id, source: "direct", sharedHistory: true, firstIndex: 0, ...change };
}

/** Shares a history, and tells what was asked for. */
async function shared(scene: Scene = {}) {
  const { pages = [[session("one")]], devices: [all, waiting, told] = [1, 0, 1], failing = {} } = scene;
  let { stale = 0 } = scene;
  const left = [...pages];
  const waits = [...scene.waits ?? []];
  const asked: string[] = [];
  const queries: unknown[] = [];
  let bundled = 0;
  const answers: Record<string, (input: never) => unknown> = {
    exportSessions(query: { readonly limit: number; readonly after?: unknown }) {
      queries.push(query.after);
      if (query.limit === 1) return { sessions: [], last: pages.length === 0 ? undefined : "first" };
      const sessions = left.shift() ?? [];
      return { sessions, last: left.length === 0 ? undefined : `page ${pages.length - left.length}` };
    },
    areDevicesStale: () => stale-- > 0,
    historyRecipients: () => ({ isVerified: true, devices: all, waiting }),
    discardGroupSession: () => void asked.push("discard"),
    offerHistory: () => told,
  };
  const actor = answeredBy((kind, input) => Promise.resolve(answers[kind]?.(input as never)));
  const log = recordingLogger();
  const engine = {
    ...{ actor, log, clock: new TestClock(), signal: new AbortController().signal },
    open: () => Promise.resolve(),
    http: { [RESTART_DELAY]: () => waits.shift() },
    requests: {
      wake: () => {},
      round: (kind: string) =>
        Promise.resolve(void asked.push(kind)).then(() => ({ failure: failing[kind] })),
    },
  } as unknown as EngineRunner;
  const api = {
    getStateEvent: () =>
      scene.visibility ? Promise.reject(scene.visibility) : Promise.resolve({ history_visibility: "shared" }),
    uploadMedia: ({ length }: Uint8Array) =>
      Promise.resolve("mxc://localhost/file" as const).finally(() => bundled = length),
  } as unknown as HistoryClient["api"];
  const { outcome, keys, devices } = await shareHistory(engine, { api }, { roomId: ROOM, userId: BOB });
  const warned = log.lines.some(([level]) => level === "warn");
  return { said: [outcome, keys, devices], asked, queries, warned, bundled };
}

Deno.test("A history is shared page by page, without what its makers have not allowed", async () => {
  const pages = [[session("one"), session("two", { sharedHistory: false })], [session("three")]];
  const { said, asked, queries, warned } = await shared({ pages });
  assertEquals(said, ["shared", 2, 1]);
  assertEquals(asked, ["discard", "toDevice"]);
  assertEquals([queries, warned], [[undefined, undefined, "page 1"], false]);
});

Deno.test("Of a history with too many keys a part is shared, and that is logged", async () => {
  const many = Array.from({ length: MAX_BUNDLED }, (_, index) => session(`${index}`));
  const { said, queries, warned } = await shared({ pages: [many, [session("more")]] });
  assertEquals([said, queries.length, warned], [["shared", MAX_BUNDLED, 1], 2, true]);
  // Which goes to nobody, and takes no place.
  const weak = many.map((each) => ({ ...each, source: "backup" } as const));
  const other = await shared({ pages: [weak, [session("more")]] });
  assertEquals([other.said, other.warned], [["shared", 1, 1], false]);
});

Deno.test("With a user without devices, or of whom none can be told, nothing is shared", async () => {
  const without = await shared({ devices: [0, 0, 0] });
  assertEquals([without.said, without.asked, without.bundled], [["no-devices", 0, 0], [], 0]);
  const untold = await shared({ devices: [1, 0, 0] });
  assertEquals([untold.said, untold.asked], [["no-devices", 0, 0], ["discard"]]);
});

Deno.test("A room whose history the server does not say to be readable shares none; why it can't say is an error", async () => {
  const malformed = new MalformedContentError("no visibility" as never, [] as never);
  for (const visibility of [new NotFoundError(ANSWER), malformed]) {
    assertEquals((await shared({ visibility })).said, ["not-readable", 0, 0]);
  }
  await assertRejects(() => shared({ visibility: new MatrixError("not now") }), MatrixError, "not now");
});

Deno.test("A user's devices are looked up three times at most, and keys claimed for those that wait for some", async () => {
  const { said, asked } = await shared({ stale: 9 });
  assertEquals([said[0], asked.filter((kind) => kind.startsWith("keys"))], [
    "shared",
    Array(3).fill("keysQuery"),
  ]);
  const failure = new MatrixError("not now");
  await assertRejects(() => shared({ stale: 1, failing: { keysQuery: failure } }), MatrixError, "not now");
  const failing = { keysClaim: failure };
  assertEquals((await shared({ devices: [2, 1, 1], failing })).said, ["shared", 1, 1]);
  await assertRejects(() => shared({ devices: [2, 2, 0], failing }), MatrixError, "not now");
  const { asked: again } = await shared({ devices: [2, 1, 1], failing, waits: [0] });
  assertEquals(again.filter((kind) => kind === "keysClaim").length, 2);
});
