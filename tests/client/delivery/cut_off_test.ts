/** Handlers that fail because the client can't go on: their events come again. */

import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import {
  type Client,
  type ClientOptions,
  defineSession,
  MemoryStore,
  type Store,
  UnknownTokenError,
} from "@greenroom/matrix";
import { ActorError, ClientEndedError } from "@greenroom/matrix/errors";
import type { TestUser } from "@greenroom/matrix/testing";
import { rejectionOf } from "../../actors/kernel/support.ts";
import { NO_FAULT, TestProcess } from "../support/crash.ts";
import { begin } from "../support/encrypted_room.ts";
import { Gates } from "../support/hearing.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const counter = defineSession({ name: "answers", per: "room", initial: () => ({ answered: 0 }) });

/** A bot that answers each message, before which the test may do something; and Alice in a room with it. */
async function answering(
  stage: ClientStage,
  before: (text: string) => unknown,
  options: Partial<ClientOptions> = {},
) {
  const user = stage.homeserver.createUser("answering");
  const alice = stage.client("alice");
  const id = await alice.createRoom({ preset: "public_chat" });
  const store = new MemoryStore();
  const texts: string[] = [];
  const failures: unknown[] = [];
  const bot = (token = user.accessToken): Client => {
    const client = stage.client("other", { store, accessToken: token, retry: false, ...options });
    client.on("m.room.message", async ({ sender, content: { body } }, ctx) => {
      if (sender === user.userId) return;
      texts.push(body);
      await before(body);
      await client.sendText(id, `answer ${++ctx.session.answered} to ${body}`, { key: "answer" });
    }, { session: counter, sequential: true });
    client.on("HANDLER_ERROR", ({ error }) => void failures.push(error));
    return client;
  };
  await bot().joinRoom(id);
  const answers = heard(alice);
  await begin(stage, alice);
  return { alice, id, bot, user, texts, failures, answers };
}

/** A new token for the same device, as its author gets it when the old one has expired. */
async function logIn({ homeserver }: ClientStage, { userId, password, deviceId }: TestUser): Promise<string> {
  const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3/login`, {
    method: "POST",
    body: JSON.stringify({
      type: "m.login.password",
      identifier: { type: "m.id.user", user: userId },
      password,
      device_id: deviceId,
    }),
  });
  return (await response.json()).access_token;
}

Deno.test("The log of a handler that is cut off by the end says that it comes again, and nothing of what failed in it", async () => {
  await using stage = clientStage();
  const gates = new Gates();
  const lines: string[] = [];
  const note = (message: string, data?: unknown) => void lines.push(`${message} ${Deno.inspect(data)}`);
  const log = { debug() {}, info() {}, warn: note, error: note };
  const scene = await answering(stage, () => gates.at("end"), { log });
  const bot = scene.bot();
  bot.start();
  await bot.ready;
  await scene.alice.sendText(scene.id, "1");
  await stage.settle();
  const closed = bot.close();
  await stage.clock.tick(5_000);
  await closed;
  gates.open("end");
  await stage.settle();
  const [late = "", cut = "", ...others] = lines;
  assertStringIncludes(late, "handlers or requests are still at work");
  assertStringIncludes(cut, "An event handler was cut off, and is called again after the next start");
  assertEquals([others, lines.filter((line) => /actor(?!s\/)/i.test(line))], [[], []]);
});

Deno.test("A handler that fails because the token died is called again after the next login, and nothing else is", async () => {
  await using stage = clientStage();
  const scene = await answering(stage, (text) => {
    if (text === "2" && scene.texts.length === 2) stage.homeserver.expireTokens(scene.user.userId);
  });
  const { alice, id, bot, user, texts, failures, answers } = scene;
  const first = bot();
  await begin(stage, first);
  first.syncingTask?.catch(() => {}); // `done` says the same
  for (const text of ["1", "2", "3"]) await alice.sendText(id, text);
  assertInstanceOf(await rejectionOf(first.done), ActorError);
  assertEquals(texts.slice(0, 2), ["1", "2"]);
  const next = bot(await logIn(stage, user));
  texts.length = 0;
  await begin(stage, next);
  await stage.until(() => answers.includes("answer 3 to 3"));
  assertEquals(texts, ["2", "3"]);
  assertEquals(
    answers.filter((text) => text.startsWith("answer")),
    [1, 2, 3].map((n) => `answer ${n} to ${n}`),
  );
  assertEquals(failures, []);
});

Deno.test("A handler that fails while the client is closed is called again, one that failed before is not", async () => {
  await using stage = clientStage();
  using gates = new Gates();
  const scene = await answering(stage, async (text) => {
    if (scene.texts.length > 2) return;
    if (text === "2") await gates.at("closing");
    throw new TypeError("a mistake of the application");
  });
  const { alice, id, bot, texts, failures, answers } = scene;
  const first = bot();
  await begin(stage, first);
  await alice.sendText(id, "1");
  await stage.until(() => failures.length === 1);
  for (const text of ["2", "3"]) await alice.sendText(id, text);
  await stage.until(() => texts.length === 2);
  await stage.settle();
  const closed = first.close();
  gates.open("closing");
  await closed;
  assertEquals(failures.length, 1);
  await begin(stage, bot());
  await stage.until(() => answers.includes("answer 2 to 3"));
  assertEquals(texts, ["1", "2", "2", "3"]);
});

Deno.test("A client that syncs once does not go on with another token past what was cut off", async () => {
  await using stage = clientStage();
  const scene = await answering(stage, () => {
    if (scene.texts.length === 1) stage.homeserver.expireTokens(scene.user.userId);
  });
  const { alice, id, bot, user, texts, answers } = scene;
  const first = bot();
  await first.syncOnce();
  await alice.sendText(id, "1");
  await first.syncOnce();
  assertEquals(texts, ["1"]);
  first.api.accessToken = await logIn(stage, user);
  await alice.sendText(id, "2");
  const error = await assertRejects(() => first.syncOnce(), ClientEndedError);
  assertStringIncludes(error.message, "make a new client");
  const next = bot(await logIn(stage, user));
  await begin(stage, next);
  await stage.until(() => answers.includes("answer 2 to 2"));
  assertEquals(texts, ["1", "1", "2"]);
});

Deno.test("With at-most-once, a handler that fails because the token died is reported, since nothing comes again", async () => {
  await using stage = clientStage();
  const expire = () => stage.homeserver.expireTokens(scene.user.userId);
  const scene = await answering(stage, expire, { deliver: "at-most-once" });
  const { alice, id, bot, texts, failures } = scene;
  const first = bot();
  await first.syncOnce();
  await alice.sendText(id, "1");
  await first.syncOnce();
  assertEquals([texts, failures.map((error) => error instanceof UnknownTokenError)], [["1"], [true]]);
});

/** How handlers come one after the other. */
interface Way {
  /** Whether they have a session in common. */
  readonly hasSession: boolean;
  /** Whether they are sequential. */
  readonly sequential: boolean;
}

const WAYS: readonly Way[] = [
  { hasSession: true, sequential: false },
  { hasSession: false, sequential: true },
  { hasSession: true, sequential: true },
];

/** A bot that has heard three messages, of which only the first is in hand, in a process. */
async function hearing(stage: ClientStage, { hasSession, sequential }: Way, process: TestProcess) {
  const gates = new Gates();
  const user = stage.homeserver.createUser("hearing");
  const alice = stage.client("alice");
  const id = await alice.createRoom({ preset: "public_chat" });
  const store = new MemoryStore();
  const texts: string[] = [];
  const options = { accessToken: user.accessToken, retry: false, closeTimeout: 1_000 } as const;
  const bot = (by: Store = process.store(store)): Client => {
    const client = stage.client("other", { ...options, store: by });
    const hears = async (body: string): Promise<void> => {
      texts.push(body);
      await gates.at(body);
    };
    if (hasSession) {
      client.on("m.room.message", async ({ content }, ctx) => {
        await hears(content.body);
        ctx.session.answered++;
      }, { session: counter, sequential });
    } else {
      client.on("m.room.message", async ({ content }, ctx) => {
        await hears(content.body);
        ctx.updateSession(counter, id, ({ answered }) => ({ answered: answered + 1 }));
      }, { sequential });
    }
    return client;
  };
  const first = bot();
  await first.joinRoom(id);
  await begin(stage, first);
  for (const text of ["1", "2", "3"]) await alice.sendText(id, text);
  await stage.until(() => texts.length > 0);
  await stage.settle();
  assertEquals(texts, ["1"]);
  const next = async (): Promise<string[]> => {
    const client = bot(store);
    texts.length = 0;
    await begin(stage, client);
    await stage.until(() => texts.length === 3);
    await client.close();
    return texts;
  };
  const open = (): void => ["1", "2", "3"].forEach((text) => gates.open(text));
  return { first, texts, gates, open, next, [Symbol.dispose]: open };
}

for (const way of WAYS) {
  const how = `${way.hasSession ? " with a session" : ""}${way.sequential ? " in order" : ""}`;
  Deno.test(`When the store has failed, no handler${how} begins any more, and the next process calls them`, async () => {
    await using stage = clientStage();
    const process = new TestProcess({
      ...{ operation: "commit", takesEffect: false, kind: "error", subject: "session/", at: 1 },
    });
    using scene = await hearing(stage, way, process);
    const { first, texts, gates, open, next } = scene;
    first.syncingTask?.catch(() => {}); // `done` says the same
    gates.open("1");
    await stage.settle();
    await stage.clock.tick(1_000);
    assertInstanceOf(await rejectionOf(first.done), ActorError);
    open();
    await stage.settle();
    // One that only shares a session begins before the commit that fails, and on what that was to commit.
    assertEquals(texts, way.sequential ? ["1"] : ["1", "2"]);
    assertEquals(await next(), ["1", "2", "3"]);
  });

  Deno.test(`When close() has waited long enough, no handler${how} begins any more, and the next process calls them`, async () => {
    await using stage = clientStage();
    using scene = await hearing(stage, way, new TestProcess(NO_FAULT));
    const { first, texts, open, next } = scene;
    const closed = first.close();
    await stage.settle();
    await stage.clock.tick(1_000);
    await closed;
    open();
    await stage.settle();
    assertEquals(texts, ["1"]);
    assertEquals(await next(), ["1", "2", "3"]);
  });
}
