import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { VerificationEvent } from "../../../src/types/content/encryption_content.ts";
import type { UserID } from "@greenroom/matrix/types";
import { EngineScene, OTHER, request } from "./engine_scene.ts";

const ROOM = "!room:example.org";

/** How many requests wait for an answer, of all or of one user. */
function waiting(scene: EngineScene, of?: UserID): number {
  const prompts = [...scene.states.values()].filter(({ phase }) => phase === "requested");
  return prompts.filter(({ userId }) => userId === (of ?? userId)).length;
}

Deno.test("A request that is over ten minutes old, over five ahead, of no time or malformed is ignored", async () => {
  const scene = await EngineScene.open();
  const MINUTE = 60_000;
  await scene.receive(
    request(scene, "old", { age: 10 * MINUTE }),
    request(scene, "ahead", { age: -5 * MINUTE }),
    request(scene, "timeless", { age: NaN }),
    request(scene, ""),
    request(scene, "x".repeat(256)),
    {
      ...request(scene, "methods"),
      content: { from_device: "PEER", transaction_id: "methods", timestamp: 0 },
    },
    { type: "m.key.verification.request", content: {} },
    { type: "m.key.verification.nothing", content: { transaction_id: "x" } },
  );
  assertEquals([waiting(scene), scene.sent], [0, []]);
  await scene.receive(
    request(scene, "just old", { age: 10 * MINUTE - 1 }),
    request(scene, "just ahead", { age: -5 * MINUTE + 1 }),
    request(scene, "just ahead"), // the same once more
  );
  assertEquals([waiting(scene), scene.sent], [2, []]);
});

Deno.test("Requests by the thousand are bounded, per user and in all, and nobody is crowded out", async () => {
  const scene = await EngineScene.open();
  await scene.receive(request(scene, "first"));
  const users = Array.from({ length: 200 }, (_, index): UserID => `@u${index}:example.org`);
  const flood = users.flatMap((sender) =>
    Array.from({ length: 20 }, (_, index) => ({ ...request(scene, `flow ${index}`), sender }))
  );
  await scene.receive(...flood);
  assertEquals(waiting(scene), 100);
  assertEquals(
    Math.max(...users.map((user) => waiting(scene, user))) <= 10 ? "bounded" : "too many",
    "bounded",
  );
  assertEquals(waiting(scene, OTHER), 1);
  assertEquals(scene.sent, []); // and nobody gets an answer
});

Deno.test("A message of a verification that is not known is answered so, a few times a minute", async () => {
  const scene = await EngineScene.open();
  const key = { type: "m.key.verification.key", content: { key: "x", transaction_id: "unknown" } };
  await scene.receive(key);
  assertEquals(scene.sent, [["cancel", ["*"], {
    code: "m.unknown_transaction",
    reason: "This device knows no such verification",
    transaction_id: "unknown",
  }]]);
  await scene.receive({ type: "m.key.verification.ready", content: { ...key.content, from_device: "PEER" } });
  assertEquals(scene.sent[1]?.[1], ["PEER"]);
  for (let time = 0; time < 50; time++) await scene.receive(key);
  assertEquals(scene.sent.length, 5);
  for (const step of ["cancel", "done"]) {
    await scene.receive({ type: `m.key.verification.${step}`, content: { transaction_id: "other" } });
  }
  await scene.server.clock.tick(60_000);
  await scene.receive(key);
  assertEquals(scene.sent.length, 6);
});

Deno.test("What comes late of a verification that has ended is ignored", async () => {
  const scene = await EngineScene.open();
  const id = await scene.comparing();
  await scene.act(id, { act: "mismatch" });
  const sent = scene.sent.length;
  await scene.receive({
    type: "m.key.verification.mac",
    content: { mac: {}, keys: "", transaction_id: "flow" },
  });
  await scene.receive(request(scene, "flow"));
  assertEquals([scene.sent.length, waiting(scene)], [sent, 0]);
  await assertRejects(() => scene.act(id, { act: "confirm" }), ValueError, "it has ended");
  await scene.act(id, { act: "cancel", code: "m.user", reason: "" });
  assertEquals(scene.sent.length, sent);
});

Deno.test("A device that is not known can't be verified: the verification is called off", async () => {
  const scene = await EngineScene.open();
  const { type, content } = request(scene, "flow", { from_device: "UNKNOWN" });
  await scene.receive({ type, content });
  const [id = ""] = [...scene.states.keys()];
  await scene.act(id, { act: "accept", ways: ["sas"] });
  await scene.act(id, { act: "startSas" });
  assertEquals(scene.states.get(id)?.cancellation?.code, "m.key_mismatch");
});

Deno.test("A start without a request is a request, and is answered when it is accepted", async () => {
  const scene = await EngineScene.open();
  const offer = {
    method: "m.sas.v1",
    from_device: "PEER",
    key_agreement_protocols: ["curve25519-hkdf-sha256"],
    hashes: ["sha256"],
    message_authentication_codes: ["hkdf-hmac-sha256"],
    short_authentication_string: ["decimal", "emoji"],
    transaction_id: "flow",
  };
  await scene.receive({ type: "m.key.verification.start", content: offer });
  assertEquals([waiting(scene), scene.sent], [1, []]);
  const [id = ""] = [...scene.states.keys()];
  await assertRejects(() => scene.act(id, { act: "startSas" }), ValueError, "the verification is requested");
  const { states } = await scene.act(id, { act: "accept", ways: ["sas"] });
  assertEquals(states.map(({ needs }) => needs), ["start"]);
  await scene.act(id, { act: "answerStart" });
  assertEquals(scene.steps, ["accept"]);
  assertEquals(scene.sent[0]?.[2].message_authentication_code, "hkdf-hmac-sha256");
});

Deno.test("In a room a request is for the user that it names, and of now", async () => {
  const scene = await EngineScene.open();
  const now = scene.server.clock.now();
  const asked = (to: string, eventId: `$${string}`, at = now): Partial<VerificationEvent> => ({
    type: "m.room.message",
    content: {
      msgtype: "m.key.verification.request",
      body: "",
      from_device: "PEER",
      methods: ["m.sas.v1"],
      to,
    },
    place: { roomId: ROOM, eventId, at },
  });
  await scene.receive(
    asked("@third:example.org", "$other"),
    asked("@me:example.org", "$old", now - 600_000),
    asked("@me:example.org", "$mine"),
    { ...asked("@me:example.org", "$own"), sender: "@me:example.org" },
  );
  const [state] = [...scene.states.values()];
  assertEquals([waiting(scene), state?.roomId, state?.deviceId], [1, ROOM, "PEER"]);
});

Deno.test("Another own device that accepts a request in a room takes it over", async () => {
  const scene = await EngineScene.open();
  const at = scene.server.clock.now();
  const content = { msgtype: "m.key.verification.request", body: "", to: "@me:example.org" };
  const place = { roomId: ROOM, eventId: "$mine", at } as const;
  const methods = { from_device: "PEER", methods: ["m.sas.v1"] };
  await scene.receive({ type: "m.room.message", content: { ...content, ...methods }, place });
  const ready = (from_device: string): Partial<VerificationEvent> => ({
    type: "m.key.verification.ready",
    sender: "@me:example.org",
    content: { ...methods, from_device, "m.relates_to": { rel_type: "m.reference", event_id: "$mine" } },
    place: { ...place, eventId: "$ready" },
  });
  await scene.receive(ready("MINE")); // the own words come back
  assertEquals(waiting(scene), 1);
  await scene.receive(ready("PHONE"));
  const [state] = [...scene.states.values()];
  assertEquals([state?.cancellation?.code, state?.cancellation?.by], ["m.accepted", "other-device"]);
});

Deno.test("Ten requests of a user can wait, and the user with the most gives way, but never the own one", async () => {
  const scene = await EngineScene.open();
  const from = (sender: UserID, count: number) =>
    scene.receive(
      ...Array.from({ length: count }, (_, index) => ({ ...request(scene, `flow ${index}`), sender })),
    );
  await from("@a:example.org", 20);
  assertEquals(waiting(scene, "@a:example.org"), 10);
  for (let index = 0; index < 8; index++) await from(`@b${index}:example.org`, 10);
  await from("@c:example.org", 9);
  await from("@d:example.org", 1);
  assertEquals(waiting(scene), 100);
  await from("@e:example.org", 1);
  assertEquals([waiting(scene), waiting(scene, "@a:example.org"), waiting(scene, "@e:example.org")], [
    100,
    9,
    1,
  ]);
  assertEquals([waiting(scene, "@c:example.org"), waiting(scene, "@d:example.org")], [9, 1]);
  const own = (flowId: string, from_device: string) => ({
    ...request(scene, flowId, { from_device }),
    sender: "@me:example.org" as const,
  });
  await scene.receive(own("mine", "PHONE"), own("myself", "MINE"));
  assertEquals([waiting(scene), waiting(scene, "@me:example.org")], [101, 1]); // not that of this very device
  await from("@f:example.org", 1);
  assertEquals(waiting(scene, "@me:example.org"), 1);
});

Deno.test("Starts without a request are bounded as requests are, and malformed ones are called off", async () => {
  const scene = await EngineScene.open();
  const start = (flowId: string, content = {}): Partial<VerificationEvent> => ({
    type: "m.key.verification.start",
    content: { method: "m.sas.v1", from_device: "PEER", transaction_id: flowId, ...content },
  });
  await scene.receive(...Array.from({ length: 20 }, (_, index) => start(`flow ${index}`)));
  assertEquals(
    scene.sent.map(([step, , { code }]) => [step, code]),
    Array(5).fill(["cancel", "m.invalid_message"]),
  );
  await scene.server.clock.tick(60_000);
  await scene.receive(start("nobody", { from_device: 7 }), start("other", { method: "m.reciprocate.v1" }));
  assertEquals([waiting(scene), scene.sent.at(-1)?.[2].code], [0, "m.unknown_transaction"]);
});

Deno.test("What comes through a room before the own request has its name is kept, and only that", async () => {
  const scene = await EngineScene.open();
  const { steps } = scene.bot.engine;
  const answer = (event_id: string, change: Partial<VerificationEvent> = {}): Partial<VerificationEvent> => ({
    type: "m.key.verification.ready",
    content: {
      from_device: "PEER",
      methods: ["m.sas.v1"],
      "m.relates_to": { rel_type: "m.reference", event_id },
    },
    place: { roomId: ROOM, eventId: "$ready", at: 0 },
    ...change,
  });
  const asked = async (before: readonly Partial<VerificationEvent>[]) => {
    const send = await steps.askInRoom({ roomId: ROOM, userId: OTHER, ways: ["sas"] });
    for (const event of before) await scene.receive(event);
    const eventId = `$${send.id}` as const;
    return scene.take(await steps.askedInRoom({ id: send.id, eventId })).states[0];
  };
  const nameOfNext = async () => {
    const { id } = await steps.askInRoom({ roomId: ROOM, userId: OTHER, ways: ["sas"] });
    await steps.askedInRoom({ id, eventId: undefined }); // it could not be sent
    const [, random, count] = id.split("-");
    return `$gr-${random}-${(parseInt(count ?? "", 36) + 2).toString(36)}`;
  };
  assertEquals((await asked([answer(await nameOfNext())]))?.phase, "ready");
  const elsewhere = { roomId: "!other:example.org", eventId: "$ready", at: 0 } as const;
  assertEquals((await asked([answer(await nameOfNext(), { place: elsewhere })]))?.phase, "requested");
  assertEquals((await asked([answer(await nameOfNext(), { sender: "@m:example.org" })]))?.phase, "requested");
  const flood = Array.from({ length: 20 }, () => answer("$unknown"));
  assertEquals((await asked([...flood, answer(await nameOfNext())]))?.phase, "requested");
});

Deno.test("T48: an own device that accepts another request, or says anything else, takes nothing over", async () => {
  const scene = await EngineScene.open();
  const at = scene.server.clock.now();
  const content = { msgtype: "m.key.verification.request", body: "", to: "@me:example.org" };
  const place = { roomId: ROOM, eventId: "$mine", at } as const;
  const methods = { from_device: "PEER", methods: ["m.sas.v1"] };
  await scene.receive({ type: "m.room.message", content: { ...content, ...methods }, place });
  const own = (type: string, event_id: string): Partial<VerificationEvent> => ({
    type: `m.key.verification.${type}`,
    sender: "@me:example.org",
    content: { ...methods, from_device: "PHONE", "m.relates_to": { rel_type: "m.reference", event_id } },
    place,
  });
  await scene.receive(own("ready", "$other"), own("done", "$mine"), own("start", "$mine"));
  assertEquals(waiting(scene), 1);
  const [id = ""] = [...scene.states.keys()];
  await scene.act(id, { act: "accept", ways: ["sas"] });
  await scene.receive(own("ready", "$mine")); // too late: this device takes part
  assertEquals(scene.states.get(id)?.phase, "ready");
});

Deno.test("What has taken too long is called off, and nothing else", async () => {
  const scene = await EngineScene.open();
  const id = await scene.asked();
  await scene.receive(request(scene, "prompt"));
  const expire = async () => scene.take(await scene.bot.engine.steps.expireVerifications()).states.length;
  await scene.server.clock.tick(120_000 - 1);
  assertEquals(await expire(), 0);
  await scene.server.clock.tick(1);
  assertEquals(await expire(), 1);
  const sent = scene.sent.length;
  await scene.server.clock.tick(480_000 - 1);
  assertEquals([await expire(), scene.states.get(id)?.phase], [0, "ready"]);
  await scene.server.clock.tick(1);
  assertEquals(await expire(), 1);
  await scene.bot.flush();
  assertEquals(scene.sent.slice(sent).map(([step, , { code }]) => [step, code]), [["cancel", "m.timeout"]]);
});
