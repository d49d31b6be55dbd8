import { assertEquals } from "@std/assert";
import { bodies, stage } from "./harness.ts";

Deno.test("sync: with a cache as Synapse's the same request gets the same answer, until its time is over", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  scene.homeserver.quirks.syncCache = 120_000;
  const room = await alice.createRoom();
  const { next_batch: since } = await alice.sync();
  const nothing = await alice.sync({ since });
  assertEquals(nothing.next_batch, since);
  await alice.say(room, "one");
  const seen = async (query: { timeout?: number; set_presence?: string }) =>
    bodies((await alice.sync({ since, ...query })).rooms.join[room].timeline.events);
  assertEquals(await seen({}), ["one"]);
  await alice.say(room, "two");
  assertEquals(await seen({ set_presence: "offline" }), ["one"]);
  assertEquals(await seen({ timeout: 1 }), ["one", "two"]);
  assertEquals(await alice.refusal("GET", `/sync?since=${since}&set_presence=x`), [400, "M_INVALID_PARAM"]);
  await scene.clock.tick(120_000);
  assertEquals(await seen({}), ["one", "two"]);
  const first = await alice.sync();
  await alice.say(room, "three");
  assertEquals(await alice.sync(), first);
  await alice.ok("PUT", `/user/${alice.id}/account_data/m.ignored_user_list`, { ignored_users: {} });
  assertEquals(bodies((await alice.sync()).rooms.join[room].timeline.events).at(-1), "three");
});
