/** The server shows a user's identity with more than was compared, so that it is signed as well. */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { ALICE, masterOf, signingScene } from "../../identity/signing_scene.ts";
import { sign, signingKey } from "../../support/fake_user.ts";

Deno.test("T56: what the server shows of a user beside the compared key is not signed", async () => {
  const { bot, alice, server, uploads } = await signingScene();
  const answer = server.answer.bind(server);
  server.answer = (from, request) => {
    const response = answer(from, request);
    if (request.kind !== "keysQuery") return response;
    const { master_keys: masters } = response as { master_keys?: Record<string, JsonObject> };
    const shown = masters?.[ALICE];
    if (masters !== undefined && shown !== undefined) {
      const { signatures: _, ...keys } = shown;
      const key = alice.master ?? signingKey();
      masters[ALICE] = sign({ ...keys, "org.example.extra": true }, {
        userId: ALICE,
        keyId: `ed25519:${key.publicKey}`,
        key,
      });
    }
    return response;
  };
  server.show({ userId: ALICE, deviceId: "PHONE" });
  await bot.sync();
  const master = masterOf(alice);
  await bot.engine.steps.signIdentity({ userId: ALICE, master });
  await bot.flush();
  const { signatures: _, ...object } = uploads[0]?.[ALICE]?.[master] as unknown as JsonObject;
  assertEquals(object, { user_id: ALICE, usage: ["master"], keys: { [`ed25519:${master}`]: master } });
});
