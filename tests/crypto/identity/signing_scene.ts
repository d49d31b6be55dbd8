/** An engine with the private keys of its user's identity, which signs others. */

import { assertEquals } from "@std/assert";
import type { SignaturesUpload } from "../../../src/crypto/identity/identity.ts";
import type { DeviceKeys, JsonObject, UserID } from "@greenroom/matrix/types";
import { FakeUser } from "../support/fake_user.ts";
import { type OwnScene, ownScene, type OwnSceneOptions } from "./own_scene.ts";

/** Another user. */
export const ALICE: UserID = "@alice:example.org";

/** An own identity that signs, and whom. */
export interface SigningScene extends OwnScene {
  /** Alice, whose devices are known. */
  readonly alice: FakeUser;
  /** What was uploaded. */
  readonly uploads: SignaturesUpload[];
  /** What the server makes of the next upload. Default: it takes it. */
  onUpload: () => JsonObject;
}

/** Alice is known; the own private keys are at hand, unless the scene is `bare`. */
export async function signingScene(options: OwnSceneOptions = {}): Promise<SigningScene> {
  const base = await ownScene(options);
  const { bot, server, identity } = base;
  const uploads: SignaturesUpload[] = [];
  const answer = server.answer.bind(server);
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  server.identities.set(ALICE, alice);
  const scene = { ...base, alice, uploads, onUpload: (): JsonObject => ({ failures: {} }) };
  const phone = alice.deviceKeys(alice.device("PHONE"));
  server.show({ userId: ALICE, deviceId: "PHONE" }, phone as unknown as DeviceKeys); // as it was signed
  server.member(ALICE, "join");
  await bot.sync();
  if (options.bare !== true) {
    await bot.engine.steps.askForIdentity();
    await bot.flush();
    assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "adopted");
    await bot.flush();
  }
  server.answer = (from, request) => {
    if (request.kind !== "signaturesUpload") return answer(from, request);
    uploads.push(structuredClone(request.signatures));
    const response = scene.onUpload();
    if (Object.keys(response.failures ?? {}).length === 0) answer(from, request);
    return response;
  };
  return scene;
}

/** The master key of a user. */
export function masterOf(user: FakeUser): string {
  return user.master?.publicKey ?? "";
}

/** How far the devices of a user are trusted. */
export async function trustOf({ bot }: SigningScene, userId: UserID): Promise<Record<string, string>> {
  const devices = await bot.engine.devicesOf([userId]);
  return Object.fromEntries(devices.map(({ deviceId, trust }) => [deviceId, trust]));
}
