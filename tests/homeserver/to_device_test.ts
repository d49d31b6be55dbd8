import { assertEquals } from "@std/assert";
import { stage } from "./harness.ts";

Deno.test("sync: a request that waits deletes no message to the device that comes after it, whatever its token", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { next_batch: since } = await alice.sync();
  const ahead = alice.sync({ since: "s1000_1000", timeout: 30_000 }); // of before the server was set back
  await scene.clock.tick();
  await alice.ok("PUT", "/sendToDevice/x/1", { messages: { "@alice:localhost": { "*": {} } } });
  assertEquals((await alice.sync({ since })).to_device.events.length, 1);
  await scene.clock.tick(30_000);
  await ahead;
});
