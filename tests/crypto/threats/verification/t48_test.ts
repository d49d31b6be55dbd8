/** A server mixes verifications up: it delivers messages of another user, device or way. */

import { assertEquals } from "@std/assert";
import type { UserID } from "../../../../src/types/ids.ts";
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
  const { id = "", states: [state] } = scene.take(await engine.verifications.requestVerification(target));
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
