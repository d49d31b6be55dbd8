import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { clientStage } from "../support/stage.ts";

/** A way to the server on which answers can be held back. */
class HeldAnswers {
  /** Paths of the requests whose answers are held back. */
  path: RegExp | undefined;
  /** How many are. */
  held = 0;
  readonly #released = Promise.withResolvers<void>();
  readonly #fetch: typeof globalThis.fetch;

  constructor(fetch: typeof globalThis.fetch) {
    this.#fetch = fetch;
  }

  readonly fetch: typeof globalThis.fetch = async (...[input, init]) => {
    const request = new Request(input, init);
    const isHeld = this.path?.test(decodeURIComponent(new URL(request.url).pathname)) === true;
    const answer = await this.#fetch(request);
    if (isHeld) {
      this.held++;
      await this.#released.promise;
    }
    return answer;
  };

  release(): void {
    this.#released.resolve();
  }
}

interface LateAnswer {
  readonly path: RegExp;
  readonly ask: (bot: Client, room: RoomID) => Promise<unknown>;
}

const CAROL: UserID = "@carol:localhost";

const OPERATIONS: Record<string, LateAnswer> = {
  "getMembers()": { path: /\/members$/, ask: (bot, room) => bot.getMembers(room) },
  "getMembers() of one membership": {
    path: /\/members$/,
    ask: (bot, room) => bot.getMembers(room, { membership: "join" }),
  },
  "getMembers() without one membership": {
    path: /\/members$/,
    ask: (bot, room) => bot.getMembers(room, { notMembership: "ban" }),
  },
  "getJoinedMembers()": { path: /\/joined_members$/, ask: (bot, room) => bot.getJoinedMembers(room) },
  "getState()": { path: /\/state$/, ask: (bot, room) => bot.getState(room) },
  "getStateEvent()": {
    path: /\/state\/m\.room\.topic/,
    ask: (bot, room) => bot.getStateEvent(room, "m.room.topic"),
  },
  "getStateEvent() of a whole event": {
    path: /\/state\/m\.room\.topic/,
    ask: (bot, room) => bot.getStateEvent(room, "m.room.topic", { format: "event" }),
  },
  "sendStateEvent()": {
    path: /\/state\/m\.room\.topic/,
    ask: (bot, room) => bot.sendStateEvent(room, "m.room.topic", { topic: "sent" }),
  },
};

for (const [name, { path, ask }] of Object.entries(OPERATIONS)) {
  for (const store of [undefined, new MemoryStore()]) {
    const where = store === undefined ? "in memory" : "with a store";
    Deno.test(`What syncs have changed stays when ${name} is answered late, ${where}`, async () => {
      await using here = clientStage();
      const alice = here.client("alice");
      const carol = here.client("carol");
      const way = new HeldAnswers(here.homeserver.fetch);
      const bot = here.client("bot", { fetch: way.fetch, ...(store && { store }) });
      const room = await alice.createRoom({
        preset: "public_chat",
        powerLevelContentOverride: { state_default: 0, events: {} },
      });
      const leaver = here.client("dave");
      await bot.joinRoom(room);
      await leaver.joinRoom(room);
      await alice.sendStateEvent(room, "m.room.topic", { topic: "old" });
      await bot.syncOnce();
      way.path = path;
      const answered = ask(bot, room);
      await here.until(() => way.held === 1);
      await carol.joinRoom(room);
      await leaver.leaveRoom(room);
      await alice.sendStateEvent(room, "m.room.topic", { topic: "new" });
      await bot.syncOnce();
      way.release();
      await answered;
      const { stateStore } = bot;
      assertEquals((await stateStore.getState(room, "m.room.topic"))?.content, { topic: "new" });
      assert(await stateStore.isJoined(room, CAROL));
      assertEquals(await stateStore.getMembership(room, "@dave:localhost"), "leave");
      assert(await stateStore.isJoined(room, "@alice:localhost"));
      // The next request begins anew.
      way.path = undefined;
      await carol.leaveRoom(room);
      await bot.getState(room);
      assertEquals(await stateStore.getMembership(room, CAROL), "leave");
    });
  }
}
