import { assert, assertEquals } from "@std/assert";
import { type Client, defineSession } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { ENCRYPTED } from "./support/encrypted_room.ts";
import { CountingStore } from "./support/counting_store.ts";
import { type ClientStage, clientStage } from "./support/stage.ts";
import { EVERYBODY } from "../support/everybody.ts";

/** Long enough for no sign of life to be due while it is counted, in milliseconds. */
const LEASE = 600_000;

/** What something has cost the bot. */
interface Cost {
  /** What each commit changed. */
  readonly commits: readonly string[];
  /** How many requests were made, but for syncs. */
  readonly requests: number;
  /** How many syncs were answered. */
  readonly syncs: number;
}

interface Scene extends AsyncDisposable {
  readonly stage: ClientStage;
  readonly alice: Client;
  readonly bot: Client;
  readonly roomId: RoomID;
  /** What something costs the bot. */
  cost(work: () => Promise<unknown>): Promise<Cost>;
}

/** A bot in a room with Alice, in which both have spoken: what is done once is over. */
async function scene({ encrypted }: { readonly encrypted: boolean }): Promise<Scene> {
  const stage = clientStage();
  const store = new CountingStore();
  const alice = stage.client("alice", { encryption: encrypted && EVERYBODY });
  const bot = stage.client("bot", { encryption: encrypted && EVERYBODY, store, lease: { duration: LEASE } });
  for (const client of [alice, bot]) client.start();
  await stage.settle();
  const roomId = await alice.createRoom({
    invitees: ["@bot:localhost"],
    initialState: encrypted ? ENCRYPTED : [],
  });
  await bot.joinRoom(roomId);
  await stage.settle();
  for (const client of [alice, bot, alice, bot]) {
    await client.sendText(roomId, "Hello");
    await stage.settle();
  }
  await stage.clock.tick(30_000); // what waits for a commit gets one
  await stage.settle();
  const { requests } = stage.homeserver;
  const cost = async (work: () => Promise<unknown>): Promise<Cost> => {
    store.take();
    requests.clear();
    await work();
    await stage.settle();
    const own = [...requests].filter(({ user }) => user === "@bot:localhost");
    const syncs = own.filter(({ path }) => path.endsWith("/sync"));
    return {
      commits: store.take(),
      requests: own.length - syncs.length,
      syncs: syncs.length, // each begins when the one before has been answered
    };
  };
  return { stage, alice, bot, roomId, cost, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

/**
 * What has been handled is noted with whatever is committed next:
 * the position, and which events rooms have shown.
 */
const withoutSync = (commits: readonly string[]): string[] =>
  commits.map((kinds) => kinds.replace(/ ?\bsync$/, "").replace(/ ?\bshown$/, ""));

for (const encrypted of [false, true]) {
  const kind = encrypted ? "an encrypted" : "a plain";

  Deno.test(`In ${kind} room, syncs that bring nothing commit nothing`, async () => {
    await using here = await scene({ encrypted });
    const { commits, requests, syncs } = await here.cost(() => here.stage.clock.tick(120_000));
    assertEquals([commits, requests, syncs >= 3], [[], 0, true]);
  });

  Deno.test(`In ${kind} room, a sync with messages costs one commit, and no requests`, async () => {
    await using here = await scene({ encrypted });
    const heard: string[] = [];
    here.bot.on("m.room.message", ({ content }) => void heard.push(content.body));
    for (let count = 1; count <= 5; count++) {
      const { commits, requests, syncs } = await here.cost(() => here.alice.sendText(here.roomId, "Line"));
      assertEquals(withoutSync(commits), encrypted ? ["crypto/replay"] : [""]);
      assertEquals([requests, syncs, heard.length], [0, 1, count]);
    }
  });

  Deno.test(`In ${kind} room, many messages in one sync cost no more commits than one`, async () => {
    await using here = await scene({ encrypted });
    const heard: string[] = [];
    here.bot.on("m.room.message", ({ content }) => void heard.push(content.body));
    const { stage: { homeserver } } = here;
    const hold = homeserver.faults.add({
      kind: "hold-after",
      match: { path: "/sync", user: "@bot:localhost" },
      times: 1,
    });
    const { commits, syncs } = await here.cost(async () => {
      for (let count = 0; count < 8; count++) await here.alice.sendText(here.roomId, "Line");
      hold.release();
    });
    assertEquals(heard.length, 8);
    assert(syncs <= 3); // one brings the first message, one was on its way, and one brings the rest
    assert(commits.length <= syncs, commits.join("; "));
  });

  Deno.test(`In ${kind} room, a message that is sent costs a request and ${encrypted ? "one commit" : "no commit"}`, async () => {
    await using here = await scene({ encrypted });
    for (let count = 0; count < 5; count++) {
      const { commits, requests, syncs } = await here.cost(() => here.bot.sendText(here.roomId, "Line"));
      // As any message that comes, and it has arrived.
      const echo = encrypted ? ["crypto/outbound_session crypto/replay"] : [""];
      const sending = encrypted ? ["crypto/outbound_session"] : [];
      assertEquals([withoutSync(commits), requests, syncs], [[...sending, ...echo], 1, 1]);
    }
  });

  Deno.test(`In ${kind} room, handlers that change sessions cost one commit for all that settle together`, async () => {
    await using here = await scene({ encrypted });
    for (const name of ["one", "two", "three"]) {
      const session = defineSession({ name, per: "room", initial: () => ({ heard: 0 }) });
      here.bot.on("m.room.message", (_, ctx) => void ctx.session.heard++, { session });
    }
    await here.cost(() => here.alice.sendText(here.roomId, "Line")); // they are read
    const { commits } = await here.cost(() => here.alice.sendText(here.roomId, "Line"));
    const expected = [encrypted ? "crypto/replay" : "", "session settled"];
    assertEquals(withoutSync(commits), expected);
  });

  Deno.test(`In ${kind} room, a handler that reads its session and leaves it costs no commit`, async () => {
    await using here = await scene({ encrypted });
    const session = defineSession({ name: "idle", per: "room", initial: () => ({ heard: 0 }) });
    here.bot.on("m.room.message", (_, ctx) => void ctx.session.heard, { session });
    const { commits } = await here.cost(() => here.alice.sendText(here.roomId, "Line"));
    assertEquals(withoutSync(commits), [encrypted ? "crypto/replay" : ""]);
  });
}
