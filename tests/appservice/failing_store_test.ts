import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { UnknownTokenError } from "@greenroom/matrix";
import { ActorError, ClientEndedError, StoreError } from "@greenroom/matrix/errors";
import { Appservice } from "@greenroom/matrix/appservice";
import { rejectionOf } from "../actors/kernel/support.ts";
import { failingStore } from "../support/failing_store.ts";
import { appserviceScene } from "./scene.ts";

const PARROT = "@_echo_parrot:localhost";

/** An application service that encrypts, whose ghost answers Alice; a commit of the ghost's may fail. */
async function failingScene() {
  const { store, fail, hasFailed } = failingStore((mutations) =>
    mutations.some(({ key }) => key[0] === PARROT && key[2] === "crypto")
  );
  const scene = await appserviceScene({ encryption: true, isServing: false, store });
  const { alice, roomId } = scene;
  const read: string[] = [];
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === PARROT) read.push(content.body);
  });
  const failures: unknown[] = [];
  return Object.assign(scene, {
    read,
    failures,
    /** Has the next commit of the ghost's fail. */
    fail,
    hasFailed,
    async serve() {
      const appservice = scene.serving = scene.instance();
      appservice.on("HANDLER_ERROR", ({ error }) => void failures.push(error));
      await appservice.botClient.joinRoom(roomId);
      await appservice.handlePending();
      await alice.syncOnce();
      return appservice;
    },
  });
}

Deno.test("What was said when the store failed for a ghost is answered by the next process, where one stays", async () => {
  await using scene = await failingScene();
  const { alice, roomId, stage, read, failures } = scene;
  const first = await scene.serve();
  const started = first.start({ ping: false });
  started.catch(() => {}); // `done` says the same
  scene.fail();
  await alice.sendText(roomId, "hello");
  await stage.until(scene.hasFailed);
  const error = await rejectionOf(first.done);
  assertInstanceOf(error, ActorError);
  assertInstanceOf(error.cause, StoreError);
  await assertRejects(() => started, StoreError);
  scene.serving = undefined;
  await stage.clock.tick(300_000); // the lease of what has ended
  const next = scene.serving = scene.instance();
  await next.handlePending();
  await alice.syncOnce();
  assertEquals([read, failures], [["1: hello"], []]);
});

Deno.test("What was said when the store failed for a ghost is answered later on, where no process stays", async () => {
  await using scene = await failingScene();
  const { alice, roomId, stage, read, failures } = scene;
  const appservice = await scene.serve();
  scene.fail();
  await alice.sendText(roomId, "hello");
  await stage.until(scene.hasFailed);
  await stage.settle();
  assertEquals(read, []);
  assert(await appservice.handlePending());
  await alice.syncOnce();
  assertEquals([read, failures], [["1: hello"], []]);
});

Deno.test("The store that fails for a ghost while nothing is handled ends nothing else", async () => {
  await using scene = await failingScene();
  const { alice, roomId, read } = scene;
  const appservice = await scene.serve();
  scene.fail();
  await assertRejects(() => appservice.intent(PARROT).sendText(roomId, "lost"));
  await appservice.intent(PARROT).sendText(roomId, "here");
  await alice.syncOnce();
  assertEquals(read, ["here"]);
});

const REFUSAL = {
  ...{ kind: "status", status: 401, times: 1 } as const,
  body: { errcode: "M_UNKNOWN_TOKEN", error: "Unknown token" },
};

/** An application service that is started, and whose ghost answers Alice. */
async function startedScene() {
  const scene = await appserviceScene({ isServing: false });
  const failures: unknown[] = [];
  const first = scene.serving = scene.instance();
  first.on("HANDLER_ERROR", ({ error }) => void failures.push(error));
  await first.botClient.joinRoom(scene.roomId);
  first.start({ ping: false }).catch(() => {}); // `done` says the same
  return Object.assign(scene, { first, failures });
}

Deno.test("What was said when the token of an application service was dead is answered by the next process", async () => {
  await using scene = await startedScene();
  const { alice, roomId, first, failures, stage: { homeserver, clock } } = scene;
  homeserver.faults.add({ ...REFUSAL, match: { path: "/register" } });
  homeserver.faults.add({ ...REFUSAL, match: { path: "/account/whoami" } });
  await alice.sendText(roomId, "hello");
  const error = await rejectionOf(first.done);
  assertInstanceOf(error, ActorError);
  assertInstanceOf(error.cause, UnknownTokenError);
  scene.serving = undefined;
  await clock.tick(300_000); // the lease of what has ended
  const next = scene.serving = scene.instance();
  assert(await next.handlePending());
  assertEquals([scene.answers(), failures], [["1: hello"], []]);
});

/** With which request the token was dead, and whether it was for longer. */
const CASES = [["/register", true], ["/heard", true], ["/heard", false]] as const;

for (const [path, isLong] of CASES) {
  const when = `dead with ${path}${isLong ? "" : ", and not for long"}`;
  Deno.test(`What the own user was to answer is answered by the next process if the token was ${when}`, async () => {
    await using scene = await appserviceScene({ isServing: false });
    const { alice, roomId, stage } = scene;
    const { homeserver, clock } = stage;
    const first = scene.instance();
    await first.botClient.joinRoom(roomId);
    await first.close();
    const failures: unknown[] = [];
    const begin = () => {
      const { registration } = first;
      const { baseUrl, fetch } = homeserver;
      const { store, stage: { log } } = scene;
      const serverName = "localhost";
      const appservice = scene.serving = new Appservice({
        ...{ registration, serverName, baseUrl, fetch, clock, log, store },
      });
      appservice.on("HANDLER_ERROR", ({ error }) => void failures.push(error));
      appservice.on("m.room.message", async ({ room_id, content }) => {
        await appservice.botClient.sendText(room_id, `heard ${content.body}`, { txnId: "heard" });
      });
      return appservice;
    };
    await using second = begin();
    second.start({ ping: false }).catch(() => {}); // `done` says the same
    homeserver.faults.add({ ...REFUSAL, match: { path } });
    if (isLong) homeserver.faults.add({ ...REFUSAL, match: { path: "/account/whoami" } });
    await alice.sendText(roomId, "hello");
    const ended = rejectionOf(second.done);
    await stage.settle();
    await stage.clock.tick(10_000); // it looks every five seconds
    assertInstanceOf((await ended as ActorError).cause, isLong ? UnknownTokenError : ClientEndedError);
    scene.serving = undefined;
    await clock.tick(300_000); // the lease of what has ended
    await using third = begin();
    assert(await third.handlePending());
    const said = homeserver.room(roomId).messages.map(({ content }) => content.body);
    assertEquals([said, failures], [["hello", "heard hello"], []]);
  });
}

Deno.test("A token of the own user that was dead, and replaced since, ends nothing", async () => {
  await using scene = await startedScene();
  const { alice, roomId, first: { botClient }, stage } = scene;
  stage.homeserver.faults.add({ ...REFUSAL, match: { path: "/joined_rooms" } });
  await assertRejects(() => botClient.getJoinedRooms(), UnknownTokenError);
  const { accessToken } = botClient.api;
  botClient.api.accessToken = "another";
  botClient.api.accessToken = accessToken;
  for (const text of ["hello", "again"]) await alice.sendText(roomId, text);
  await stage.until(() => scene.answers().length > 1);
  assertEquals(scene.answers(), ["1: hello", "2: again"]);
});

Deno.test("A homeserver that does not know one user of an application service ends nothing", async () => {
  await using scene = await startedScene();
  const { alice, roomId, failures, stage } = scene;
  stage.homeserver.faults.add({ ...REFUSAL, match: { path: "/register" } });
  await alice.sendText(roomId, "hello");
  await stage.until(() => failures.length > 0);
  assertInstanceOf(failures[0], UnknownTokenError);
  await alice.sendText(roomId, "again");
  await stage.until(() => scene.answers().length > 0);
  assertEquals(scene.answers(), ["1: again"]);
});
