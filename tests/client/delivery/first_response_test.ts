import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { type FaultPlan, NO_FAULT, type OperationLog } from "../support/crash.ts";
import { atEachCrashPoint } from "../support/crash_points.ts";
import { begin, ENCRYPTED } from "../support/encrypted_room.ts";
import { Gates, hearing } from "../support/hearing.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** What is said later: more than one response holds. */
const MANY = Array.from({ length: 12 }, (_, index) => `slow ${index}`);

/** Alice, who has said something in a room in clear that the bot has joined. */
async function saysFirst(here: ClientStage): Promise<Client> {
  const alice = here.client("alice", { encryption: EVERYBODY });
  await begin(here, alice);
  const open = await alice.createRoom({ preset: "public_chat" });
  await here.client("bot").joinRoom(open);
  await alice.sendText(open, "slow first");
  return alice;
}

/** What each process of a bot receives; none handles the events of its very first response. */
async function runsOf(...plans: FaultPlan[]): Promise<string[][]> {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const alice = await saysFirst(here);
  const bot = new RestartingBot(here, { setUp, client: { encryption: EVERYBODY }, plans });
  await bot.until(() => texts[0]?.includes("slow first") === true);
  const secret = await alice.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await bot.client.joinRoom(secret);
  await here.settle();
  for (const text of MANY) {
    await alice.sendText(secret, text);
    await bot.until(() => texts[0]?.includes(text) === true);
  }
  for (const _ of plans) await bot.restart();
  await bot.until(() => texts.at(-1)?.at(-1) === MANY.at(-1));
  return texts;
}

Deno.test("A bot that crashed during its very first response gets the later events again", async () => {
  const [, later] = await runsOf(NO_FAULT);
  assertEquals(later, ["slow first", ...MANY]);
});

Deno.test("A bot that crashes twice at its very first response still gets the later events again", async () => {
  const [, again, later] = await runsOf(NO_FAULT, { operation: "sync", at: 2, takesEffect: false });
  assertEquals(again, ["slow first"]);
  assertEquals(later, ["slow first", ...MANY]);
});

/**
 * A bot that crashes at a commit before it has handled the events of its very first response, and again
 * when it has heard what is said behind those.
 *
 * @returns Whether the first process came to that commit.
 */
async function crashesBehindFirst(plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const alice = await saysFirst(here);
  const secret = await alice.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await here.client("bot").joinRoom(secret);
  const isSaid = Promise.withResolvers<void>();
  const fetch = async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const request = new Request(input, init);
    if (new URL(request.url).searchParams.has("since")) await isSaid.promise;
    return await here.homeserver.fetch(request);
  };
  const client = { encryption: EVERYBODY };
  const bot = new RestartingBot(here, { setUp, client, plans: [plan], fetch });
  await bot.until(() => texts.at(-1)?.includes("slow first") === true);
  await alice.sendText(secret, "slow secret");
  isSaid.resolve(); // so that the key and what it is for come in one response
  const isHeard = () => texts.at(-1)?.includes("slow secret") === true;
  await bot.until(isHeard);
  await bot.restart();
  await bot.until(isHeard);
  assertEquals(texts.at(-1), ["slow first", "slow secret"]);
  return bot.log;
}

Deno.test("What a bot had decrypted when it crashed comes again behind its very first response, whichever commit it was", async () => {
  const log = await atEachCrashPoint(crashesBehindFirst, { operations: ["commit"] });
  assert(log.count("commit") > 5);
});

Deno.test("A room that a bot joined after its very first response is no part of that when it comes again", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const alice = here.client("alice");
  const [open, other] = [
    await alice.createRoom({ preset: "public_chat" }),
    await alice.createRoom({ preset: "public_chat" }),
  ];
  await here.client("bot").joinRoom(open);
  await alice.sendText(open, "slow first");
  await alice.sendText(other, "before the bot came");
  const bot = new RestartingBot(here, { setUp, plans: [NO_FAULT] });
  await bot.until(() => texts[0]?.includes("slow first") === true);
  await bot.client.joinRoom(other);
  await here.settle();
  await alice.sendText(other, "slow after");
  await bot.until(() => texts[0]?.includes("slow after") === true);
  await bot.restart();
  await bot.until(() => texts[1]?.includes("slow after") === true);
  assertEquals(texts[1], ["slow first", "slow after"]);
});

/** What a bot receives, and how many gaps, whose first response comes again while `/messages` fails. */
async function repeatedWith(status: number, failures: number): Promise<[texts: string[], gaps: number]> {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const alice = here.client("alice");
  const open = await alice.createRoom({ preset: "public_chat" });
  await here.client("bot").joinRoom(open);
  await alice.sendText(open, "slow first");
  let [left, gaps] = [failures, 0];
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      client.on("GAP", () => void gaps++);
      return setUp(client);
    },
    fetch: (input, init) => {
      const isHit = new Request(input).url.includes("/messages") && left-- > 0;
      return isHit ? Promise.resolve(new Response("{}", { status })) : here.homeserver.fetch(input, init);
    },
    plans: [NO_FAULT],
  });
  await bot.until(() => texts[0]?.includes("slow first") === true);
  await bot.restart();
  await alice.sendText(open, "last");
  await bot.until(() => texts[1]?.includes("last") === true);
  return [texts[1] ?? [], gaps];
}

Deno.test("A first response that comes again is requested again while the server fails, and tells what it refuses", async () => {
  assertEquals(await repeatedWith(502, 2), [["slow first", "last"], 0]);
  assertEquals(await repeatedWith(403, 1), [["last"], 1]);
});

/** What a bot receives, and how many gaps, whose first response comes again from pages with nothing. */
async function repeatedFrom(empty: number): Promise<[texts: string[], gaps: number]> {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const alice = here.client("alice");
  const open = await alice.createRoom({ preset: "public_chat" });
  await here.client("bot").joinRoom(open);
  await alice.sendText(open, "slow first");
  let [left, gaps] = [empty, 0];
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      client.on("GAP", () => void gaps++);
      return setUp(client);
    },
    fetch: (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      if (!url.pathname.endsWith("/messages")) return here.homeserver.fetch(request);
      const from = url.searchParams.get("from")?.replace(/~.*/, "") ?? "";
      if (left-- > 0) {
        return Promise.resolve(Response.json({ start: from, end: `${from}~${left}`, chunk: [] }));
      }
      url.searchParams.set("from", from);
      return here.homeserver.fetch(new Request(url, request));
    },
    plans: [NO_FAULT],
  });
  await bot.until(() => texts[0]?.includes("slow first") === true);
  await bot.restart();
  await alice.sendText(open, "last");
  await bot.until(() => texts[1]?.includes("last") === true);
  return [texts[1] ?? [], gaps];
}

Deno.test("A first response that comes again is read behind empty pages, and a gap if there is nothing else", async () => {
  assertEquals(await repeatedFrom(9), [["slow first", "last"], 0]);
  assertEquals(await repeatedFrom(10), [["last"], 1]);
});

Deno.test("A position that was moved back delivers again the encrypted events that came after it", async () => {
  await using here = clientStage();
  const alice = here.client("alice", { encryption: EVERYBODY });
  const bot = here.client("bot", { encryption: EVERYBODY, store: new MemoryStore() });
  for (const client of [alice, bot]) await begin(here, client);
  const room = await alice.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await bot.joinRoom(room);
  await here.settle();
  bot.stop();
  const token = await bot.syncStore.getNextBatch();
  await alice.sendText(room, "hello");
  const texts = heard(bot);
  await bot.syncOnce();
  await bot.syncStore.setNextBatch(token);
  await bot.syncOnce();
  await alice.sendText(room, "bye");
  await bot.syncOnce();
  assertEquals(texts, ["hello", "hello", "bye"]);
});

Deno.test("A position that was moved back fills no gap when filling is off", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  const bot = here.client("bot", { store: new MemoryStore() });
  await bot.joinRoom(room);
  await bot.syncOnce();
  const token = await bot.syncStore.getNextBatch();
  for (const text of MANY) await alice.sendText(room, text);
  const texts = heard(bot);
  for (let round = 0; round < 2; round++) {
    await bot.syncStore.setNextBatch(token);
    await bot.syncOnce({ fillGaps: false });
  }
  assertEquals(texts, [...MANY.slice(2), ...MANY.slice(2)]);
});
