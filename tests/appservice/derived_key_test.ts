/** The secrets of users that an application service acts as. */

import { assertEquals } from "@std/assert";
import { Client, HTTPAPI } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { decodeRecoveryKey, encodeRecoveryKey } from "../../src/crypto/secrets/secrets.ts";
import { problemOf } from "../encryption/secrets/scene.ts";
import { KEY as RECOVERY_KEY, OTHER_KEY } from "../encryption/identity/scene.ts";
import { appserviceScene, registration } from "./scene.ts";

const IS_EXTRACTABLE = true;

/** The recovery key of a user that sends. Another derivation would lock those out that there are. */
async function derivedKey(recoveryKey: string, userId: UserID): Promise<string> {
  const info = new TextEncoder().encode(`greenroom appservice ${userId}`);
  const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  const { subtle } = crypto;
  const key = await subtle.importKey("raw", decodeRecoveryKey(recoveryKey), "HKDF", !IS_EXTRACTABLE, [
    "deriveBits",
  ]);
  return encodeRecoveryKey(new Uint8Array(await subtle.deriveBits(algorithm, key, 256)));
}

Deno.test("The secrets of a user that sends open with what is derived from the recovery key for that user, and nothing else", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const { baseUrl, fetch } = scene.stage.homeserver;
  const serving = scene.serving = scene.instance({ encryption: { recoveryKey: RECOVERY_KEY } });
  await serving.intent("_echo_polly").sendText(scene.roomId, "one");
  const [polly, rita] = ["@_echo_polly:localhost", "@_echo_rita:localhost"] as const;
  const api = new HTTPAPI({ baseUrl, fetch, accessToken: registration.as_token, asUserId: polly });
  await using client = new Client({ api, mxid: polly });
  const open = (recoveryKey: string) => client.secretStorage.open({ recoveryKey });
  await serving.botClient.crypto?.start();
  using _storage = await open(await derivedKey(RECOVERY_KEY, polly));
  const others = [RECOVERY_KEY, await derivedKey(RECOVERY_KEY, rita), await derivedKey(OTHER_KEY, polly)];
  for (const key of others) assertEquals(await problemOf(() => open(key)), "wrong-key");
});
