import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { type Client, ValueError } from "@greenroom/matrix";
import { VerificationError } from "@greenroom/matrix/errors";
import type { UserIdentity, VerificationRequest } from "@greenroom/matrix/types";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ALICE, BOB, nextRequest, reach, readyPair, synced } from "./pair.ts";

Deno.test("requestVerification() refuses what can't be verified, and says what to do", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  await synced(here, "bob");
  const ask = (peer: unknown, options?: unknown) =>
    assertRejects(
      async () => await alice.crypto?.requestVerification(peer as never, options as never),
      ValueError,
    );
  assert((await ask("bob")).message.includes("must be a user ID"));
  assert((await ask({ userId: BOB, roomId: "room" })).message.includes("must be a room ID"));
  assert((await ask({ userId: BOB, deviceId: "NONE" })).message.includes('the device "NONE"'));
  assert((await ask({ userId: ALICE, deviceId: alice.deviceId })).message.includes("other than this one"));
  assert((await ask(ALICE)).message.includes("does not show a device with keys"));
  assert((await ask("@nobody:localhost")).message.includes("has to be logged in"));
  assert(
    (await ask({ userId: ALICE, roomId: "!room:localhost" })).message.includes("the own user in a room"),
  );
  assert((await ask(BOB, { ways: [] })).message.includes("Cannot verify by no way"));
  assert((await ask(BOB, { ways: ["dance"] })).message.includes('Cannot verify by "dance"'));
  const reason = new ValueError("enough");
  await assertRejects(
    async () => await alice.crypto?.requestVerification(BOB, { signal: AbortSignal.abort(reason) }),
    ValueError,
    "enough",
  );
});

Deno.test("Devices and identities are asked for a verification as they are found", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const [device] = await alice.crypto?.getDevices(BOB) ?? [];
  assert(device !== undefined);
  const mine = await alice.crypto?.requestVerification(device);
  assertEquals([mine?.userId, mine?.phase], [BOB, "requested"]);
  assertEquals((await nextRequest(here, bob)).deviceId, alice.deviceId);
  const identity: UserIdentity = {
    ...{ userId: BOB, master: "", hasChanged: false, wasReset: false, isVerified: false, wasVerified: false },
  };
  assertEquals((await alice.crypto?.requestVerification(identity))?.userId, BOB);
});

Deno.test("A device that no sync has announced yet can be verified, though devices were just looked up", async () => {
  await using here = clientStage();
  let isLate = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await here.homeserver.fetch(input, init);
    const isSync = new URL(input instanceof Request ? input.url : input).pathname.endsWith("/sync");
    return isLate && isSync ? await hung(init?.signal) : response;
  };
  const alice = await synced(here, "alice", { fetch });
  isLate = true;
  assertEquals(await alice.crypto?.getDevices(ALICE), []);
  const phone = await synced(here, "alice", { deviceId: "PHONE" });
  const asked = alice.crypto?.requestVerification({ userId: ALICE, deviceId: "PHONE" });
  assertEquals((await nextRequest(here, phone)).deviceId, alice.deviceId);
  await asked;
});

Deno.test("What is not the time for is refused, and the verification goes on", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const [mine, theirs] = await readyPair(here, alice, bob);
  await assertRejects(() => mine.confirm(), ValueError, "Cannot confirm: the verification is ready");
  await assertRejects(() => mine.mismatch(), ValueError, "Cannot report a mismatch");
  await assertRejects(() => mine.accept(), ValueError, "Cannot accept");
  await assertRejects(() => mine.showQr(), ValueError, "Cannot show a QR code");
  await assertRejects(() => mine.scanQr("text" as never), ValueError, "must be a Uint8Array");
  assertEquals([mine.phase, theirs.phase, mine.ways, mine.comparison], [
    "ready",
    "ready",
    ["sas"],
    undefined,
  ]);
});

Deno.test("Calls of a verification that was called off reject with why, and cancel() does nothing more", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const [mine, theirs] = await readyPair(here, alice, bob);
  const comparing = assertRejects(
    () => mine.compare(),
    VerificationError,
    "the other device has called it off with m.user",
  );
  await theirs.cancel();
  await reach(here, "cancelled", mine, theirs);
  await comparing;
  await theirs.cancel();
  for (const call of [() => mine.startSas(), () => mine.confirm(), () => mine.compare(), () => mine.done]) {
    const error = await assertRejects(call, VerificationError);
    assertEquals([error.problem, error.by], ["m.user", "them"]);
  }
});

Deno.test("A signal ends the waiting, and not the verification", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const [mine] = await readyPair(here, alice, bob);
  const controller = new AbortController();
  const { signal } = controller;
  const waits = [mine.compare({ signal }), mine.changed({ signal })];
  const reason = new TypeError("enough");
  controller.abort(reason);
  for (const wait of waits) assertStrictEquals(await wait.catch((error) => error), reason);
  assertEquals(mine.phase, "ready");
  await mine.startSas();
  assertEquals((await mine.compare()).emoji?.length, 7);
});

Deno.test("Each who iterates gets each request, also those that wait already, until the client is closed", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const seen: VerificationRequest[][] = [[], []];
  const read = async (into: VerificationRequest[]) => {
    for await (const request of bob.crypto?.verificationRequests ?? []) into.push(request);
  };
  const first = read(seen[0] as VerificationRequest[]);
  await alice.crypto?.requestVerification(BOB);
  await here.until(() => seen[0]?.length === 1);
  const second = read(seen[1] as VerificationRequest[]);
  await here.until(() => seen[1]?.length === 1);
  assertStrictEquals(seen[0]?.[0], seen[1]?.[0]);
  const another = await alice.crypto?.requestVerification({ userId: BOB, deviceId: bob.deviceId });
  await here.until(() => seen.every(({ length }) => length === 2));
  assertEquals([seen[0]?.[1]?.userId, seen[0]?.[1]?.isIncoming, another?.isIncoming], [ALICE, true, false]);
  const [request] = seen[0] ?? [];
  await bob.close();
  await Promise.all([first, second]);
  await assertRejects(async () => await request?.done, VerificationError, "The client was closed");
});

Deno.test("A handler gets the requests of others, compares with them, and keeps no client from stopping", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const seen: string[] = [];
  alice.on("VERIFICATION_REQUEST", () => void seen.push("alice asked herself"));
  bob.on("VERIFICATION_REQUEST", async (request) => {
    await request.accept();
    const { emoji } = await request.startSas();
    seen.push(JSON.stringify(emoji));
    await request.confirm();
  });
  const ask = async () => {
    const request = await alice.crypto?.requestVerification(BOB);
    const shown = await request?.startSas();
    seen.push(JSON.stringify(shown?.emoji));
    await request?.confirm();
    return await request?.done;
  };
  let verified: string | undefined;
  ask().then((result) => verified = result?.deviceId, (error) => verified = String(error));
  await here.until(() => verified !== undefined);
  assertEquals([verified, seen.length, new Set(seen).size], [bob.deviceId, 2, 1]);

  bob.on("VERIFICATION_REQUEST", (request) => request.done);
  await alice.crypto?.requestVerification(BOB);
  await here.settle();
  let hasEnded = false;
  bob.syncingTask?.then(() => hasEnded = true);
  bob.stop();
  await here.until(() => hasEnded);
});

Deno.test("A declined request is called off on both sides", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const mine = await alice.crypto?.requestVerification(BOB);
  assert(mine !== undefined);
  const theirs = await nextRequest(here, bob);
  await theirs.cancel();
  await reach(here, "cancelled", mine, theirs);
  assertEquals([mine.cancellation?.code, mine.cancellation?.by], ["m.user", "them"]);
});

/** Lets two sides compare and confirm. */
async function verified(here: ClientStage, mine: VerificationRequest, theirs: VerificationRequest) {
  await reach(here, "ready", mine, theirs);
  await mine.startSas();
  await reach(here, "comparing", mine, theirs);
  assertEquals(mine.comparison, theirs.comparison);
  await Promise.all([mine.confirm(), theirs.confirm()]);
  await reach(here, "done", mine, theirs);
  return [(await mine.done).deviceId, (await theirs.done).deviceId];
}

/** What two calls have come to, when both have. */
async function both<Result>(here: ClientStage, ...calls: (Promise<Result> | undefined)[]): Promise<Result[]> {
  let results: (Result | undefined)[] | undefined;
  Promise.all(calls).then((all) => results = all);
  await here.until(() => results !== undefined);
  return results as Result[];
}

/** The requests that come. */
function incoming(client: Client): VerificationRequest[] {
  const requests: VerificationRequest[] = [];
  const listen = async () => {
    for await (const request of client.crypto?.verificationRequests ?? []) requests.push(request);
  };
  listen();
  return requests;
}

for (const [first, second] of [["alice", "bob"], ["bob", "alice"]] as const) {
  Deno.test(`When ${first} and ${second} ask each other at the same time, there is one verification, and no prompt`, async () => {
    await using here = clientStage();
    const [one, two] = [await synced(here, first), await synced(here, second)];
    const [me, you] = [`@${first}:localhost`, `@${second}:localhost`] as const;
    const prompts = [incoming(one), incoming(two)];
    await both(here, one.crypto?.getDevices(you), two.crypto?.getDevices(me));
    const [mine, theirs] = await both(
      here,
      one.crypto?.requestVerification({ userId: you, deviceId: two.deviceId }),
      two.crypto?.requestVerification(me),
    );
    assert(mine && theirs);
    assertEquals(await verified(here, mine, theirs), [two.deviceId, one.deviceId]);
    assertEquals(prompts, [[], []]);
  });

  Deno.test(`When ${first} and ${second} ask each other in a room at the same time, there is one verification`, async () => {
    await using here = clientStage();
    const [one, two] = [await synced(here, first), await synced(here, second)];
    const [me, you] = [`@${first}:localhost`, `@${second}:localhost`] as const;
    const roomId = await one.createRoom({ invitees: [you] });
    await two.joinRoom(roomId);
    await here.settle();
    const [mine, theirs] = await both(
      here,
      one.crypto?.requestVerification({ userId: you, roomId }),
      two.crypto?.requestVerification({ userId: me, roomId }),
    );
    assert(mine && theirs);
    assertEquals(await verified(here, mine, theirs), [two.deviceId, one.deviceId]);
  });
}

Deno.test("When two own devices ask each other at the same time, the others are told that it was accepted", async () => {
  await using here = clientStage();
  const devices = [];
  for (const deviceId of ["B", "A", "C"]) devices.push(await synced(here, "alice", { deviceId }));
  const [b, a, c] = devices;
  assert(a && b && c);
  const told = incoming(c);
  await both(here, a.crypto?.getDevices(ALICE), b.crypto?.getDevices(ALICE));
  const [mine, theirs] = await both(
    here,
    b.crypto?.requestVerification(ALICE),
    a.crypto?.requestVerification({ userId: ALICE, deviceId: "B" }),
  );
  await here.until(() => told.length > 0);
  const [third] = told;
  assert(mine && theirs && third);
  assertEquals(await verified(here, mine, theirs), ["A", "B"]);
  await reach(here, "cancelled", third);
  assertEquals(third.cancellation?.code, "m.accepted");
});

Deno.test("Who asks a device that has asked already accepts by that", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const [mine] = await both(here, alice.crypto?.requestVerification(BOB));
  const theirs = await nextRequest(here, bob);
  const [again] = await both(
    here,
    bob.crypto?.requestVerification({ userId: ALICE, deviceId: alice.deviceId }),
  );
  assert(mine && again === theirs);
  await verified(here, mine, theirs);
});

/** An answer that does not come. */
function hung(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}
