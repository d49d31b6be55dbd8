import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { type Client, type ClientOptions, MemoryStore } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import { FALTERING, FALTERING_WAYS } from "../../support/faltering_fetch.ts";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

for (const path of ["/keys/claim", "/keys/query"]) {
  Deno.test(`A message is not sent without keys because ${path} failed a moment ago`, async () => {
    await using stage = clientStage();
    let isDown = false;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      return isDown && new URL(request.url).pathname.endsWith(path)
        ? Response.json({ errcode: "M_UNKNOWN" }, { status: 500 })
        : await stage.homeserver.fetch(request);
    };
    const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
    const bob = stage.client("bob", { encryption: EVERYBODY });
    const texts = heard(bob);
    for (const client of [alice, bob]) await begin(stage, client);
    isDown = true;
    const roomId = await alice.createRoom({
      invitees: ["@bob:localhost"],
      initialState: ENCRYPTED,
    });
    await bob.joinRoom(roomId);
    await stage.settle();
    for (let tries = 0; tries < 3; tries++) {
      await assertRejects(() => alice.sendText(roomId, "too early"), EncryptionError, "try again");
    }
    isDown = false;
    await stage.clock.tick(2_000);
    await alice.sendText(roomId, "in time");
    await stage.until(() => texts.length > 0);
    assertEquals(texts, ["in time"]);
  });
}

/** Alice, whose requests to a path fail so often; and Bob, who listens in a room of theirs. */
async function failing(
  stage: ClientStage,
  path: string,
  { way = "503", times, ...options }: Partial<ClientOptions> & {
    readonly way?: keyof typeof FALTERING;
    readonly times: number;
  },
) {
  const tries: number[] = [];
  const given: Partial<ClientOptions> = {
    encryption: EVERYBODY,
    retry: { base: 100, cap: 10_000 },
    async fetch(input, init) {
      const request = new Request(input, init);
      const forward = () => stage.homeserver.fetch(request);
      if (!new URL(request.url).pathname.endsWith(path)) return await forward();
      return tries.push(stage.clock.now()) > times ? await forward() : await FALTERING[way](forward);
    },
    ...options,
  };
  const alice = stage.client("alice", given);
  const bob = stage.client("bob", { encryption: EVERYBODY });
  const texts = heard(bob);
  await begin(stage, bob);
  alice.setMxid((await alice.whoami()).user_id);
  const roomId = await alice.createRoom({ invitees: ["@bob:localhost"], initialState: ENCRYPTED });
  await bob.joinRoom(roomId);
  await stage.settle();
  return { alice, texts, tries, roomId, options: given };
}

/** Sends a message; what becomes of that. */
function sending(client: Client, roomId: RoomID) {
  const end = { isOver: false, error: undefined as unknown };
  client.sendText(roomId, "hello").catch((error) => end.error = error).finally(() => end.isOver = true);
  return end;
}

Deno.test("A message outlasts that one-time keys could not be claimed when its client began", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const here = await failing(stage, "/keys/claim", { times: 2, store });
  const cutOff = sending(here.alice, here.roomId);
  await stage.until(() => here.tries.length === 1);
  await here.alice.close();
  assertInstanceOf(cutOff.error, EncryptionError);
  const again = stage.client("alice", here.options);
  await begin(stage, again);
  await stage.until(() => here.tries.length === 2); // whom it owes a session is stored
  const end = sending(again, here.roomId);
  for (let ticks = 0; here.texts.length === 0 && !end.error && ticks < 1_000; ticks++) {
    await stage.clock.tick(10);
  }
  assertEquals([end.error, here.texts], [undefined, ["hello"]]);
});

for (const path of ["/keys/claim", "/keys/upload"]) {
  for (const way of FALTERING_WAYS) {
    Deno.test(`A message outlasts a server that fails four times at ${path}: ${way}`, async () => {
      await using stage = clientStage();
      const isUpload = path === "/keys/upload";
      // The first upload is made before the room is made ready.
      const here = await failing(stage, path, { way, times: isUpload ? 5 : 4 });
      const end = sending(here.alice, here.roomId);
      for (let ticks = 0; !end.isOver && ticks < 1_000; ticks++) await stage.clock.tick(10);
      assertEquals(end.error, undefined);
      for (let ticks = 0; here.texts.length === 0 && ticks < 1_000; ticks++) await stage.clock.tick(10);
      assertEquals(here.texts, ["hello"]);
      if (!isUpload) assertEquals(here.tries.length, 5);
      const waits = here.tries.slice(isUpload ? 1 : 0, 6).map((at, index, all) =>
        at - (all[index - 1] ?? at)
      );
      for (const [index, wait] of waits.slice(1, 5).entries()) {
        const most = 100 * 2 ** index;
        const least = way === "429" ? 20 : most * 0.8; // what that asks for, and longer if it goes on
        assert(wait >= least && wait <= most + 10, `${waits}`);
      }
    });
  }

  Deno.test(`A message is given up when a server goes on failing at ${path}`, async () => {
    await using stage = clientStage();
    const here = await failing(stage, path, { times: Infinity, retry: { maxRetries: 2, base: 100 } });
    const end = sending(here.alice, here.roomId);
    for (let ticks = 0; !end.isOver && ticks < 1_000; ticks++) await stage.clock.tick(10);
    assertInstanceOf(end.error, EncryptionError);
    assertEquals(here.tries.length, path === "/keys/upload" ? 4 : 3);
  });

  Deno.test(`A message that waits for a server that fails at ${path} ends with its client, or its signal`, async () => {
    for (const by of ["client", "signal"]) {
      await using stage = clientStage();
      const here = await failing(stage, path, {
        times: Infinity,
        retry: { base: 1_000_000, cap: 1_000_000 },
      });
      const ended = new AbortController();
      const sent = here.alice.sendText(here.roomId, "hello", { signal: ended.signal });
      const why = sent.then(() => undefined, (error) => error);
      await stage.settle();
      if (by === "client") await here.alice.close();
      else ended.abort(new RangeError("enough"));
      assertInstanceOf(await why, by === "client" ? EncryptionError : RangeError);
    }
  });
}
