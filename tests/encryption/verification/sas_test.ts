import { assert, assertEquals } from "@std/assert";
import { clientStage } from "../../client/support/stage.ts";
import { ALICE, BOB, comparingPair, reach, synced } from "./pair.ts";

Deno.test("Two users compare the same emoji and numbers, and their devices are verified", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob");
  const [mine, theirs] = await comparingPair(here, alice, bob);
  assertEquals(mine.comparison, theirs.comparison);
  const { emoji, decimals } = await mine.compare();
  assertEquals([emoji?.length, decimals?.length], [7, 3]);
  assert(decimals?.every((each) => each >= 1_000 && each <= 9_191));
  await mine.confirm();
  assertEquals(mine.phase, "confirmed");
  await theirs.confirm();
  await reach(here, "done", mine, theirs);
  assertEquals(await mine.done, {
    userId: BOB,
    deviceId: bob.deviceId ?? "",
    isDeviceVerified: true,
    isIdentityVerified: false,
  });
  assertEquals((await alice.crypto?.getDevices(BOB))?.map(({ trust }) => trust), ["verified"]);
  assertEquals((await bob.crypto?.getDevices(ALICE))?.map(({ trust }) => trust), ["verified"]);
});
