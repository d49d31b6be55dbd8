import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Appservice } from "@greenroom/matrix/appservice";
import { systemClock } from "../../src/base/clock.ts";
import { Inbox } from "../../src/appservice/inbox.ts";
import { appserviceScene, message, registration } from "./scene.ts";

const ECHO = { id: "echo", userId: "@echo:localhost", clock: systemClock };
const transaction = (name: string) => ({ events: [{ name }], ephemeral: [], to_device: [] });

Deno.test("Inbox.add() of several processes at once keeps all, each under a number of its own, and each ID once", async () => {
  const store = new MemoryStore();
  const inboxes = [1, 2].map(() => new Inbox(store, ECHO));
  const ids = Array.from({ length: 40 }, (_, index) => `t${index >> 1}`); // each twice
  const arrivals = await Promise.all(ids.map((id, index) => inboxes[index % 2]?.add(id, transaction(id))));
  assertEquals(arrivals.filter((each) => each === "new").length, 20);
  assertEquals(arrivals.filter((each) => each === "known").length, 20);
  const entries = await inboxes[0]?.after(0, 100) ?? [];
  assertEquals(entries.map(({ number }) => number), Array.from({ length: 20 }, (_, index) => index + 1));
  assertEquals(new Set(entries.map((entry) => JSON.stringify(entry.transaction))).size, 20);
});

Deno.test("Inbox remembers the latest hundred IDs, and no more", async () => {
  const store = new MemoryStore();
  const inbox = new Inbox(store, ECHO);
  for (let id = 0; id < 150; id++) await inbox.add(`t${id}`, transaction("a"));
  const [head] = await store.getMany([["appservice", "@echo:localhost", "echo", "head"]]);
  assertEquals((head?.value as { ids: string[] }).ids.length, 100);
  assertEquals(await inbox.add("t149", transaction("a")), "known");
});

Deno.test("Inbox.remove() removes what was handled, and nothing that was not", async () => {
  const inbox = new Inbox(new MemoryStore(), ECHO);
  for (let id = 0; id < 10; id++) await inbox.add(`t${id}`, transaction(`${id}`));
  await inbox.remove(7);
  await inbox.remove(3);
  assertEquals((await inbox.after(0, 100)).map(({ number }) => number), [8, 9, 10]);
  await inbox.remove(1_000);
  assertEquals([await inbox.after(0, 100), await inbox.removed()], [[], 10]);
});

Deno.test("An application service that is started answers before its handlers have settled", async () => {
  await using scene = await appserviceScene();
  const { serving, stage, roomId } = scene;
  const done = serving?.start({ ping: false });
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  serving?.on("m.room.message", () => {
    begun.resolve();
    return end.promise;
  });
  assertEquals((await scene.send("t1", [message(roomId, "a")])).status, 200);
  await begun.promise;
  assert(!JSON.stringify(stage.log).includes("could not be handled"));
  end.resolve();
  await stage.settle();
  await serving?.stop();
  await done;
});

Deno.test("What another process adds to the inbox is handled within five seconds by the one that is started", async () => {
  await using scene = await appserviceScene();
  const { serving, stage, store, roomId } = scene;
  const done = serving?.start({ ping: false });
  await stage.settle();
  const events = [message(roomId, "from elsewhere")];
  await new Inbox(store, ECHO).add("t1", { events, ephemeral: [], to_device: [] });
  await stage.clock.tick(5_000);
  await stage.until(() => scene.answers().length === 1);
  await serving?.stop();
  await done;
});

Deno.test("Instances that share a store take turns, and none waits for another", async () => {
  await using scene = await appserviceScene();
  const instances = [scene.serving, scene.instance()];
  for (let id = 0; id < 6; id++) {
    scene.serving = instances[id % 2];
    assertEquals((await scene.send(`t${id}`, [message(scene.roomId, `${id}`)])).status, 200);
  }
  assertEquals(scene.answers(), Array.from({ length: 6 }, (_, id) => `${id + 1}: ${id}`));
});

Deno.test("Members of a room are never taken for all of them", async () => {
  await using scene = await appserviceScene();
  await scene.send("t1", [message(scene.roomId, "a")]);
  assert(!await scene.serving?.botClient.stateStore.hasFullMemberList(scene.roomId));
});

Deno.test("Application services of the same ID on two homeservers may share a store: each handles what it was sent", async () => {
  const store = new MemoryStore();
  await using here = await appserviceScene({ store });
  await using there = new Appservice({
    registration,
    serverName: "elsewhere.example",
    baseUrl: "https://elsewhere.example",
    fetch: () => Promise.resolve(Response.json({})),
    store,
    log: false,
  });
  const heard: [string, string][] = [];
  const both = [[here.serving, "here"], [there, "there"]] as const;
  for (const [appservice, name] of both) {
    appservice?.on("m.room.message", ({ content }) => void heard.push([name, content.body]));
  }
  for (const id of ["1", "2"]) {
    const answers = both.map(([appservice, name]) =>
      appservice?.fetch(
        new Request(`https://echo.example/_matrix/app/v1/transactions/${id}`, {
          method: "PUT",
          headers: { authorization: `Bearer ${registration.hs_token}` },
          body: JSON.stringify({ events: [message(`!room:${name}`, `${name} ${id}`)] }),
        }),
      )
    );
    assertEquals((await Promise.all(answers)).map((answer) => answer?.status), [200, 200]);
  }
  assertEquals(heard.toSorted(), [["here", "here 1"], ["here", "here 2"], ["there", "there 1"], [
    "there",
    "there 2",
  ]]);
});
