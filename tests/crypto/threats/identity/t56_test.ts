/** The server shows the own device altered, so that its identity signs what is not its own. */

import { assert, assertEquals } from "@std/assert";
import type { EngineRequest } from "../../../../src/crypto/engine/engine.ts";
import type { DeviceKeys } from "@greenroom/matrix/types";
import { ME, ownScene } from "../../identity/own_scene.ts";

Deno.test("T56: what is signed and uploaded is the own device as it was published, whatever the server shows of it", async () => {
  const { bot, server, identity } = await ownScene();
  const keys = server.keys.get(ME)?.get("MINE");
  assert(keys !== undefined);
  const { signatures, ...published } = structuredClone(keys);
  const altered = {
    ...published,
    algorithms: ["m.evil"],
    "org.example.extra": true,
    signatures,
  } as DeviceKeys;
  server.keys.get(ME)?.set("MINE", altered);
  const uploaded: EngineRequest[] = [];
  const answer = server.answer.bind(server);
  server.answer = (from, request) => {
    if (request.kind !== "signaturesUpload") return answer(from, request);
    uploaded.push(request);
    return { failures: { [ME]: { MINE: { errcode: "M_UNKNOWN", error: "Key does not match" } } } };
  };
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  await bot.engine.steps.offerIdentity(identity.seeds);
  await bot.flush();
  const [request] = uploaded;
  assert(request?.kind === "signaturesUpload" && uploaded.length === 1);
  const offered = request.signatures[ME]?.MINE;
  assert(offered !== undefined && "device_id" in offered);
  const { signatures: both, ...signed } = offered;
  assertEquals(signed, published);
  const names = Object.keys(both[ME] ?? {}).sort();
  assertEquals(names, ["ed25519:MINE", `ed25519:${identity.selfSigning?.publicKey}`].sort());
  assertEquals(Object.keys(request.signatures), [ME], "nothing else is signed");
  assertEquals(Object.keys(request.signatures[ME] ?? {}), ["MINE"]);
});
