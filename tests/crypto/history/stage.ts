/** An engine that takes history, and users who share some with it. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { JsonObject, StateEvent, ToDeviceEvent, UserID } from "@greenroom/matrix/types";
import type { CryptoInput } from "../../../src/crypto/engine/engine.ts";
import type { CryptoPolicy } from "../../../src/crypto/context/context.ts";
import { Bot, read } from "../engine/bot.ts";
import { EngineServer, Refusal, ROOM, stateEvent } from "../engine/homeserver.ts";
import { RawDevice, type RawSession } from "../engine/raw_device.ts";
import { FakeUser } from "../support/fake_user.ts";

/** Who invites. */
export const ALICE: UserID = "@alice:example.org";
/** Who does not. */
export const MALLORY: UserID = "@mallory:example.org";
/** The own user. */
export const ME: UserID = "@me:example.org";

await Vodozemac.load();

/** A file as a message describes it. */
export function fileAt(url: string): JsonObject {
  return {
    url,
    v: "v2",
    key: { kty: "oct", alg: "A256CTR", k: "A".repeat(43), ext: true, key_ops: ["encrypt", "decrypt"] },
    iv: "A".repeat(22),
    hashes: { sha256: "A".repeat(43) },
  };
}

/** The engine and who shares with it. */
export interface HistoryScene {
  readonly server: EngineServer;
  readonly bot: Bot;
  readonly alice: RawDevice;
  readonly mallory: RawDevice;
  /** Whose identity vouches for devices. */
  readonly identities: ReadonlyMap<UserID, FakeUser>;
  /** The files that were asked for. */
  readonly asked: string[];
  /** What is in the files, by their addresses. */
  readonly files: Map<string, JsonObject>;
  /** A device of a user that the user's identity vouches for, unless it is not to. */
  device(userId: UserID, deviceId: string, signed?: "unsigned"): RawDevice;
  /** A message that says where history of the room is. */
  announcement(from: RawDevice, url?: string, change?: JsonObject): ToDeviceEvent;
  /** What a sync shows when the own user has accepted an invitation. */
  accepted(inviter: unknown, change?: Partial<StateEvent>): CryptoInput["state"];
  /** Has the own user accept an invitation. */
  accepts(inviter: unknown, change?: Partial<StateEvent>): Promise<void>;
  /** What the engine makes of an event of a session. */
  read(session: RawSession): Promise<string>;
}

/** Sets it up. */
export async function historyScene(policy: Partial<CryptoPolicy> = {}): Promise<HistoryScene> {
  const server = new EngineServer();
  const identities = new Map([ALICE, MALLORY].map((user) => [user, new FakeUser(user).crossSign()]));
  for (const [user, identity] of identities) server.identities.set(user, identity);
  const bot = await Bot.open(server, {
    userId: ME,
    deviceId: "MINE",
    policy: { shareHistory: true, ...policy },
  });
  const asked: string[] = [];
  const files = new Map<string, JsonObject>();
  server.onBundle = (url) => {
    asked.push(url);
    const found = files.get(url);
    if (found === undefined) throw new Refusal(404, "M_NOT_FOUND");
    return found;
  };
  const device: HistoryScene["device"] = (userId, deviceId, signed) => {
    if (signed === "unsigned") identities.get(userId)?.unsigned.add(deviceId);
    return new RawDevice(server, userId, deviceId).publish();
  };
  const accepted: HistoryScene["accepted"] = (inviter, change = {}) => {
    const unsigned = { prev_content: { membership: "invite" }, prev_sender: inviter };
    const joined = stateEvent("m.room.member", { membership: "join" }, ME);
    const event = { ...joined, origin_server_ts: server.clock.now(), unsigned, ...change } as StateEvent;
    return [{ roomId: ROOM, events: [event], limited: false, lossy: false }];
  };
  return {
    server,
    bot,
    identities,
    asked,
    files,
    device,
    alice: device(ALICE, "PHONE"),
    mallory: device(MALLORY, "EVIL"),
    announcement: (from, url = "mxc://example.org/bundle", change = {}) =>
      from.message(bot, "m.room_key_bundle", { room_id: ROOM, file: fileAt(url), ...change }),
    accepted,
    accepts: async (...of) => void await bot.sync({ state: accepted(...of) }),
    read: (session) => read({ server, bot }, session),
  };
}

/** A bundle with a session, of the room unless another one is said. */
export function bundleWith(session: RawSession, maker: RawDevice, roomId: string = ROOM): JsonObject {
  return { room_keys: [session.exported(roomId, maker.own)], withheld: [] };
}
