import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { Appservice } from "@greenroom/matrix/appservice";
import type { ClientStage } from "../client/support/stage.ts";
import { appserviceScene, message } from "./scene.ts";

Deno.test("A transaction that gets there before the one that failed is handled after it, and each once", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, stage, serving } = scene;
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  await stage.settle();
  scene.serving = {
    async fetch(request: Request) {
      scene.serving = serving; // the network was away for one transaction alone
      await alice.sendText(roomId, "b");
      return new Response((await request.text()).slice(0, 0), { status: 502 });
    },
  } as unknown as Appservice; // nothing else of it is used
  await alice.sendText(roomId, "a");
  await stage.settle();
  assertEquals(scene.answers(), []);
  await stage.clock.tick(2_000);
  await stage.until(() => scene.answers().length === 2);
  assertEquals(scene.answers(), ["1: a", "2: b"]);
});

Deno.test("What follows a transaction that could not be kept does not come before it", async () => {
  const store = new MemoryStore();
  await using scene = await appserviceScene({ store });
  const { alice, roomId, stage, serving } = scene;
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  await stage.settle();
  const commit = store.commit.bind(store);
  store.commit = async () => {
    store.commit = commit;
    await alice.sendText(roomId, "b");
    throw new Error("full");
  };
  await alice.sendText(roomId, "a");
  await stage.settle();
  assertEquals(scene.answers(), []);
  await stage.clock.tick(2_000);
  await stage.until(() => scene.answers().length === 2);
  assertEquals(scene.answers(), ["1: a", "2: b"]);
});

Deno.test("State of a transaction that comes late reaches handlers, and does not replace what is newer", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const names: unknown[] = [];
  serving?.on("m.room.name", ({ content }) => names.push(content.name));
  const state = (type: string, content: object) => message(roomId, "", { type, state_key: "", content });
  const current = async (type: string) =>
    (await serving?.botClient.stateStore.getState(roomId, type))?.content;
  await scene.send("6", [message(roomId, "before")]);
  // Each is refused at first: others of the homeserver come between.
  for (let times = 0; times < 2; times++) await scene.send("8", [state("m.room.name", { name: "new" })]);
  await scene.send("7", [
    state("m.room.name", { name: "old" }),
    state("m.room.topic", { topic: "theatre" }),
    message(roomId, "late"),
  ]);
  assertEquals(names, ["new", "old"]);
  assertEquals(await current("m.room.name"), { name: "new" });
  assertEquals(await current("m.room.topic"), { topic: "theatre" });
  assertEquals(scene.answers(), ["1: before", "2: late"]);
  for (let times = 0; times < 2; times++) await scene.send("9", [state("m.room.name", { name: "newest" })]);
  assertEquals(await current("m.room.name"), { name: "newest" });
});

Deno.test("A homeserver that numbers its transactions anew is believed, and nothing it sends is taken for a repetition", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const name = async () => (await serving?.botClient.stateStore.getState(roomId, "m.room.name"))?.content;
  const state = (value: string) =>
    message(roomId, "", { type: "m.room.name", state_key: "", content: { name: value } });
  await scene.send("1", [message(roomId, "a")]);
  await scene.send("2", [state("old")]);
  await scene.send("1", [message(roomId, "b"), state("new")]);
  assertEquals(scene.answers(), ["1: a", "2: b"]);
  assertEquals(await name(), { name: "new" });
});

Deno.test("A transaction that comes again without what is no event is the same", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const typing: unknown[] = [];
  serving?.on("m.typing", ({ content }) => typing.push(content.user_ids));
  const events = [message(roomId, "once")];
  const ephemeral = [{ type: "m.typing", room_id: roomId, content: { user_ids: [] } }];
  await scene.send("1", events, { rest: { ephemeral } });
  await scene.send("1", events);
  assertEquals([scene.answers(), typing], [["1: once"], [[]]]);
});

/** An application service that is sent topics by hand, and what it has heard of. */
async function topics(store?: MemoryStore): Promise<
  AsyncDisposable & { stage: ClientStage; heard: string[]; send(id: string): Promise<number> }
> {
  const scene = await appserviceScene({ store });
  const { roomId, stage } = scene;
  const heard: string[] = [];
  scene.serving?.on("m.room.topic", ({ content }) => void heard.push(String(content.topic)));
  const send = async (id: string) => {
    const event = message(roomId, "", { type: "m.room.topic", state_key: id, content: { topic: id } });
    return (await scene.send(id, [event])).status;
  };
  return { stage, heard, send, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

Deno.test("The transaction after one that the homeserver has kept back is refused, so that it sends both, in order", async () => {
  await using scene = await topics();
  const { heard, send } = scene;
  assertEquals([await send("1"), await send("2")], [200, 200]);
  assertEquals([await send("5"), await send("6")], [503, 503], "3 and 4 may have been kept back");
  assertEquals([await send("3"), await send("4"), await send("5"), await send("6")], [200, 200, 200, 200]);
  assertEquals(heard, ["1", "2", "3", "4", "5", "6"]);
  assertEquals([await send("8"), await send("7"), await send("8")], [503, 200, 200], "it was worth it");
});

Deno.test("What a homeserver keeps back after it has numbered anew is asked for, though it had sent such a number before", async () => {
  await using scene = await topics();
  const { heard, send } = scene;
  for (const id of ["1", "2", "3", "4"]) assertEquals(await send(id), 200);
  assertEquals([await send("1"), await send("3")], [200, 503], "2 may have been kept back");
  assertEquals([await send("2"), await send("3")], [200, 200]);
  assertEquals(heard, ["1", "2", "3", "4", "1", "2", "3"]);
});

Deno.test("What a homeserver keeps back after it has numbered anew is asked for by a new process, too", async () => {
  const store = new MemoryStore();
  {
    await using before = await topics(store);
    for (const id of ["1", "2", "3", "4"]) assertEquals(await before.send(id), 200);
  }
  await using scene = await topics(store);
  assertEquals([await scene.send("1"), await scene.send("3")], [200, 503], "2 may have been kept back");
});

Deno.test("Where numbers are left out for another application service, a process refuses ever fewer transactions for it", async () => {
  await using scene = await topics();
  const { stage, heard, send } = scene;
  assertEquals([await send("1"), await send("9000"), await send("9002")], [200, 200, 503]);
  await stage.clock.tick(2_000);
  assertEquals([await send("9002"), await send("9004"), await send("9007")], [200, 200, 200]);
  await stage.clock.tick(10_000);
  assertEquals(await send("9009"), 503);
  await stage.clock.tick(2_000);
  assertEquals(await send("9009"), 200);
  await stage.clock.tick(10_000);
  assertEquals([await send("9011"), await send("a"), await send("c"), await send("9012")], [
    200,
    200,
    200,
    200,
  ]);
  await stage.clock.tick(10_000);
  assertEquals(await send("9014"), 503);
  assertEquals(heard, ["1", "9000", "9002", "9004", "9007", "9009", "9011", "a", "c", "9012"]);
});

Deno.test("What a homeserver of several application services has kept back comes after ten seconds, with what comes then", async () => {
  await using scene = await topics();
  const { stage, heard, send } = scene;
  assertEquals([await send("1"), await send("3")], [200, 503]);
  await stage.clock.tick(2_000);
  assertEquals([await send("3"), await send("5")], [200, 200], "2 is another's, 4 was kept back");
  await stage.clock.tick(10_000);
  assertEquals([await send("6"), await send("4"), await send("6")], [503, 200, 200]);
  assertEquals([await send("8"), await send("7"), await send("8")], [503, 200, 200], "it was worth it");
  assertEquals(heard, ["1", "3", "5", "4", "6", "7", "8"]);
});

Deno.test("What a homeserver sends again among new events takes none of them with it", async () => {
  await using scene = await appserviceScene();
  const { roomId, stage, serving } = scene;
  const texts: unknown[] = [];
  serving?.on("m.room.message", ({ content }) => void texts.push(content.body));
  const transactions = [["a"], ["b", "c", "a"], ["d", "b", "e", "a", "f", "f"]];
  for (const [index, sent] of transactions.entries()) {
    await scene.send(`tx${index}`, sent.map((text) => message(roomId, text, { event_id: `$${text}` })));
    await stage.settle();
  }
  assertEquals(texts.sort(), ["a", "b", "c", "d", "e", "f"]);
});
