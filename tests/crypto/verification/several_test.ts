/** Several verifications of one device: which message is whose, and which one goes on. */

import { assertEquals } from "@std/assert";
import type { VerificationEvent } from "../../../src/types/content/encryption_content.ts";
import type { UserID } from "@greenroom/matrix/types";
import { ME } from "../identity/own_scene.ts";
import { EngineScene, OTHER, request } from "./engine_scene.ts";

const ROOM = "!room:example.org";
/** A user whose requests count beside the own ones. */
const FIRST: UserID = "@a:example.org";
const MALLORY: UserID = "@mallory:example.org";

/** What is left of a verification, by its name. */
function stateOf(scene: EngineScene, flowId: string) {
  const state = [...scene.states].find(([id]) => JSON.parse(id)[2] === flowId)?.[1];
  return state && [state.phase, state.cancellation?.code, state.cancellation?.by].filter((each) => each);
}

/** A request of a user in the room. */
function inRoom(scene: EngineScene, sender: UserID, eventId: `$${string}`): Partial<VerificationEvent> {
  const content = { msgtype: "m.key.verification.request", body: "", to: ME, from_device: "PEER" };
  const place = { roomId: ROOM, eventId, at: scene.server.clock.now() } as const;
  return { type: "m.room.message", sender, content: { ...content, methods: ["m.sas.v1"] }, place };
}

/** A step in the room, of the verification with a name. */
function step(type: string, event_id: string, change: Partial<VerificationEvent> = {}) {
  const place = { roomId: ROOM, eventId: "$step", at: 0 } as const;
  const relation = { rel_type: "m.reference", event_id };
  const content = { from_device: "PEER", methods: ["m.sas.v1"], "m.relates_to": relation };
  return { type: `m.key.verification.${type}`, content, place, ...change };
}

/** Asks a user in the room; `early` comes before the request has its name. */
async function ask(
  scene: EngineScene,
  userId: UserID,
  early: readonly Partial<VerificationEvent>[] = [],
): Promise<string | undefined> {
  const { steps } = scene.bot.engine;
  const { id } = await steps.askInRoom({ roomId: ROOM, userId, ways: ["sas"] });
  for (const event of early) await scene.receive(event);
  return scene.take(await steps.askedInRoom({ id, eventId: "$ours" })).id;
}

Deno.test("Of two requests at once in a room that of the smaller user goes on, and the other one is over", async () => {
  const scene = await EngineScene.open();
  await scene.receive(inRoom(scene, OTHER, "$theirs"));
  const ours = await ask(scene, OTHER);
  assertEquals(JSON.parse(ours ?? "[]")[2], "$ours");
  assertEquals([stateOf(scene, "$ours"), stateOf(scene, "$theirs")], [["requested"], [
    "cancelled",
    "m.timeout",
    "us",
  ]]);
  const other = await EngineScene.open();
  await other.receive(inRoom(other, FIRST, "$theirs"));
  const theirs = await ask(other, FIRST);
  assertEquals(JSON.parse(theirs ?? "[]")[2], "$theirs");
  assertEquals([stateOf(other, "$ours"), stateOf(other, "$theirs")], [["cancelled", "m.accepted", "them"], [
    "ready",
  ]]);
});

Deno.test("A request that was accepted before it had its name leaves another one of the user waiting", async () => {
  const scene = await EngineScene.open();
  await scene.receive(inRoom(scene, OTHER, "$theirs"));
  await ask(scene, OTHER, [step("ready", "$ours")]);
  assertEquals([stateOf(scene, "$ours"), stateOf(scene, "$theirs")], [["ready"], ["requested"]]);
});

Deno.test("Nobody else crowds out what comes before a request has its name", async () => {
  for (
    const change of [{ sender: MALLORY }, { place: { roomId: "!other:x", eventId: "$x", at: 0 } as const }]
  ) {
    const scene = await EngineScene.open();
    const flood = Array.from({ length: 50 }, () => step("ready", "$unknown", change));
    await ask(scene, OTHER, [...flood, step("ready", "$ours")]);
    assertEquals(stateOf(scene, "$ours"), ["ready"]);
  }
});

Deno.test("A request in a room that could not be sent, or was not made, begins nothing", async () => {
  const scene = await EngineScene.open();
  const { steps } = scene.bot.engine;
  const { id } = await steps.askInRoom({ roomId: ROOM, userId: OTHER, ways: ["sas"] });
  const outcomes = [
    await steps.askedInRoom({ id, eventId: undefined }),
    await steps.askedInRoom({ id, eventId: "$late" }),
    await steps.askedInRoom({ id: "unknown", eventId: "$unknown" }),
  ];
  assertEquals(
    outcomes.map(({ states, sends, id }) => [states, sends, id]),
    Array(3).fill([[], [], undefined]),
  );
});

Deno.test("A request that comes once more changes nothing", async () => {
  const scene = await EngineScene.open();
  await scene.asked();
  await scene.receive(request(scene, "flow"));
  assertEquals(stateOf(scene, "flow"), ["ready"]);
});

Deno.test("T48: only a request asks, in its own form: not one of devices in a room, nor one of rooms between devices", async () => {
  const scene = await EngineScene.open();
  const { content = {} } = inRoom(scene, OTHER, "$x");
  const timestamp = scene.server.clock.now();
  const { place } = step("request", "$flow");
  await scene.receive(
    { type: "m.room.message", content: { ...content, timestamp, transaction_id: "flow" } },
    {
      ...step("request", "$flow"),
      content: { ...step("request", "$flow").content, to: ME, timestamp },
      place: { ...place, at: timestamp },
    },
    { ...request(scene, "flow"), place: { ...place, at: timestamp } },
  );
  assertEquals([...scene.states], []);
});

Deno.test("Another user's device may have the name of the own one", async () => {
  const scene = await EngineScene.open();
  await scene.receive(request(scene, "flow", { from_device: "MINE" }));
  assertEquals(stateOf(scene, "flow"), ["requested"]);
});

Deno.test("What is not known is answered by what it is: a step, but neither an end nor a start of codes", async () => {
  const scene = await EngineScene.open();
  const unknown = (type: string, content = {}) => ({
    type: `m.key.verification.${type}`,
    content: { transaction_id: type, ...content },
  });
  await scene.receive(unknown("cancel"), unknown("done"));
  assertEquals(scene.sent, []);
  await scene.receive(
    unknown("accept", { method: "m.sas.v1", from_device: "PEER" }),
    unknown("key", { from_device: "" }),
  );
  assertEquals(scene.sent.map(([step, devices, { transaction_id }]) => [step, devices, transaction_id]), [
    ["cancel", ["PEER"], "accept"],
    ["cancel", ["*"], "key"],
  ]);
  assertEquals([...scene.states], []);
});

Deno.test("Requests of the own user's devices never give way, however many there are", async () => {
  const scene = await EngineScene.open();
  const own = (index: number) => ({
    ...request(scene, `own ${index}`, { from_device: "PHONE" }),
    sender: ME,
  });
  await scene.receive(...Array.from({ length: 5 }, (_, index) => own(index)));
  await scene.receive(...Array.from({ length: 95 }, (_, index) => ({
    ...request(scene, "flow"),
    sender: `@u${index}:example.org` as UserID,
  })));
  await scene.receive({ ...request(scene, "one more"), sender: MALLORY });
  const waiting = [...scene.states.values()].filter(({ phase }) => phase === "requested");
  assertEquals([waiting.length, waiting.filter(({ userId }) => userId === ME).length], [100, 5]);
});

Deno.test("Who is asked at the same time needs no place among those who wait", async () => {
  const scene = await EngineScene.open();
  const theirs = (index: number, from_device: string) => ({
    ...request(scene, `theirs ${index}`, { from_device }),
    sender: FIRST,
  });
  await scene.receive(...Array.from({ length: 10 }, (_, index) => theirs(index, "OTHER")));
  const target = { userId: FIRST, devices: ["PEER"], ways: ["sas"] } as const;
  scene.take(await scene.bot.engine.steps.requestVerification(target));
  await scene.receive(theirs(10, "PEER"));
  assertEquals([stateOf(scene, "theirs 9"), stateOf(scene, "theirs 10")], [["requested"], ["ready"]]);
});

Deno.test("T48: an own device that accepts in a room leaves a request between devices of the same name alone", async () => {
  const scene = await EngineScene.open();
  await scene.receive(request(scene, "$flow"));
  const { content } = step("ready", "$flow");
  await scene.receive(step("ready", "$flow", { sender: ME, content: { ...content, from_device: "PHONE" } }));
  assertEquals(stateOf(scene, "$flow"), ["requested"]);
});

Deno.test("What an earlier process has left is called off once, and not by each process since", async () => {
  const scene = await EngineScene.open();
  await scene.comparing();
  await scene.bot.restart();
  assertEquals(scene.steps.filter((step) => step === "cancel").length, 1);
  await scene.bot.restart();
  assertEquals(scene.steps.filter((step) => step === "cancel").length, 1);
});

Deno.test("A prompt that nobody has answered is not called off by the next process: it was never taken up", async () => {
  const scene = await EngineScene.open();
  await scene.receive(request(scene, "flow"));
  await scene.bot.restart();
  assertEquals(scene.sent, []);
});

Deno.test("The next process calls a verification off at the device that takes part, and at no other that was asked", async () => {
  const scene = await EngineScene.open();
  const target = { userId: OTHER, devices: ["SECOND", "PEER"], ways: ["sas"] } as const;
  const { id = "" } = scene.take(await scene.bot.engine.steps.requestVerification(target));
  await scene.bot.flush();
  const content = { from_device: "PEER", methods: ["m.sas.v1"], transaction_id: JSON.parse(id)[2] };
  await scene.receive({ type: "m.key.verification.ready", content });
  const before = scene.sent.length;
  await scene.bot.restart();
  assertEquals(scene.sent.slice(before).map(([step, devices]) => [step, devices]), [["cancel", ["PEER"]]]);
});

Deno.test("A request to no device sends nothing", async () => {
  const scene = await EngineScene.open();
  scene.take(
    await scene.bot.engine.steps.requestVerification({ userId: OTHER, devices: [], ways: ["sas"] }),
  );
  await scene.bot.flush();
  assertEquals(scene.sent, []);
});

Deno.test("A device that vouches for itself alone is trusted although its user has another identity since", async () => {
  const scene = await EngineScene.open();
  const keys = scene.peerKeys();
  scene.peerKeys = () => ({ ...keys, ownMaster: undefined });
  const id = await scene.confirmed();
  scene.them.crossSign();
  await scene.lookUp();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.verified, { device: true, identity: false });
});

Deno.test("A device that vouches for itself alone, and is gone by then, is not trusted", async () => {
  const scene = await EngineScene.open();
  const keys = scene.peerKeys();
  scene.peerKeys = () => ({ ...keys, ownMaster: undefined });
  const id = await scene.confirmed();
  scene.server.show(scene.peer.own, "hidden");
  await scene.lookUp();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.cancellation?.code, "m.key_mismatch");
});

Deno.test("T48: what an own device accepts in a room without saying which request it is accepts none", async () => {
  const scene = await EngineScene.open();
  await scene.receive(inRoom(scene, OTHER, "$theirs"));
  for (const relation of [undefined, null, "$theirs", { event_id: "$others" }]) {
    const content = { from_device: "PHONE", methods: ["m.sas.v1"], "m.relates_to": relation };
    await scene.receive(step("ready", "$theirs", { sender: ME, content: content as never }));
  }
  assertEquals(stateOf(scene, "$theirs"), ["requested"]);
});

Deno.test("Of a thousand that have ended what comes late is ignored, and of those before them answered as unknown", async () => {
  const scene = await EngineScene.open();
  const ended = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => from + index).flatMap((index) => [
      request(scene, `flow ${index}`),
      { type: "m.key.verification.cancel", content: { transaction_id: `flow ${index}`, code: "m.user" } },
    ]);
  const late = { type: "m.key.verification.key", content: { transaction_id: "flow 0", key: "x" } };
  await scene.receive(...ended(0, 1_000));
  await scene.receive(late);
  assertEquals(scene.sent, []);
  await scene.receive(...ended(1_000, 1));
  await scene.receive(late);
  assertEquals(scene.sent.map(([, , { code }]) => code), ["m.unknown_transaction"]);
});
