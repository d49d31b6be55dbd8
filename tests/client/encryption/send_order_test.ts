import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { begin, ENCRYPTED, twoInARoom } from "../support/encrypted_room.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const TEXTS = ["1", "2", "3", "4"];
const LOOKUP = { method: "GET", path: "/state/m.room.encryption" };
const SEND = { method: "PUT", path: "/send/" };

/** Sends several texts, none of which is awaited before the next. */
function sendAll(client: Client, roomId: RoomID): Promise<unknown> {
  return Promise.all(TEXTS.map((text) => client.sendText(roomId, text)));
}

/** Lets time pass until something has settled. */
async function passing<Result>(here: ClientStage, work: Promise<Result>): Promise<Result> {
  let isOver = false;
  work.catch(() => {}).then(() => isOver = true);
  for (let round = 1; round < 5_000 && !isOver; round++) await here.clock.tick(round % 50 === 0 ? 2_000 : 0);
  return await work;
}

/** A member hears what goes into a room of which the sender does not know yet whether it is encrypted. */
async function unknownRoom(
  here: ClientStage,
  initialState: readonly (typeof ENCRYPTED)[number][] = ENCRYPTED,
) {
  const alice = here.client("alice", { encryption: EVERYBODY });
  const bot = here.client("bot", { encryption: EVERYBODY });
  await begin(here, alice);
  bot.setMxid("@bot:localhost");
  const roomId = await alice.createRoom({
    invitees: ["@bot:localhost"],
    initialState: [...initialState],
  });
  await bot.joinRoom(roomId);
  await here.settle();
  return { bot, roomId, texts: heard(alice) };
}

for (const initialState of [ENCRYPTED, []]) {
  const kind = initialState === ENCRYPTED ? "encrypted" : "not encrypted";
  Deno.test(`Sends without waiting arrive in order in a room of which only the server knows that it is ${kind}`, async () => {
    await using here = clientStage();
    const { bot, roomId, texts } = await unknownRoom(here, initialState);
    const { faults } = here.homeserver;
    for (const ms of [4_000, 2_000]) faults.add({ kind: "delay", ms, match: LOOKUP, times: 1 });
    await passing(here, sendAll(bot, roomId));
    await here.until(() => texts.length === TEXTS.length);
    assertEquals(texts, TEXTS);
  });
}

Deno.test("Sends into an encrypted room arrive in order, though the first gets a 502", async () => {
  await using here = clientStage();
  const { alice, bob, roomId } = await twoInARoom(here);
  const texts = heard(bob);
  const refused = here.homeserver.faults.add({ kind: "html", match: SEND, times: 1 });
  await passing(here, sendAll(alice, roomId));
  await here.until(() => texts.length === TEXTS.length);
  assertEquals([texts, refused.hits], [TEXTS, 1]);
});

Deno.test("A send that is given up, or can't be made, does not let those behind it pass those before it", async () => {
  await using here = clientStage();
  const { bot, roomId, texts } = await unknownRoom(here);
  here.homeserver.faults.add({ kind: "delay", ms: 4_000, match: LOOKUP, times: 1 });
  const given = new AbortController();
  const sends = Promise.allSettled([
    bot.sendText(roomId, "1"),
    bot.sendText(roomId, "given up", { signal: given.signal }),
    bot.sendMessageEvent(roomId, "m.room.message", { body: 1n } as never),
    bot.sendText(roomId, "2"),
  ]);
  await here.settle();
  given.abort();
  const states = (await passing(here, sends)).map(({ status }) => status);
  assertEquals(states, ["fulfilled", "rejected", "rejected", "fulfilled"]);
  await here.until(() => texts.length === 2);
  assertEquals(texts, ["1", "2"]);
});

for (
  const [what, path] of [["whether a room is encrypted", "/state/"], ["who is in it", "/rooms/"]] as const
) {
  Deno.test(`Sends that can't find out ${what} fail together, not one after the other`, async () => {
    await using here = clientStage();
    const { bot, roomId } = await unknownRoom(here);
    if (path === "/rooms/") await bot.isRoomEncrypted(roomId);
    const headers = { "retry-after": "2" };
    here.homeserver.faults.add({ kind: "status", status: 503, headers, match: { method: "GET", path } });
    const failed = new Set<number>();
    const sends = TEXTS.map((text) =>
      bot.sendText(roomId, text).catch(() => void failed.add(here.clock.now()))
    );
    await passing(here, Promise.all(sends));
    assertEquals(failed.size, 1);
  });
}
