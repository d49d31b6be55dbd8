import { assert, assertEquals } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import {
  lookAt,
  type ShownEvents,
  spawnStore,
  type StoreHandlers,
  type SyncChange,
  withShown,
} from "../../../src/actors/store/mod.ts";
import type { MatrixEvent, RoomID } from "@greenroom/matrix/types";
import { CountingStore } from "../support/counting_store.ts";
import { message } from "../support/events.ts";

/** A Store in which rooms show events, process after process. */
class Stage {
  readonly kv = new CountingStore();
  readonly #shown = new Map<string, ShownEvents>();
  #store: Actor<StoreHandlers> | undefined;
  #token = 0;
  #events = 0;
  readonly #digits: number;

  /** @param digits How long the IDs of events are: 43 digits are as hashes. */
  constructor(digits = 1) {
    this.#digits = digits;
  }

  async store(): Promise<Actor<StoreHandlers>> {
    if (this.#store !== undefined) return this.#store;
    this.#store = spawnStore({ kv: this.kv });
    await this.#store.open([]);
    return this.#store;
  }

  /** Another process. */
  async restart(): Promise<void> {
    await this.#store?.stop();
    this.#store = undefined;
  }

  /** A response in which each of some rooms shows so many events; it is handled if nothing else is said. */
  async show(rooms: readonly string[], count = 1, { isHandled = true } = {}): Promise<void> {
    const changes = rooms.map((roomId) => {
      const events = Array.from({ length: count }, () => message(this.#newId()));
      const added = lookAt("", events as unknown as MatrixEvent[]).added;
      const shown = withShown(this.#shown.get(roomId) ?? "", added);
      this.#shown.set(roomId, shown);
      return { roomId, membership: "join", state: [], complete: true, lossy: false, shown, added };
    });
    const store = await this.store();
    const nextBatch = `t${++this.#token}`;
    await store.commitSync({ nextBatch, repeated: false, rooms: changes } as unknown as SyncChange);
    if (isHandled) await store.handled(nextBatch);
  }

  #newId(): string {
    return String(++this.#events).padStart(this.#digits, "0");
  }

  /** What was shown last of a room. */
  shown(room: string): ShownEvents | undefined {
    return this.#shown.get(room);
  }

  /** What is known of a room. */
  async known(room: string): Promise<ShownEvents | undefined> {
    const [known] = await (await this.store()).remembered([room as RoomID]);
    return known?.shown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.restart();
  }
}

Deno.test("Events that were shown and handled are known after a restart, and unhandled ones are not", async () => {
  await using here = new Stage();
  await here.show(["!a"], 3);
  await here.show(["!a"]);
  await here.show(["!a"], 2, { isHandled: false });
  await here.restart();
  assertEquals(await here.known("!a"), " $1 $2 $3 $4 ");
  assertEquals(await here.known("!b"), "");
});

Deno.test("The latest events of a room are kept, however many it shows", async () => {
  await using here = new Stage();
  await here.show(["!a"], 1_000);
  await here.restart();
  const known = (await here.known("!a"))?.trim().split(" ") ?? [];
  assert(known.length >= 64);
  assertEquals(known.at(-1), "$1000");
});

for (const before of [1, 20, 60, 200]) {
  for (const since of [0, 1, 20, 60]) {
    Deno.test(`After ${before} small responses, a large one and ${since} small ones, the latest events are known after a restart`, async () => {
      await using here = new Stage(43);
      for (let response = 0; response < before; response++) await here.show(["!a"]);
      await here.show(["!a"], 50);
      for (let response = 0; response < since; response++) await here.show(["!a"]);
      assertEquals(await here.known("!a"), here.shown("!a"));
      await here.restart();
      assertEquals(await here.known("!a"), here.shown("!a"));
      await here.show(["!a"], 2);
      await here.restart();
      assertEquals(await here.known("!a"), here.shown("!a"));
    });
  }
}

Deno.test("A quiet room is known however much others show, and what is kept of them is bounded", async () => {
  await using here = new Stage();
  await here.show(["!quiet"], 2);
  for (let response = 0; response < 25_000; response++) await here.show(["!loud"]);
  assertEquals(await here.known("!quiet"), " $1 $2 ");
  await here.restart();
  assertEquals(await here.known("!quiet"), " $1 $2 ");
  assert((await here.known("!loud"))?.endsWith(" $25002 "));
  let records = 0;
  for await (const { key } of here.kv.list(["shown"])) records += key.length > 0 ? 1 : 0;
  assert(records <= 515, `${records} records`);
});

Deno.test("What a long response showed of a room is known when the log displaces what came before a restart", async () => {
  await using here = new Stage(43);
  await here.show(["!a"], 2);
  await here.show(["!a"], 60);
  await here.restart();
  const others = Array.from({ length: 30 }, (_, index) => `!other${index}`);
  for (let response = 0; response < 1_300; response++) await here.show(others);
  assertEquals(await here.known("!a"), here.shown("!a"));
  await here.restart();
  assertEquals(await here.known("!a"), here.shown("!a"));
});

Deno.test("Many rooms in one response are each known", async () => {
  await using here = new Stage();
  const rooms = Array.from({ length: 100 }, (_, index) => `!room${String(index).padStart(4, "0")}`);
  await here.show(rooms, 2);
  await here.show(rooms.slice(0, 5));
  await here.restart();
  assertEquals(await here.known("!room0003"), " $7 $8 $204 ");
  assertEquals(await here.known("!room0099"), " $199 $200 ");
});

Deno.test("Moving the position clears the log of shown events", async () => {
  await using here = new Stage();
  await here.show(["!a"], 2);
  await (await here.store()).move("t0");
  assertEquals(await here.known("!a"), "");
  await here.restart();
  assertEquals(await here.known("!a"), "");
});
