import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { ActorError, type KvStore, MemoryStore, StoreError } from "@greenroom/matrix";
import { rejectionOf } from "../actors/kernel/support.ts";
import { appserviceScene } from "./scene.ts";

const PARROT = "@_echo_parrot:localhost";

/** An application service that encrypts, whose ghost answers Alice; a commit of the ghost's may fail. */
async function failingScene() {
  const inner = new MemoryStore();
  let isFailing = false;
  const store: KvStore = {
    getMany: (keys) => inner.getMany(keys),
    list: (prefix, options) => inner.list(prefix, options),
    close: () => inner.close(),
    async commit(mutations, checks) {
      if (isFailing && mutations.some(({ key }) => key[0] === PARROT && key[2] === "crypto")) {
        isFailing = false;
        throw new StoreError("the disk is gone");
      }
      return await inner.commit(mutations, checks);
    },
  };
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
    fail: () => {
      isFailing = true;
    },
    hasFailed: () => !isFailing,
    async serve() {
      const appservice = scene.serving = scene.instance();
      appservice.on("HANDLER_ERROR", ({ error }) => void failures.push(error));
      await appservice.bot.joinRoom(roomId);
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
  await assertRejects(() => started, ActorError);
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
