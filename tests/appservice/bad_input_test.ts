import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { Appservice } from "@greenroom/matrix/appservice";
import { NO_FAULT, TestProcess } from "../client/support/crash.ts";
import { type AppserviceScene, appserviceScene, message, registration } from "./scene.ts";

const HOUR = 3_600_000;

Deno.test("A homeserver whose transaction comes a byte a second is cut off after a minute, and nothing is kept", async () => {
  await using scene = await appserviceScene();
  const { stage, serving } = scene;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await stage.clock.delay(1_000).catch(() => {});
      if (!isCancelled) controller.enqueue(new Uint8Array([32]));
    },
    cancel: () => void (isCancelled = true),
  });
  const answer = serving?.fetch(
    new Request("https://echo.example/_matrix/app/v1/transactions/1", {
      method: "PUT",
      headers: { authorization: `Bearer ${registration.hs_token}` },
      body,
    }),
  );
  for (let second = 0; second < 61; second++) await stage.clock.tick(1_000);
  assertEquals([(await answer)?.status, isCancelled], [408, true]);
  assertEquals(await kept(scene), 0);
});

Deno.test("A homeserver that retries for a day, since the store is down, has each message handled once, in order", async () => {
  const store = new MemoryStore();
  await using scene = await appserviceScene({ store });
  const { alice, roomId, stage, serving } = scene;
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  await stage.settle();
  const { commit } = store;
  store.commit = () => Promise.reject(new Error("KV is down"));
  const texts: string[] = [];
  for (let hour = 0; hour < 24; hour++) {
    texts.push(`${hour}`);
    await alice.sendText(roomId, `${hour}`);
    await stage.clock.tick(HOUR);
    await stage.settle();
  }
  assertEquals(scene.answers(), []);
  assert(scene.answered.filter((status) => status === 503).length > 24);
  store.commit = commit;
  await stage.clock.tick(HOUR);
  await stage.until(() => scene.answers().length === texts.length);
  await stage.clock.tick(HOUR);
  assertEquals(scene.answers(), texts.map((text, index) => `${index + 1}: ${text}`));
  assertEquals(await kept(scene), 0);
});

Deno.test("A tick of cron during a transaction, in the same instance or another, handles nothing twice", async () => {
  await using scene = await appserviceScene();
  const { roomId, stage, serving } = scene;
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const calls: string[] = [];
  for (const instance of [serving, scene.instance()]) {
    instance?.on("m.room.message", async ({ content }) => {
      calls.push(content.body);
      begun.resolve();
      await goOn.promise;
    });
  }
  const answer = scene.send("1", [message(roomId, "once")]);
  await begun.promise;
  const other = scene.instance({ transactionTimeout: 5_000 });
  const ticks = [serving?.handlePending(), other.handlePending()];
  await stage.settle();
  goOn.resolve();
  assertEquals((await answer).status, 200);
  for (let second = 0; second < 6; second++) await stage.clock.tick(1_000);
  await Promise.all(ticks);
  assertEquals([calls, scene.answers()], [["once"], ["1: once"]]);
});

Deno.test("A message that ends each process is left out after three of them, and those behind it are handled", async () => {
  const store = new MemoryStore();
  await using scene = await appserviceScene({ isServing: false, store });
  const { roomId, stage } = scene;
  const handled: string[] = [];
  const leftOut: unknown[] = [];
  let lives = 0;
  /** A process, which ends by the first bad message. */
  const live = async (): Promise<Appservice> => {
    const process = new TestProcess(NO_FAULT);
    lives++;
    const appservice = scene.instance({
      store: process.store(store),
      fetch: process.fetch(stage.homeserver.fetch),
      lease: { duration: 1_000 },
      transactionTimeout: 5_000,
    });
    appservice.on("m.room.message", async ({ content }) => {
      if (content.body === "bad") {
        process.kill();
        await new Promise(() => {}); // its process has ended
      } else if (process.isRunning) handled.push(content.body);
    });
    appservice.on("EVENT_QUARANTINED", ({ attempts }) => {
      if (process.isRunning) leftOut.push(attempts);
    });
    scene.serving = appservice;
    const answer = scene.send("1", [
      message(roomId, "bad", { event_id: "$bad" }),
      message(roomId, "good", {
        event_id: "$good",
      }),
    ]).catch(() => undefined); // the same each time: there was no answer
    for (let second = 0; second < 8; second++) {
      await stage.clock.tick(1_000);
      await stage.settle();
    }
    await Promise.race([answer, stage.settle()]);
    return appservice;
  };
  while (leftOut.length === 0 && lives < 8) await live();
  assertEquals(leftOut, [3]);
  assert(handled.includes("good"));
});

Deno.test("Of 10,000 transactions in a second, each is durable and handled once, and what is handled is not kept", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving, stage } = scene;
  const handled = new Set<string>();
  let calls = 0;
  serving?.on("m.room.topic", ({ content }) => {
    calls++;
    handled.add(String(content.topic));
  });
  const done = serving?.start();
  await stage.settle();
  const topic = (id: number) =>
    message(roomId, "", { type: "m.room.topic", state_key: String(id), content: { topic: String(id) } });
  const ids = Array.from({ length: 10_000 }, (_, id) => id);
  for (let at = 0; at < ids.length; at += 500) {
    const answers = await Promise.all(
      ids.slice(at, at + 500).map((id) => scene.send(String(id), [topic(id)])),
    );
    assert(answers.every(({ status }) => status === 200));
  }
  await stage.until(() => handled.size === ids.length);
  assertEquals(calls, ids.length);
  await serving?.stop();
  await done;
  assert(await serving?.handlePending());
  assertEquals(await kept(scene), 0);
});

Deno.test("A transaction of 100,000 lists in lists is answered, and what comes after it is handled", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const bomb = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const event = JSON.stringify(message(roomId, "bomb")).replace('"bomb"', bomb);
  for (const body of [`{"events":${bomb}}`, `{"events":[${event}]}`, `{"events":[],"to_device":[${bomb}]}`]) {
    assertEquals((await serving?.fetch(put(`t${body.length}`, body)))?.status, 200);
  }
  await scene.send("last", [message(roomId, "after")]);
  assertEquals(scene.answers(), ["1: after"]);
});

Deno.test("Transaction IDs of any characters are told apart, and what is no ID is refused", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const ids = ["%2F..%2F", "%00", "%F0%9F%A6%9C", "a%20b", "a+b", "__proto__", "$&", "t;v=1", "%25"];
  const event = message(roomId, "the same");
  for (const id of [...ids, ...ids]) {
    assertEquals((await serving?.fetch(put(id, JSON.stringify({ events: [event] }))))?.status, 200);
  }
  assertEquals(scene.answers(), ["1: the same"]);
  const names = (await head(scene)).ids;
  for (const id of ids) {
    assertEquals(names.filter((name) => name.startsWith(`${decodeURIComponent(id)} `)).length, 1, id);
  }
  for (const id of ["%", "%ED%A0%80", "t".repeat(10_000)]) {
    assertEquals((await serving?.fetch(put(id, `{"events":[]}`)))?.status, 400);
  }
});

/** A transaction by hand. */
function put(id: string, body: string): Request {
  return new Request(`https://echo.example/_matrix/app/v1/transactions/${id}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${registration.hs_token}` },
    body,
  });
}

/** What is on record of the inbox. */
async function head({ store }: AppserviceScene): Promise<{ readonly ids: readonly string[] }> {
  const [entry] = await store.getMany([["appservice", "@echo:localhost", "echo", "head"]]);
  return entry?.value as { ids: string[] };
}

/** How many transactions are kept. */
async function kept({ store }: AppserviceScene): Promise<number> {
  let count = 0;
  for await (const _ of store.list(["appservice", "@echo:localhost", "echo", "in"])) count++;
  return count;
}
