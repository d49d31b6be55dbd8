/** A server mixes verifications up: it delivers messages of another user, device or way. */

import { assertEquals } from "@std/assert";
import type { VerificationEvent } from "../../../../src/types/content/encryption_content.ts";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { ME } from "../../identity/own_scene.ts";
import { EngineScene } from "../../verification/engine_scene.ts";

const MALLORY: UserID = "@mallory:example.org";
const CANCEL = { code: "m.user", reason: "", transaction_id: "flow" };

Deno.test("T48: a message of another user does not belong to a verification of the same name", async () => {
  const scene = await EngineScene.open();
  const id = await scene.comparing();
  const before = scene.states.get(id);
  await scene.receive({ type: "m.key.verification.cancel", sender: MALLORY, content: CANCEL });
  await scene.receive({
    type: "m.key.verification.mac",
    sender: MALLORY,
    content: { transaction_id: "flow" },
  });
  await scene.act(id, { act: "confirm" });
  assertEquals([before?.phase, scene.states.get(id)?.phase], ["comparing", "confirmed"]);
});

Deno.test("T48: a message of another device of the user, as far as that shows, is ignored", async () => {
  const scene = await EngineScene.open();
  const id = await scene.comparing();
  await scene.receive({ type: "m.key.verification.cancel", senderDevice: "OTHER", content: CANCEL });
  await scene.receive({
    type: "m.key.verification.start",
    content: { from_device: "OTHER", method: "m.reciprocate.v1", secret: "x", transaction_id: "flow" },
  });
  await scene.act(id, { act: "confirm" });
  assertEquals(scene.states.get(id)?.phase, "confirmed");
  await scene.receive({ type: "m.key.verification.cancel", senderDevice: "PEER", content: CANCEL });
  assertEquals(scene.states.get(id)?.phase, "cancelled");
});

Deno.test("T48: a message through a room does not belong to a verification between devices", async () => {
  const scene = await EngineScene.open();
  const id = await scene.comparing();
  const place = { roomId: "!room:example.org", eventId: "$event", at: scene.server.clock.now() } as const;
  const content = { ...CANCEL, "m.relates_to": { rel_type: "m.reference", event_id: "flow" } };
  await scene.receive({ type: "m.key.verification.cancel", content, place });
  await scene.act(id, { act: "confirm" });
  assertEquals(scene.states.get(id)?.phase, "confirmed");
});

Deno.test("T48: a device that was not asked can't accept a request", async () => {
  const scene = await EngineScene.open();
  const { bot: { engine }, userId } = scene;
  const target = { userId, devices: ["PEER"], ways: ["sas"] } as const;
  const { id = "", states: [state] } = scene.take(await engine.steps.requestVerification(target));
  await scene.bot.flush();
  const transaction_id = scene.sent.at(-1)?.[2].transaction_id;
  const ready = (from_device: string) => ({
    type: "m.key.verification.ready",
    content: { from_device, methods: ["m.sas.v1"], transaction_id: transaction_id ?? "" },
  });
  await scene.receive(ready("OTHER"));
  assertEquals([state?.phase, scene.states.get(id)?.phase], ["requested", "requested"]);
  await scene.receive(ready("PEER"));
  await scene.receive(ready("OTHER"));
  assertEquals([scene.states.get(id)?.phase, scene.states.get(id)?.deviceId], ["ready", "PEER"]);
});

const PLACE = { roomId: "!room:example.org", eventId: "$step", at: 0 } as const;

/** A request in a room, of now. */
function roomRequest({ server: { clock } }: EngineScene): Partial<VerificationEvent> {
  const methods = { from_device: "PEER", methods: ["m.sas.v1"] };
  const content = { msgtype: "m.key.verification.request", body: "", to: ME, ...methods };
  return { type: "m.room.message", content, place: { ...PLACE, eventId: "$asked", at: clock.now() } };
}

/** A step of the verification that was asked for in the room, or of what looks like it. */
function roomStep(
  step: string,
  rel_type = "m.reference",
  roomId: RoomID = PLACE.roomId,
): Partial<VerificationEvent> {
  const relation = { rel_type, event_id: "$asked" };
  const content = {
    code: "m.user",
    reason: "",
    from_device: "PHONE",
    methods: [],
    "m.relates_to": relation,
  };
  return { type: `m.key.verification.${step}`, content, place: { ...PLACE, roomId } };
}

Deno.test("T48: what relates to a room's request in another way than by reference is no message of it", async () => {
  const scene = await EngineScene.open();
  const [state] = (await scene.receive(roomRequest(scene))).states;
  const id = state?.id ?? "";
  const after = async (event: Partial<VerificationEvent>) => {
    await scene.receive(event);
    return scene.states.get(id)?.phase;
  };
  assertEquals(await after({ ...roomStep("ready", "m.thread"), sender: ME }), "requested");
  await scene.act(id, { act: "accept", ways: ["sas"] });
  for (const other of ["m.thread", "m.annotation", "m.replace", ""]) {
    assertEquals([other, await after(roomStep("cancel", other))], [other, "ready"]);
  }
  assertEquals(await after(roomStep("cancel")), "cancelled");
});

Deno.test("T48: what the own user says in a room asks this device for nothing, and takes over what was asked there only", async () => {
  const scene = await EngineScene.open();
  await scene.receive({ ...roomRequest(scene), sender: ME });
  assertEquals(scene.states.size, 0);
  await scene.receive(roomRequest(scene));
  const phases = () => [...scene.states.values()].map(({ phase }) => phase);
  await scene.receive({ ...roomStep("ready", "m.reference", "!other:example.org"), sender: ME });
  assertEquals(phases(), ["requested"]);
  await scene.receive({ ...roomStep("ready"), sender: ME });
  assertEquals(phases(), ["cancelled"]);
});
