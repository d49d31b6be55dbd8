/** An engine that has made a dehydrated device, and others who write to that. */

import { assert, assertEquals } from "@std/assert";
import type { DehydratedDeviceUpload, JsonObject, ToDeviceEvent, UserID } from "@greenroom/matrix/types";
import type { RehydratedOutput } from "../../../src/crypto/dehydration/new_device.ts";
import type { Bot } from "../engine/bot.ts";
import { ROOM } from "../engine/homeserver.ts";
import { RawDevice, type RawSession } from "../engine/raw_device.ts";
import { ME, type OwnScene, ownScene, type OwnSceneOptions } from "../identity/own_scene.ts";

/** One who writes. */
export const ALICE: UserID = "@alice:example.org";

/** The engine, the device, and who writes to it. */
export interface DehydrationScene extends OwnScene {
  readonly upload: DehydratedDeviceUpload;
  readonly alice: RawDevice;
  /** A device of a user, whose keys are published. */
  device(userId: UserID, deviceId: string): RawDevice;
  /** A message to the dehydrated device. */
  message(from: RawDevice, type: string, content: JsonObject, change?: JsonObject): ToDeviceEvent;
  /** A room key, in such a message. */
  roomKey(from: RawDevice, session: RawSession, change?: JsonObject): ToDeviceEvent;
  /** Has the engine begin to read the device. */
  begin(device?: JsonObject): Promise<string>;
  /** Has it receive messages. */
  receive(...events: readonly unknown[]): Promise<RehydratedOutput>;
}

/** Sets it up. */
export async function dehydrationScene(options: OwnSceneOptions = {}): Promise<DehydrationScene> {
  const own = await ownScene({ release: true, ...options });
  const { server, bot, identity } = own;
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "adopted");
  await bot.flush();
  const { steps } = bot.engine;
  await steps.pickleKeyToStore();
  const upload = await steps.createDehydrated();
  assert(upload !== undefined);
  const { device_id: deviceId, device_keys, one_time_keys, fallback_keys } = upload;
  const body = { device_keys, one_time_keys, fallback_keys };
  server.answer({ userId: ME, deviceId }, { id: "", kind: "keysUpload", body });
  const ed25519 = device_keys.keys[`ed25519:${deviceId}`] ?? "";
  const identityKeys = () => ({ curve25519: deviceId, ed25519 });
  // What a raw device looks at of whom it writes to.
  const to = { userId: ME, deviceId, engine: { identity: identityKeys } } as unknown as Bot;
  const device = (userId: UserID, name: string) => new RawDevice(server, userId, name).publish();
  const message: DehydrationScene["message"] = (from, type, content, change) =>
    from.message(to, type, content, change);
  const alice = device(ALICE, "PHONE");
  await bot.sync();
  return {
    ...own,
    upload,
    alice,
    device,
    message,
    roomKey: (from, session, change) => message(from, "m.room_key", session.roomKey(ROOM), change),
    begin: (changed) =>
      steps.beginRehydration({ device_id: deviceId, device_data: upload.device_data, ...changed }),
    receive: (...events) => steps.receiveRehydrated({ deviceId, events }),
  };
}
