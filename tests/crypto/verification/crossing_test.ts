import { assertEquals } from "@std/assert";
import { sasOffer } from "../../../src/crypto/verification/sas_exchange.ts";
import type { UserID } from "@greenroom/matrix/types";
import { ME } from "../identity/own_scene.ts";
import { EngineScene, OTHER, request } from "./engine_scene.ts";

const ROOM = "!room:example.org";
const MALLORY: UserID = "@mallory:example.org";

/** The own request to the other device. */
async function ask(scene: EngineScene, devices: readonly string[] = ["PEER"]): Promise<string> {
  const target = { userId: OTHER, devices, ways: ["sas"] } as const;
  const reply = scene.take(await scene.bot.engine.steps.requestVerification(target));
  return reply.id ?? "";
}

/** Another user, the other device in a room, and another device ask. */
async function othersAsk(scene: EngineScene): Promise<void> {
  const inRoom = {
    msgtype: "m.key.verification.request",
    to: ME,
    from_device: "PEER",
    methods: ["m.sas.v1"],
  };
  const place = { roomId: ROOM, eventId: "$asked", at: scene.server.clock.now() } as const;
  await scene.receive(
    { ...request(scene, "theirs"), sender: MALLORY },
    { type: "m.room.message", content: inRoom, place },
    request(scene, "another device", { from_device: "SECOND" }),
  );
}

/** The names of the requests of others that wait, by who has made them. */
function prompts(scene: EngineScene): string[] {
  return [...scene.states.values()]
    .filter(({ phase, isIncoming }) => phase === "requested" && isIncoming)
    .map(({ userId, roomId = "devices" }) => `${userId} ${roomId}`);
}

Deno.test("Only the device that is asked, in the same place, can ask at the same time: another user's with its name, or in a room, is another request", async () => {
  const scene = await EngineScene.open();
  const id = await ask(scene);
  await othersAsk(scene);
  assertEquals(prompts(scene), [`${MALLORY} devices`, `${OTHER} ${ROOM}`, `${OTHER} devices`]);
  assertEquals(scene.states.get(id)?.phase, "requested");
});

Deno.test("T48: who asks does not by that accept the request of another user, of another device, or in a room", async () => {
  const scene = await EngineScene.open();
  await othersAsk(scene);
  const id = await ask(scene);
  assertEquals(prompts(scene).length, 3);
  assertEquals([scene.states.get(id)?.phase, scene.states.get(id)?.isIncoming], ["requested", false]);
});

Deno.test("Of a request that has given way to the own one nothing is taken, and nothing answered", async () => {
  const scene = await EngineScene.open();
  const id = await ask(scene);
  await scene.receive(request(scene, "theirs"));
  scene.sent.length = 0;
  const start = { ...sasOffer(), from_device: "PEER", transaction_id: "theirs" };
  await scene.receive(
    { type: "m.key.verification.key", content: { transaction_id: "theirs", key: "x" } },
    { type: "m.key.verification.start", content: start },
  );
  assertEquals([[...scene.states.keys()], scene.sent], [[id], []]);
});

Deno.test("Who asks the same device again begins anew: what is underway with it goes on", async () => {
  const scene = await EngineScene.open();
  const underway = await scene.comparing();
  const id = await ask(scene);
  assertEquals([scene.states.get(underway)?.phase, scene.states.get(id)?.phase], ["comparing", "requested"]);
});

Deno.test("Starts without a request are bounded as requests are", async () => {
  const scene = await EngineScene.open();
  const flood = Array.from({ length: 200 }, (_, index) => ({
    type: "m.key.verification.start",
    sender: `@u${index}:example.org` as UserID,
    content: { from_device: "PEER", transaction_id: "flow", ...sasOffer() },
  }));
  await scene.receive(...flood);
  assertEquals(prompts(scene).length, 100);
});
