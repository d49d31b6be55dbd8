/** A device that the server does not list, any more or at all, and which sends a room key. */

import type { CryptoPolicy } from "../../../src/crypto/context/context.ts";
import type { DeviceKeys, JsonObject, MessageEvent, UserID } from "@greenroom/matrix/types";
import { FakeUser, sign, type SigningKey } from "../support/fake_user.ts";
import { Bot } from "./bot.ts";
import { EngineServer, ROOM } from "./homeserver.ts";
import { RawDevice, RawSession } from "./raw_device.ts";

/** Whose device it is. */
export const ALICE: UserID = "@alice:example.org";

/** What differs from a user whose identity is known when the key comes. */
export interface UnlistedOptions {
  readonly policy?: Partial<CryptoPolicy>;
  /** Whether nothing is known of the user yet. */
  readonly isStranger?: boolean;
  /** Whether the device says that it is a dehydrated one. */
  readonly dehydrated?: true;
}

/** The device, and who receives what it sends. */
export class Unlisted {
  readonly server: EngineServer;
  readonly bot: Bot;
  readonly alice: FakeUser;
  readonly phone: RawDevice;
  readonly session = new RawSession();
  #texts = 0;

  private constructor(server: EngineServer, bot: Bot, alice: FakeUser, phone: RawDevice) {
    this.server = server;
    this.bot = bot;
    this.alice = alice;
    this.phone = phone;
  }

  /** Sets it up. */
  static async open({ policy, isStranger = false, dehydrated }: UnlistedOptions = {}): Promise<Unlisted> {
    const server = new EngineServer();
    const userId = "@bob:example.org";
    const bot = await Bot.open(server, {
      userId,
      deviceId: "BOB",
      policy: { accept: "cross-signed", ...policy },
    });
    const alice = new FakeUser(ALICE).crossSign();
    server.identities.set(ALICE, alice);
    const phone = new RawDevice(server, ALICE, "PHONE", dehydrated && { dehydrated });
    const scene = new Unlisted(server, bot, alice, phone);
    if (!isStranger) await scene.meet();
    return scene;
  }

  /** Has the bot ask about the user, with whom it shares a room. */
  async meet(): Promise<void> {
    this.server.member(ALICE, "join");
    await this.bot.sync();
  }

  /** The device's keys with one more signature, by default that of its user's identity. */
  signed(
    { keys = this.phone.deviceKeys, key = this.alice.selfSigning, userId = ALICE, keyId }: {
      readonly keys?: DeviceKeys;
      readonly key?: SigningKey | undefined;
      /** In whose name. */
      readonly userId?: UserID;
      /** What the signing key is called. Default: by itself. */
      readonly keyId?: string;
    } = {},
  ): JsonObject {
    if (key === undefined) throw new TypeError("There is no key");
    return sign({ ...keys }, { userId, keyId: keyId ?? `ed25519:${key.publicKey}`, key });
  }

  /** Sends the room key, with keys of the device. */
  async sendKey(keys: JsonObject = this.signed()): Promise<void> {
    const { bot, phone, session } = this;
    const change = { sender_device_keys: keys };
    await bot.sync({ toDevice: [phone.message(bot, "m.room_key", session.roomKey(ROOM), change)] });
  }

  /** Says something. */
  async say(): Promise<MessageEvent> {
    const content = this.session.event(ROOM, "hello");
    const event = this.server.publish(this.phone.own, content, `say${++this.#texts}`);
    await this.bot.sync();
    return event;
  }

  /** What the bot reads when the key has come with keys of the device. */
  async reads(keys: JsonObject = this.signed()): Promise<string | undefined> {
    await this.sendKey(keys);
    return this.bot.outcome(await this.say());
  }
}
