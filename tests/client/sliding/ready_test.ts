import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { SLIDING } from "../../support/sliding.ts";
import { clientStage } from "../support/stage.ts";
import { copyOf } from "../support/store_copy.ts";

Deno.test("A process that goes on from what was cut off is ready without a wait for news", async () => {
  await using here = clientStage(SLIDING);
  const alice = here.client("alice");
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  const store = new MemoryStore();
  const first = here.client("bot", { mxid: "@bot:localhost", sync: "sliding", store, closeTimeout: 0 });
  await first.joinRoom(room);
  first.on("m.room.message", () => new Promise(() => {}));
  first.start();
  await here.settle();
  await alice.sendText(room, "hello");
  await here.settle();
  const left = await copyOf(store); // as it is when the process is killed
  await here.clock.tick(15_000); // its lease is over
  const seen: string[] = [];
  const next = here.client("bot", { mxid: "@bot:localhost", sync: "sliding", store: left });
  next.on("m.room.message", ({ content }) => void seen.push(content.body));
  next.start();
  let isReady = false;
  next.ready.then(() => isReady = true, () => {});
  await here.settle();
  next.close();
  assertEquals([seen, isReady], [["hello"], true]);
});
