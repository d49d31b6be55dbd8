import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { appserviceScene, message } from "./scene.ts";

Deno.test("With an older copy of its store an application service repeats what it had not handled then, and shows that once", async () => {
  const store = new MemoryStore();
  await using scene = await appserviceScene({ store });
  const { roomId, stage, serving } = scene;
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  const topic = (id: string) =>
    message(roomId, "", { type: "m.room.message", content: { msgtype: "m.text", body: id } });
  await scene.send("101", [topic("a")]);
  const commit = store.commit.bind(store);
  const copy = new MemoryStore();
  store.commit = async (...all) => { // the copy is made when the next transaction is durable
    store.commit = commit;
    const isDone = await commit(...all);
    for await (const { key, value } of store.list([])) await copy.commit([{ type: "set", key, value }]);
    return isDone;
  };
  await scene.send("102", [topic("b")]);
  await scene.send("103", [topic("c")]);
  assertEquals(scene.answers(), ["1: a", "2: b", "3: c"]);
  await serving?.close();
  await stage.clock.tick(60_000);
  scene.serving = scene.instance({ store: copy });
  await scene.send("104", [topic("d")]);
  await stage.until(() => scene.answers().length > 3);
  await stage.settle();
  assertEquals(scene.answers(), ["1: a", "2: b", "3: c", "3: d"]);
});
