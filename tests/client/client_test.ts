import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { Client, type ClientOptions, MemoryStore, ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { ClientEndedError } from "@greenroom/matrix/errors";
import type { Dispatcher } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { WhoamiResponse } from "@greenroom/matrix/types";
import { assertPending } from "../actors/kernel/support.ts";
import { clientStage } from "./support/stage.ts";

Deno.test("A store that is a promise of one, or no store at all, is refused; a client takes no path either", () => {
  const at = { baseUrl: "https://matrix.example.org", accessToken: "t" };
  const ofPath = { ...at, store: "./bot.db" } as unknown as ClientOptions;
  assertThrows(
    () => new Client(ofPath),
    ValueError,
    "open one, and await it: store: await SqliteStore.open(path)",
  );
  for (const store of [Promise.resolve(new MemoryStore()), {}, null]) {
    const options = { ...at, store } as unknown as ClientOptions;
    for (const make of [() => new Client(options), () => new Bot(options as BotOptions)]) {
      assertThrows(make, ValueError, "open one, and await it: store: await SqliteStore.open(path)");
    }
  }
});

Deno.test("A client needs a homeserver, and a user ID that is one", () => {
  assertThrows(() => new Client({}), ValueError);
  assertThrows(() => new Client({ baseUrl: "https://a.b", mxid: "alice" as "@a:b" }), ValueError);
  assertThrows(() => new Client({ baseUrl: "ftp://a.b" }), ValueError);
});

Deno.test("close() ends the sync and waits for handlers; what follows is refused", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom();
  await alice.sendText(room, "x");
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  alice.on("m.room.message", async () => {
    await gate.promise;
    seen.push(String(await alice.stateStore.isJoined(room, "@alice:localhost")));
  });
  const start = alice.start();
  await here.settle();
  const closed = alice.close();
  await assertPending(closed);
  gate.resolve();
  await Promise.all([closed, start, alice.done, alice.close()]);
  assertEquals(seen, ["true"]);
  await assertRejects(() => alice.start(), ClientEndedError, "closed");
});

Deno.test("close() called by a handler, or twice, does not wait for the handler", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  await alice.sendText(await alice.createRoom(), "x");
  let closed = 0;
  alice.on("m.room.message", async () => {
    await alice.close();
    closed++;
  }, { waitSync: true });
  await alice.start();
  await alice.done;
  assertEquals(closed, 1);
});

Deno.test("close() gives up on a handler that does not end in time", async () => {
  await using here = clientStage();
  const alice = here.client("alice", { closeTimeout: 1_000 });
  await alice.sendText(await alice.createRoom(), "x");
  const never = Promise.withResolvers<void>();
  alice.on("m.room.message", () => never.promise, { waitSync: true });
  alice.start().catch(() => {});
  await here.settle();
  const closed = alice.close();
  await here.clock.tick(3_000);
  await closed;
  never.resolve();
});

Deno.test("A client that was never started is stopped and closed immediately", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  await alice.stop();
  assertEquals(alice.syncingTask, undefined);
  await alice.close();
  await alice.done;
});

Deno.test("syncingTask is what start() returned", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const start = alice.start();
  assertEquals(alice.syncingTask, start);
  await alice.stop();
  await start;
});

Deno.test("addDispatcher() registers one of each type, removeDispatcher() unregisters it", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const calls: string[] = [];
  class Echo implements Dispatcher {
    constructor(client: Client) {
      calls.push(client.constructor.name);
    }
    register(): void {
      calls.push("register");
    }
    unregister(): void {
      calls.push("unregister");
    }
  }
  alice.addDispatcher(Echo);
  alice.addDispatcher(Echo);
  assertEquals(alice.dispatchers.size, 1);
  alice.removeDispatcher(Echo);
  alice.removeDispatcher(Echo);
  assertEquals([calls, alice.dispatchers.size], [["Client", "register", "unregister"], 0]);
});

Deno.test("A subclass overrides an operation, and calls the client's own by super, each time", async () => {
  class Shouting extends Client {
    override async whoami(): Promise<WhoamiResponse> {
      return { ...await super.whoami(), device_id: "SHOUTING" };
    }
  }
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const { accessToken } = homeserver.createUser("alice");
  await using client = new Shouting({ baseUrl, fetch, accessToken });
  for (let call = 0; call < 2; call++) assertEquals((await client.whoami()).device_id, "SHOUTING");
});

Deno.test("An operation is one function, which needs no client before it, and can be replaced for one client", async () => {
  await using here = clientStage();
  const [alice, bob] = [here.client("alice"), here.client("bob")];
  const { createRoom, whoami } = alice;
  assertEquals([await createRoom()], await alice.getJoinedRooms());
  assertEquals((await whoami()).user_id, "@alice:localhost");
  assertStrictEquals(alice.whoami, whoami);
  alice.whoami = () => Promise.resolve({ user_id: "@carol:localhost" });
  assertEquals((await alice.whoami()).user_id, "@carol:localhost");
  assertEquals((await bob.whoami()).user_id, "@bob:localhost");
  assert("whoami" in bob);
});

Deno.test("What is made over a client has its operations, and its class has none and says so", async () => {
  await using stage = clientStage();
  const client = stage.client("alice");
  const over: Client[] = [Object.create(client), new Proxy(client, {})];
  for (const each of over) {
    assertEquals((await each.whoami()).user_id, "@alice:localhost");
    assertStrictEquals(each.raw, client.raw);
  }
  assertThrows(() => Client.prototype.whoami, ValueError, "only clients have them");
  assertThrows(() => Client.prototype.raw, ValueError, "only clients have them");
});

Deno.test("Endpoints that a test puts in the place of client.raw are those of its client alone", async () => {
  const options = { baseUrl: "https://matrix.example.org", log: false } as const;
  await using client = new Client(options);
  await using other = new Client(options);
  const raw = { ...other.raw };
  client.raw = raw;
  assertEquals([client.raw === raw, other.raw === raw], [true, false]);
});
