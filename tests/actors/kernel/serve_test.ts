import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { Handlers } from "../../../src/actors/kernel/actor.ts";
import { fatal } from "../../../src/actors/kernel/actor_error.ts";
import { later } from "../../../src/actors/kernel/later.ts";
import { parseFrame } from "../../../src/actors/kernel/port.ts";
import { portRef } from "../../../src/actors/kernel/port_ref.ts";
import { serve } from "../../../src/actors/kernel/serve.ts";
import { spawn } from "../../../src/actors/kernel/spawn.ts";
import { errorCodec } from "../../../src/actors/kernel/wire_error.ts";
import { ValueError } from "../../../src/errors/value_error.ts";
import { answer, type Echo, ScriptedEndpoint } from "./scripted_endpoint.ts";
import { recordingLogger, settle } from "./support.ts";

function serving(options: { shared?: boolean } = {}) {
  const endpoint = new ScriptedEndpoint();
  const closed: string[] = [];
  const gate = Promise.withResolvers<string>();
  const actor = spawn<Echo>({
    name: "near",
    log: recordingLogger(),
    handlers: { echo: (body) => body, wait: () => later(gate.promise) },
  });
  serve(actor, endpoint, { onClose: () => closed.push("closed"), ...options });
  return { endpoint, closed, gate, actor };
}

Deno.test("serve() answers what is no message of the protocol with an error", async () => {
  const { endpoint, actor } = serving();
  const kinds = ["constructor", "hasOwnProperty", undefined, 7, { toString: "none" }];
  kinds.forEach((kind, id) => endpoint.receive({ type: "ask", id, kind }));
  await settle();
  assertEquals(
    endpoint.sent.map((frame) => frame.type === "reply" && !frame.ok && [frame.id, frame.error.name]),
    kinds.map((_, id) => [id, "ActorProtocolError"]),
  );
  await actor.stop();
});

Deno.test("serve() survives any data", async () => {
  const data = fc.oneof(
    fc.anything(),
    fc.record({
      type: fc.constantFrom("ask", "cancel", "reply", "failed"),
      id: fc.oneof(fc.nat(3), fc.anything()),
      kind: fc.oneof(fc.constantFrom("echo", "__proto__"), fc.anything()),
      body: fc.jsonValue(),
      reason: fc.anything(),
      cancellable: fc.anything(),
    }, { requiredKeys: ["type"] }),
  );
  const { endpoint, actor } = serving();
  await fc.assert(fc.asyncProperty(fc.array(data), async (frames) => {
    for (const frame of frames) endpoint.receive(frame);
    await settle();
    endpoint.sent.length = 0;
    endpoint.receive({ type: "ask", id: -1, kind: "echo", body: "still here" });
    await settle();
    assertEquals(endpoint.sent, [answer(-1, "still here")]);
  }));
  await actor.stop();
});

Deno.test("serve() answers with an error if the reply can't be cloned", async () => {
  const { endpoint, actor } = serving();
  // A body that came in as a function could only come from this thread, which is what the test needs.
  endpoint.receive({ type: "ask", id: 1, kind: "echo", body: () => {} });
  await settle();
  const [reply] = endpoint.sent;
  assertEquals(reply?.type === "reply" && !reply.ok && reply.error.name, "ActorProtocolError");
  await actor.stop();
});

Deno.test("serve() answers an ID once while it is in use", async () => {
  const { endpoint, gate, actor } = serving();
  endpoint.receive({ type: "ask", id: 1, kind: "wait" });
  endpoint.receive({ type: "ask", id: 1, kind: "echo", body: "twice" });
  await settle();
  gate.resolve("once");
  await settle();
  assertEquals(endpoint.sent, [answer(1, "once")]);
  await actor.stop();
});

Deno.test("serve() stops the actor when its asker takes its leave, answers first, and then says bye", async () => {
  const { endpoint, gate, actor, closed } = serving();
  endpoint.receive({ type: "ask", id: 1, kind: "wait" });
  endpoint.receive({ type: "ask", id: 2, kind: "echo", body: 2 });
  endpoint.receive({ type: "bye" });
  await settle();
  assertEquals(endpoint.sent, [answer(2, 2)]);
  gate.resolve("one");
  await actor.done;
  await settle();
  assertEquals(endpoint.sent, [answer(2, 2), answer(1, "one"), { type: "bye" }]);
  assertEquals([closed, endpoint.listeners], [["closed"], 0]);
});

Deno.test("serve() says at once that the actor failed, and bye when nothing of it runs any more", async () => {
  const endpoint = new ScriptedEndpoint();
  const gate = Promise.withResolvers<string>();
  const handlers: Handlers<Echo> = {
    echo: () => {
      throw fatal(new Error("disk full"));
    },
    wait: () => later(gate.promise),
  };
  serve(spawn<Echo>({ name: "near", log: recordingLogger(), handlers }), endpoint);
  endpoint.receive({ type: "ask", id: 1, kind: "wait" });
  endpoint.receive({ type: "ask", id: 2, kind: "echo" });
  await settle();
  assertEquals(endpoint.sent.map(({ type }) => type).toSorted(), ["failed", "reply", "reply"]);
  gate.resolve("too late");
  await settle();
  assertEquals(endpoint.sent.slice(3), [{ type: "bye" }]);
});

Deno.test("serve() of a shared actor answers what was asked, says bye and leaves the actor alone", async () => {
  const { endpoint, gate, actor, closed } = serving({ shared: true });
  endpoint.receive({ type: "ask", id: 1, kind: "wait" });
  endpoint.receive({ type: "bye" });
  await settle();
  assertEquals(closed, []);
  gate.resolve("one");
  await settle();
  assertEquals(endpoint.sent, [answer(1, "one"), { type: "bye" }]);
  assertEquals([closed, endpoint.listeners], [["closed"], 0]);
  assertEquals(await actor.ask("echo", "alive"), "alive");
  await actor.stop();
  assertEquals(endpoint.sent.length, 2);
});

Deno.test("serve() tells the asker when a message could not be read, and ends", async () => {
  const { endpoint, actor, closed } = serving();
  endpoint.dispatchEvent(new MessageEvent("messageerror"));
  await actor.done;
  await settle();
  assertEquals(endpoint.sent.map(({ type }) => type), ["failed", "bye"]);
  assertEquals(closed, ["closed"]);
});

Deno.test("both sides of a port use the codec they are given", async () => {
  const { port1, port2 } = new MessageChannel();
  const revived = errorCodec({ ValueError: ({ message }) => new ValueError(message) });
  const far = spawn<Echo>({
    name: "far",
    handlers: {
      echo: () => {
        throw new ValueError("Cannot echo: it is empty");
      },
      wait: () => "",
    },
  });
  serve(far, port1, { onClose: () => port1.close() });
  const actor = portRef<Echo>(port2, { name: "far", codec: revived, onClose: () => port2.close() });
  await assertRejects(() => actor.ask("echo", ""), ValueError, "it is empty");
  await actor.stop();
  await far.done;
});

Deno.test("parseFrame() makes a frame or nothing of any data", () => {
  fc.assert(fc.property(fc.anything({ withNullPrototype: true }), (data) => {
    parseFrame(data);
    parseFrame({ type: "ask", id: 1, kind: data });
    parseFrame({ type: "failed", error: data });
  }));
});
