import { assertEquals } from "@std/assert";
import type { ClientOptions } from "@greenroom/matrix";
import { PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { EVERYBODY } from "../../support/everybody.ts";
import type { FaultPlan, OperationLog } from "../support/crash.ts";
import { atEachCrashPoint } from "../support/crash_points.ts";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const TEXTS = ["1", "2", "3", "4"];

/** A bot adds four sends, the first gets a 502, and it crashes once. Returns what was done before. */
async function story(here: ClientStage, room: RoomID, plan: FaultPlan, options: Partial<ClientOptions> = {}) {
  let log: OperationLog | undefined;
  const bot = new RestartingBot(here, {
    plans: [plan],
    setUp: (_, process) => log ??= process.log,
    client: options,
  });
  await bot.complete(async (client) => {
    await client.joinRoom(room);
    await client.ready;
  });
  const match = { method: "PUT", path: "/send/", user: "@bot:localhost" } as const;
  const refused = here.homeserver.faults.add({ kind: "html", match, times: 1 });
  const stored = new Set<string>();
  await bot.complete(async (client) => {
    const queue = client.queue(room);
    await Promise.all(
      TEXTS.filter((text) => !stored.has(text)).map(async (text) => {
        await queue.sendText(text, { txnId: `queued-${text}` }).stored;
        stored.add(text); // from now on the queue alone has it
      }),
    );
    await queue.settled();
  });
  await bot.settle();
  assertEquals(refused.hits, 1);
  return { log: log as OperationLog, bot };
}

Deno.test("Wherever a process crashes, what was queued arrives once, and in order", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const alice = here.client("alice");
    const room = await alice.createRoom({ preset: "public_chat" });
    const { log, bot } = await story(here, room, plan);
    const { chunk } = await alice.getMessages(room, PaginationDirection.FORWARD, undefined, { limit: 100 });
    const texts = chunk.flatMap(({ content }) => "body" in content ? [content.body] : []);
    assertEquals(texts, TEXTS, bot.crashes.join());
    assertEquals(await bot.records("greenroom.queue"), [], bot.crashes.join());
    return log;
  });
});

Deno.test("Wherever a process crashes, what was queued for an encrypted room arrives once, and in order", async () => {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const alice = here.client("alice", { encryption: EVERYBODY });
    await begin(here, alice);
    const room = await alice.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
    const texts = heard(alice);
    const { log, bot } = await story(here, room, plan, { encryption: EVERYBODY });
    await here.settle();
    assertEquals(texts, TEXTS, bot.crashes.join());
    return log;
  });
});
