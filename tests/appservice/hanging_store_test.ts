import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { appserviceScene, message } from "./scene.ts";

Deno.test("A commit of the store that never settles holds up one transaction for half a minute, and no other", async () => {
  const store = new MemoryStore();
  await using scene = await appserviceScene({ store });
  const { roomId, stage } = scene;
  const commit = store.commit.bind(store);
  const late: (() => Promise<boolean>)[] = [];
  store.commit = (...all) => {
    late.push(() => commit(...all));
    return new Promise(() => {});
  };
  const statuses: number[] = [];
  const send = async (id: string) => {
    const { status } = await scene.send(id, [message(roomId, id, { event_id: `$${id}` })]);
    statuses.push(status);
  };
  const hanging = send("1");
  await stage.until(() => late.length > 0);
  store.commit = commit;
  await stage.clock.tick(29_000);
  assertEquals(statuses, []);
  await stage.clock.tick(1_000);
  await hanging;
  await send("1");
  await send("2");
  assertEquals(statuses, [503, 200, 200]);
  for (const each of late) await each(); // at last it takes effect, and changes nothing
  await send("3");
  await stage.until(() => scene.answers().length === 3);
  assertEquals(scene.answers(), ["1: 1", "2: 2", "3: 3"]);
});
