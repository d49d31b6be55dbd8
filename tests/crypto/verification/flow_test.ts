/** One verification, message by message, where the two sides would not come by themselves. */

import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { OwnDevice } from "../../../src/crypto/context/context.ts";
import { FlowState } from "../../../src/crypto/verification/flow_state.ts";
import {
  checkedContent,
  commonWays,
  flowOf,
  methodsOf,
  QR_SCAN,
  QR_SHOW,
  RECIPROCATE,
  SAS,
  stepOf,
  VerificationFault,
} from "../../../src/crypto/verification/protocol.ts";
import { type FrozenKeys, VerificationFlow } from "../../../src/crypto/verification/verification.ts";
import { isVerification } from "../../../src/types/content/encryption_content.ts";
import { QrReciprocation } from "../../../src/crypto/verification/qr_reciprocation.ts";
import { sasOffer } from "../../../src/crypto/verification/sas_exchange.ts";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { JsonObject, RoomID, UserID } from "@greenroom/matrix/types";
import { Duel } from "./duel.ts";

const vodozemac = await Vodozemac.create();
const ROOM: RoomID = "!room:example.org";
const BOB: UserID = "@bob:example.org";
const KEYS: FrozenKeys = { device: "device", master: "master", ownMaster: "own", isOwnVerified: true };

function own(deviceId: string, userId: UserID = "@alice:example.org"): OwnDevice {
  return { userId, deviceId, curve25519: "curve", ed25519: "ed" };
}

/** Alice's request to Bob's devices, or in a room. */
function asking(devices: readonly string[], roomId?: RoomID): VerificationFlow {
  const name = { userId: BOB, roomId, flowId: "$flow" };
  return new VerificationFlow({
    name,
    own: own("ALICE"),
    isIncoming: false,
    devices,
    methods: [SAS],
    expiresAt: 600_000,
  });
}

/** A request of Bob's device to Alice, or a start without one. */
function asked(flowId: string, deviceId: string, start?: JsonObject): VerificationFlow {
  return new VerificationFlow({
    name: { userId: BOB, roomId: undefined, flowId },
    own: own("ALICE"),
    isIncoming: true,
    devices: [deviceId],
    methods: [SAS],
    expiresAt: 600_000,
    start,
  });
}

const ready = (from_device: string) =>
  ({ step: "ready", content: { from_device, methods: [SAS] }, senderDevice: from_device }) as const;

Deno.test("The first device that is ready takes part, whichever was asked first, and none that comes later", () => {
  for (const roomId of [undefined, ROOM]) {
    const flow = asking(roomId === undefined ? ["ONE", "TWO"] : [], roomId);
    assertEquals(flow.deviceId, undefined);
    flow.receive(ready("TWO"));
    flow.receive({ ...ready("ONE"), senderDevice: undefined });
    assertEquals([flow.deviceId, flow.state().phase], ["TWO", "ready"]);
  }
});

Deno.test("A start that comes once strings are compared calls the verification off, from either side", () => {
  for (const isSelf of [false, true]) {
    for (const starter of ["alice", "bob"] as const) {
      const duel = new Duel({ isSelf });
      const { own: { deviceId: from_device } } = duel.other(duel[starter]);
      duel.startSas(duel[starter]).run();
      const content = { ...sasOffer(), from_device, transaction_id: "flow" };
      duel[starter].flow.receive({ step: "start", content });
      assertEquals(duel[starter].cancelled, ["m.unexpected_message", "us"]);
    }
  }
});

Deno.test("A second start before the first is answered calls the verification off", () => {
  const { alice, bob } = new Duel();
  const content = { ...sasOffer(), from_device: bob.own.deviceId, transaction_id: "flow" };
  alice.flow.receive({ step: "start", content });
  assertEquals(alice.state.needs, "start");
  alice.flow.receive({ step: "start", content });
  assertEquals(alice.cancelled, ["m.unexpected_message", "us"]);
});

Deno.test("The other side may be done before what was verified is stored here", () => {
  const duel = new Duel().startSas().run().confirm();
  duel.bob.flow.complete({ device: true, identity: true });
  duel.run();
  assertEquals([duel.alice.phase, duel.alice.state.needs], ["confirmed", "completion"]);
  duel.alice.flow.complete({ device: true, identity: true });
  assertEquals([duel.alice.phase, duel.alice.state.needs], ["done", undefined]);
  duel.alice.flow.end("m.timeout", "too late", "us");
  assertEquals(duel.alice.phase, "done");
});

Deno.test("A device named like a key that is not there vouches for no identity", () => {
  const duel = new Duel({ bobsDevice: "undefined" });
  duel.bob.hasMaster = false;
  duel.startSas().run().confirm();
  assertEquals(duel.alice.flow.vouched, { device: true, identity: false });
});

Deno.test("A code that was scanned verifies nothing once the verification was called off", () => {
  const duel = new Duel({ ways: ["show-qr", "scan-qr"] });
  const bytes = duel.bob.flow.showQr(duel.bob.keys(duel.alice));
  duel.alice.flow.scanQr(bytes, duel.alice.keys(duel.bob));
  duel.alice.flow.cancel("m.user", "no");
  duel.alice.flow.receive({ step: "done", content: { transaction_id: "flow" } });
  assertEquals([duel.alice.flow.vouched, duel.alice.state.needs], [undefined, undefined]);
});

Deno.test("The first reason counts, and the words and the code of the other side as far as they go", () => {
  const flow = asking(["ONE"]);
  flow.receive({ step: "cancel", content: { code: "c".repeat(100), reason: "their words" } });
  flow.end("m.timeout", "later", "us");
  assertEquals(flow.state().cancellation, { code: "c".repeat(100), reason: "their words", by: "them" });
  const other = asking(["ONE"]);
  other.receive({ step: "cancel", content: { code: "c".repeat(101) } });
  assertEquals(other.state().cancellation, { code: "m.user", reason: "", by: "them" });
});

Deno.test("Only the devices that did not ask at the same time are told that another request goes on", () => {
  const ours = asking(["ONE", "TWO"]);
  const theirs = asked("theirs", "ONE");
  ours.giveWayTo(theirs);
  const sent = ours.takeOutgoing();
  assertEquals(sent.map(({ content, devices }) => [content.code, devices]), [["m.accepted", ["TWO"]]]);
  assertEquals(theirs.state().phase, "ready");
});

Deno.test("A verification that began with a start ends without a word, and is answered once", () => {
  const flow = asked("flow", "BOB", { ...sasOffer(), from_device: "BOB", transaction_id: "flow" });
  flow.accept(["sas"]);
  flow.startSas(vodozemac, KEYS); // the other side has begun
  flow.answerStart(vodozemac, KEYS);
  flow.answerStart(vodozemac, KEYS);
  assertEquals(flow.takeOutgoing().map(({ type }) => type), ["m.key.verification.accept"]);
  flow.complete({ device: true, identity: false });
  assertEquals([flow.takeOutgoing(), flow.state().phase], [[], "done"]);
});

Deno.test("A prompt is dropped when its request is too old, however short it has waited", () => {
  const name = { userId: BOB, roomId: undefined, flowId: "flow" };
  const setup = { name, own: own("ALICE"), isIncoming: true, devices: ["BOB"], methods: [SAS] };
  assertEquals(new FlowState({ ...setup, expiresAt: 30, promptUntil: 120 }).expiresAt, 30);
  assertEquals(new FlowState({ ...setup, expiresAt: 600, promptUntil: 120 }).expiresAt, 120);
});

Deno.test("Of two at once that of the smaller user counts, whatever the devices are named; of one user that of the smaller device", () => {
  const of = (userId: UserID, deviceId: string) =>
    new FlowState({
      name: { userId, roomId: undefined, flowId: "flow" },
      own: own(deviceId),
      isIncoming: false,
      devices: [],
      methods: [SAS],
      expiresAt: 0,
    });
  assertEquals([of(BOB, "Z").isFirst("A"), of(BOB, "A").isFirst("Z")], [true, true]);
  assertEquals([of("@aaron:example.org", "A").isFirst("Z")], [false]);
  const [alice] = ["@alice:example.org"] as const;
  assertEquals([of(alice, "A").isFirst("Z"), of(alice, "Z").isFirst("A")], [true, false]);
});

Deno.test("T46: no key of either side may be another one than at the beginning", () => {
  for (const name of ["device", "master", "ownMaster"] as const) {
    const state = new FlowState({
      name: { userId: BOB, roomId: undefined, flowId: "flow" },
      own: own("ALICE"),
      isIncoming: false,
      devices: ["BOB"],
      methods: [SAS],
      expiresAt: 0,
    });
    state.freeze(KEYS);
    state.freeze({ ...KEYS, isOwnVerified: false }); // which is no key
    const fault = assertThrows(() => state.freeze({ ...KEYS, [name]: "other" }), VerificationFault);
    assertEquals([fault.problem, state.keys?.[name]], ["m.key_mismatch", KEYS[name]]);
  }
});

Deno.test("Strings are shown as emoji alone if the other side knows no numbers", () => {
  const duel = new Duel();
  duel.wire = (_from, step, content) =>
    step === "accept" ? { ...content, short_authentication_string: ["emoji"] } : content;
  duel.startSas().run();
  assertEquals(duel.alice.state.shortString?.decimals, undefined);
  assertEquals(duel.alice.state.shortString?.emojiIndices?.length, 7);
});

Deno.test("T49: a secret is that of no code before one was shown", () => {
  const name = { userId: BOB, roomId: undefined, flowId: "flow" };
  const qr = new QrReciprocation({ own: own("ALICE"), name, keys: KEYS });
  const fault = assertThrows(() => qr.reciprocated("c2VjcmV0"), VerificationFault);
  assertEquals(fault.problem, "m.key_mismatch");
});

Deno.test("Codes are named with what they need, and ways are those that both sides have said", () => {
  assertEquals(methodsOf(["sas"]), [SAS]);
  assertEquals(methodsOf(["show-qr"]), [QR_SHOW, RECIPROCATE]);
  assertEquals(methodsOf(["scan-qr"]), [QR_SCAN, RECIPROCATE]);
  assertEquals(commonWays([QR_SHOW, RECIPROCATE], [QR_SCAN]), []);
  assertEquals(commonWays([QR_SCAN, RECIPROCATE], [QR_SCAN, RECIPROCATE]), []);
  assertEquals(commonWays([QR_SHOW, RECIPROCATE], [QR_SCAN, RECIPROCATE]), ["show-qr"]);
});

Deno.test("Events of a verification are told by their type, requests in rooms by their message type", () => {
  const msgtype = "m.key.verification.request";
  assert(isVerification("m.key.verification.ready", {}));
  assert(isVerification("m.room.message", { msgtype }));
  assertFalse(isVerification("m.room.message", { msgtype: "m.text" }));
  assertFalse(isVerification("m.room.topic", { msgtype }));
});

Deno.test("What is not said of a step is ignored, and lists are bounded", () => {
  assertEquals(checkedContent("key", { key: "key", method: "org.example.other" }).key, "key");
  const mac = (count: number) =>
    checkedContent("mac", {
      keys: "mac",
      mac: Object.fromEntries(Array.from({ length: count }, (_, index) => [`ed25519:${index}`, "mac"])),
    });
  assertEquals(Object.keys(mac(100).mac).length, 100);
  assertThrows(() => mac(101), VerificationFault, "too many keys");
});

Deno.test("A type that ends in the name of what each object has is no step", () => {
  const of = (name: string) => stepOf({ type: `m.key.verification.${name}`, sender: BOB, content: {} });
  assertEquals(["constructor", "toString", "__proto__", "key"].map(of), [
    undefined,
    undefined,
    undefined,
    "key",
  ]);
});

Deno.test("A step through a room refers to its verification, by a name that can be one", () => {
  const of = (content: Record<string, unknown>, roomId?: RoomID) =>
    flowOf({
      type: "m.key.verification.key",
      sender: BOB,
      content,
      ...roomId !== undefined && { place: { roomId, eventId: "$key", at: 0 } },
    })?.flowId;
  assertEquals(of({ "m.relates_to": { rel_type: "m.reference", event_id: "$flow" } }, ROOM), "$flow");
  assertEquals(of({ "m.relates_to": { rel_type: "m.thread", event_id: "$flow" } }, ROOM), undefined);
  assertEquals(of({}, ROOM), undefined);
  assertEquals(of({ transaction_id: "x".repeat(255) }), "x".repeat(255));
  assertEquals(of({ transaction_id: "\ud800" }), undefined);
});

Deno.test("m.unexpected_message: a MAC, or a key, before its exchange has come so far", () => {
  const mac = { step: "mac", content: { mac: {}, keys: "mac" } } as const;
  for (const incoming of [mac, { step: "key", content: { key: "key" } } as const]) {
    const { alice } = new Duel().startSas();
    alice.flow.receive(incoming);
    assertEquals(alice.cancelled, ["m.unexpected_message", "us"]);
  }
  const duel = new Duel().startSas();
  duel.deliver(duel.alice);
  duel.bob.flow.answerStart(vodozemac, duel.bob.keys(duel.alice));
  duel.bob.flow.receive(mac); // without the other key
  assertEquals(duel.bob.cancelled, ["m.unexpected_message", "us"]);
});
