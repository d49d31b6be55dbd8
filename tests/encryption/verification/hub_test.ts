/** What leads from the engine to the application and back, with an engine that says what a test wants. */

import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { ActorStoppedError, ClientEndedError } from "@greenroom/matrix/errors";
import type { EventID } from "@greenroom/matrix/types";
import type { VerificationReply } from "../../../src/crypto/engine/engine.ts";
import type { VerificationSend } from "../../../src/crypto/verification/verification.ts";
import { HubStage, NOTHING, ROOM, said, START, verificationState } from "./hub_stage.ts";
import { ALICE, BOB } from "./pair.ts";

/** A message for a room. */
function send(id: string): VerificationSend {
  return {
    id,
    roomId: ROOM,
    userId: BOB,
    devices: [],
    type: "m.key.verification.ready",
    content: {},
  } as never;
}

Deno.test("The engine hears of verifications only, and idle() says whether there was anything to wait for", async () => {
  const { hub, asked } = new HubStage();
  assert(!await hub.idle());
  hub.receive({});
  hub.receive({ toDevice: [{ event: { type: "m.dummy", sender: BOB, content: {} } }] as never });
  hub.receive({
    decrypted: [{ event: said("m.room.message"), encryption: {} }, { code: "UNTRUSTED" }] as never,
  });
  assertEquals([await hub.idle(), asked], [false, []]);
  hub.receive({ decrypted: [{ event: START, encryption: {} }] as never });
  assertEquals([await hub.idle(), asked], [true, ["receive"]]);
});

Deno.test("A request is handed out once, and one that nobody can answer any more is not", async () => {
  const stage = new HubStage();
  const requests = stage.read();
  await stage.shows(verificationState());
  await stage.shows(verificationState({ ways: ["sas"] }));
  await stage.shows(verificationState({ id: "two", phase: "cancelled" }));
  await stage.shows(verificationState({ id: "three", isIncoming: false }));
  await stage.shows(verificationState({ id: "four" }));
  assertEquals(requests.map(({ ways }) => ways), [["sas"], []]);
  assertEquals(stage.announced, requests);
  await stage.shows(verificationState({ phase: "ready" }));
  const late = stage.read();
  await stage.clock.tick(0);
  assertEquals([late.length, late[0] === requests[1]], [1, true]);
});

Deno.test("Of a request that gives way nothing stays, and the one that goes on is the one that was handed out", async () => {
  const stage = new HubStage();
  const requests = stage.read();
  const theirs = verificationState({ id: "theirs" });
  await stage.shows(theirs);
  // One that gives way in the step in which it begins was shown to nobody.
  const ours = verificationState({ id: "ours", isIncoming: false, phase: "cancelled", replacedBy: "theirs" });
  await stage.shows(ours, { ...theirs, phase: "ready" });
  assertEquals(requests.map(({ phase }) => phase), ["ready"]);
  assertEquals(stage.warnings, []);
});

Deno.test("Who is verified as another own device is asked for secrets, once it is done, and nobody else", async () => {
  const stage = new HubStage();
  const verified = { device: true, identity: true };
  for (const userId of [BOB, ALICE] as const) {
    await stage.shows(verificationState({ userId, phase: "confirmed" }));
    assertEquals(stage.took(), []);
    await stage.shows(verificationState({ userId, phase: "done", verified }));
    assertEquals(stage.took(), userId === ALICE ? ["secrets"] : []);
  }
});

Deno.test("What a verification needs is done, and nothing else", async () => {
  const stage = new HubStage();
  await stage.shows(verificationState());
  assertEquals(stage.took(), []);
  await stage.shows(verificationState({ phase: "ready", needs: "start" }));
  assertEquals(stage.took(), ["devices", "answerStart"]);
  await stage.shows(verificationState({ phase: "confirmed", needs: "completion" }));
  assertEquals(stage.took(), ["complete"]);
});

Deno.test("The other device is looked up before its keys are needed, and for nothing else", async () => {
  const stage = new HubStage();
  const requests = stage.read();
  await stage.shows(verificationState());
  const [request] = requests;
  assert(request !== undefined);
  await request.accept();
  const shortString = { emojiIndices: undefined, decimals: [1_000, 2_000, 9_191] };
  stage.replies.push({ ...NOTHING, states: [verificationState({ phase: "comparing", shortString })] });
  await request.startSas();
  for (const call of ["showQr", "confirm", "mismatch", "cancel"] as const) await request[call]();
  await request.scanQr(new Uint8Array());
  assertEquals(
    stage.took().join(" "),
    "accept devices startSas devices showQr confirm mismatch cancel devices scanQr",
  );
});

Deno.test("What has ended stays as it was when the client is closed, and its calls say what the engine does", async () => {
  const stage = new HubStage();
  const requests = stage.read();
  const verified = { device: true, identity: false };
  await stage.shows(verificationState(), verificationState({ id: "two" }));
  await stage.shows(verificationState({ phase: "done", verified }));
  const [done, waiting] = requests;
  assert(done !== undefined && waiting !== undefined);
  stage.took();
  stage.replies.push(Promise.reject(new ValueError("it has ended")));
  await assertRejects(() => done.startSas(), ValueError, "it has ended");
  assertEquals(stage.took(), ["startSas"], "nobody is looked up");
  stage.hub.stop();
  assertEquals([done.phase, waiting.phase, waiting.cancellation?.by], ["done", "cancelled", "us"]);
  const isVerified = { isDeviceVerified: true, isIdentityVerified: false };
  assertEquals(await done.done, { userId: BOB, deviceId: "THEIRS", ...isVerified });
});

Deno.test("The next verification that takes too long is called off when it is time, and nothing waits without one", async () => {
  const stage = new HubStage();
  await stage.shows(verificationState(), verificationState({ id: "two", expiresAt: 600_000 }));
  assertEquals(stage.clock.pending, 1);
  await stage.clock.tick(119_999);
  assertEquals(stage.took(), []);
  stage.replies.push({ ...NOTHING, states: [verificationState({ phase: "cancelled" })] });
  await stage.clock.tick(1);
  assertEquals([stage.took(), stage.clock.pending], [["expire"], 1]);
  await stage.clock.tick(479_999);
  assertEquals(stage.took(), []);
  stage.replies.push({ ...NOTHING, states: [verificationState({ id: "two", phase: "cancelled" })] });
  await stage.clock.tick(1);
  assertEquals([stage.took(), stage.clock.pending], [["expire"], 0]);
});

Deno.test("It is not looked more than once a second what takes too long", async () => {
  const stage = new HubStage();
  await stage.shows(verificationState({ expiresAt: 500 }));
  stage.replies.push({ ...NOTHING, states: [verificationState({ phase: "cancelled" })] });
  await stage.clock.tick(999);
  assertEquals(stage.took(), []);
  await stage.clock.tick(1);
  assertEquals(stage.took(), ["expire"]);
});

Deno.test("A message that a room does not take calls its verification off, but for the end of the client", async () => {
  for (const isClosed of [false, true]) {
    const stage = new HubStage();
    const refused = Promise.withResolvers<EventID>();
    stage.sending = refused.promise;
    stage.replies.push({ states: [verificationState()], sends: [send("one")] });
    stage.hub.receive({ clear: [START] });
    await stage.clock.tick(0);
    if (isClosed) stage.hub.stop();
    refused.reject(new TypeError("refused"));
    await stage.hub.idle();
    assertEquals(stage.took(), isClosed ? [] : ["cancel"]);
    assertEquals(stage.warnings, isClosed ? [] : ["Could not send a message of a verification"]);
  }
});

Deno.test("A step that fails is logged, unless it fails because the client or the engine has ended", async () => {
  const failing = (error: Error) => Promise.reject<VerificationReply>(error);
  const stage = new HubStage();
  await stage.led(failing(new ActorStoppedError("crypto")));
  assertEquals(stage.warnings, []);
  await stage.led(failing(new TypeError("disk full")));
  assertEquals(stage.warnings, ["A step of a verification has failed"]);
  const late = Promise.withResolvers<VerificationReply>();
  const done = stage.led(late.promise);
  stage.hub.stop();
  late.reject(new TypeError("disk full"));
  await done;
  assertEquals(stage.warnings.length, 1);
});

Deno.test("A dehydrated device is not asked, and a device that is found is looked up once", async () => {
  const stage = new HubStage();
  stage.found = [{ deviceId: "KEPT", isDehydrated: true }];
  await assertRejects(() => stage.hub.request(BOB), ValueError, "does not show a device with keys");
  assertEquals(stage.took(), ["devices", "devices"]);
  stage.found = [...stage.found, { deviceId: "THEIRS", isDehydrated: false }];
  stage.replies.push({ ...NOTHING, states: [verificationState({ isIncoming: false })], id: "one" });
  assertEquals((await stage.hub.request(BOB)).phase, "requested");
  assertEquals([stage.took(), stage.targets], [["devices", "request"], [["THEIRS"]]]);
});

Deno.test("A request that is under way when the client is closed leads to nothing", async () => {
  const stage = new HubStage();
  const late = Promise.withResolvers<VerificationReply>();
  stage.replies.push(late.promise);
  const asking = assertRejects(() => stage.hub.request(BOB), ClientEndedError, "the client was closed");
  await stage.clock.tick(0);
  stage.hub.stop();
  const state = verificationState({ isIncoming: false });
  late.resolve({ states: [state], sends: [send("one")], id: "one" });
  await asking;
  assertEquals([stage.clock.pending, await stage.hub.idle()], [0, false]);
});

Deno.test("A signal that has aborted before keeps the request from being made", async () => {
  const stage = new HubStage();
  const reason = new TypeError("enough");
  const refused = stage.hub.request(BOB, { signal: AbortSignal.abort(reason) });
  assertStrictEquals(await refused.catch((error) => error), reason);
  await stage.clock.tick(0);
  assertEquals(stage.asked, []);
});
