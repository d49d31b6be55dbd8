import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { VerificationError } from "@greenroom/matrix/errors";
import { clientStage } from "../../client/support/stage.ts";
import { BOB, comparingPair, nextRequest, reach, readyPair, synced } from "./pair.ts";

const MINUTE = 60_000;

Deno.test("A request that nobody answers is dropped after two minutes, and called off after ten", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob");
  const mine = await alice.crypto?.requestVerification(BOB);
  assert(mine !== undefined);
  const theirs = await nextRequest(here, bob);
  await here.clock.tick(2 * MINUTE - 1_000);
  await here.settle();
  assertEquals(theirs.phase, "requested");
  await here.clock.tick(2_000);
  await reach(here, "cancelled", theirs);
  assertEquals(theirs.cancellation?.code, "m.timeout");
  assertEquals(mine.phase, "requested"); // another device may still answer
  await here.clock.tick(8 * MINUTE);
  await reach(here, "cancelled", mine);
  assertEquals([mine.cancellation?.code, mine.cancellation?.by], ["m.timeout", "us"]);
  const error = await assertRejects(() => mine.done, VerificationError, "m.timeout");
  assertEquals([error.problem, error.by], ["m.timeout", "us"]);
});

Deno.test("A verification that nobody goes on with is called off on both sides ten minutes after its request", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob");
  const [mine, theirs] = await comparingPair(here, alice, bob);
  await mine.confirm();
  await here.clock.tick(9 * MINUTE);
  await here.settle();
  assertEquals([mine.phase, theirs.phase], ["confirmed", "comparing"]);
  await here.clock.tick(MINUTE);
  await reach(here, "cancelled", mine, theirs);
  assertEquals([mine.cancellation?.code, theirs.cancellation?.code], ["m.timeout", "m.timeout"]);
  assertEquals((await alice.crypto?.getDevices(BOB))?.map(({ trust }) => trust), ["unsigned"]);
});

Deno.test("C18: a process that ends in between trusts nothing, and the next one calls the verification off", async () => {
  for (const phase of ["requested", "ready", "comparing", "confirmed"] as const) {
    await using here = clientStage();
    const store = new MemoryStore();
    const alice = await synced(here, "alice");
    const bob = await synced(here, "bob", { store });
    const asked = phase === "requested";
    if (asked) {
      await bob.crypto?.requestVerification("@alice:localhost");
      const mine = await nextRequest(here, alice);
      await bob.close();
      await synced(here, "bob", { store });
      await reach(here, "cancelled", mine);
      continue;
    }
    const [mine, theirs] = phase === "ready"
      ? await readyPair(here, alice, bob)
      : await comparingPair(here, alice, bob);
    if (phase === "confirmed") await theirs.confirm();
    await bob.close();
    assertEquals(theirs.phase, "cancelled");
    const again = await synced(here, "bob", { store });
    await reach(here, "cancelled", mine);
    assertEquals([mine.cancellation?.code, mine.cancellation?.by], ["m.unknown_transaction", "them"]);
    await assertRejects(() => mine.done, VerificationError);
    for (const [client, userId] of [[alice, BOB], [again, "@alice:localhost"]] as const) {
      assertEquals((await client.crypto?.getDevices(userId))?.map(({ trust }) => trust), ["unsigned"]);
    }
  }
});

Deno.test("Who goes on with a verification that this device does not know learns that at once", async () => {
  await using here = clientStage();
  const told: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname.includes("/sendToDevice/")) told.push(pathname.split("/").at(-2) ?? "");
    return here.homeserver.fetch(input, init);
  };
  const [alice, bob] = [await synced(here, "alice", { fetch }), await synced(here, "bob")];
  await here.settle();
  told.length = 0;
  const content = {
    transaction_id: "forgotten",
    from_device: bob.deviceId ?? "",
    methods: ["m.sas.v1"],
  } as const;
  await bob.sendToDevice("m.key.verification.ready", {
    "@alice:localhost": { [alice.deviceId ?? ""]: content as never },
  });
  await here.until(() => told.length > 0);
  assertEquals(told, ["m.key.verification.cancel"]);
});

Deno.test("Of several devices that are asked the first to accept takes part, and the others know", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob");
  const other = await synced(here, "bob", { deviceId: "OTHER" });
  const mine = await alice.crypto?.requestVerification(BOB);
  assert(mine !== undefined);
  const [first, second] = [await nextRequest(here, bob), await nextRequest(here, other)];
  await second.accept();
  await reach(here, "ready", mine, second);
  await reach(here, "cancelled", first);
  assertEquals(mine.deviceId, "OTHER");
  assertEquals([first.cancellation?.code, first.cancellation?.by], ["m.accepted", "other-device"]);
});

Deno.test("A user who sees other emoji calls it off, and the other side learns why", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob");
  const [mine, theirs] = await comparingPair(here, alice, bob);
  await theirs.mismatch();
  await reach(here, "cancelled", mine, theirs);
  assertEquals([mine.cancellation?.code, mine.cancellation?.by], ["m.mismatched_sas", "them"]);
  const error = await assertRejects(() => theirs.done, VerificationError);
  assertEquals([error.problem, error.by, error.code], ["m.mismatched_sas", "us", "VERIFICATION_ERROR"]);
});
