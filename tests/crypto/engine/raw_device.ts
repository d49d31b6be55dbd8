/** A device without an engine: it writes to devices whatever a test wants it to. */

import { type OlmSession, Vodozemac } from "@greenroom/vodozemac-wasm";
import type { OwnDevice } from "../../../src/crypto/context/context.ts";
import { newDeviceKeys } from "../../../src/crypto/account/account.ts";
import { signableJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import {
  type DeviceKeys,
  type JsonObject,
  SyncStream,
  type ToDeviceEvent,
  type UserID,
} from "@greenroom/matrix/types";
import { isJsonObject } from "../../../src/types/json.ts";
import type { Bot } from "./bot.ts";
import type { EngineServer } from "./homeserver.ts";

const vodozemac = await Vodozemac.create();

/** Such a device. */
export class RawDevice {
  readonly own: OwnDevice;
  readonly deviceKeys: DeviceKeys;
  readonly #server: EngineServer;
  readonly #account = vodozemac.olm.createAccount();
  #inbound: OlmSession | undefined;
  readonly #sessions = new Map<Bot, ReturnType<typeof this.start>>();

  /**
   * Makes a device; it is not published yet.
   *
   * @param change What it claims beside its own: another Curve25519 key, or that it is dehydrated.
   */
  constructor(
    server: EngineServer,
    userId: UserID,
    deviceId: string,
    { curve25519, ...claims }: { readonly curve25519?: string; readonly dehydrated?: true } = {},
  ) {
    this.#server = server;
    const { curve25519Key, ed25519Key: ed25519 } = this.#account;
    this.own = { userId, deviceId, curve25519: curve25519 ?? curve25519Key, ed25519 };
    const keys = { ...newDeviceKeys(this.own), ...claims };
    const signature = this.#account.sign(signableJson({ ...keys }));
    const keyId = `ed25519:${deviceId}`;
    this.deviceKeys = withSignature(keys, { userId, keyId, signature }) as DeviceKeys;
  }

  /** Publishes its keys. */
  publish(): this {
    const [key] = this.#account.generateOneTimeKeys(1).created;
    const { userId, deviceId } = this.own;
    const oneTimeKey = { key: key ?? "" };
    const signature = this.#account.sign(signableJson(oneTimeKey));
    const signed = withSignature(oneTimeKey, { userId, keyId: `ed25519:${deviceId}`, signature });
    const body = { device_keys: this.deviceKeys, one_time_keys: { "signed_curve25519:AAAAAA": signed } };
    this.#server.answer(this.own, { id: "", kind: "keysUpload", body });
    return this;
  }

  /** Starts a session with a device. */
  start({ userId, deviceId, engine }: Bot) {
    const claim = {
      id: "",
      kind: "keysClaim",
      oneTimeKeys: { [userId]: { [deviceId]: "signed_curve25519" } },
    };
    const answer = this.#server.answer(this.own, claim as never); // IDs are as they must be
    const ofUsers = answer.one_time_keys as Record<string, Record<string, Record<string, unknown>>>;
    const [key] = Object.values(ofUsers[userId]?.[deviceId] ?? {});
    if (!isJsonObject(key)) throw new TypeError("There is no key left");
    return this.#account.createOutboundSession(engine.identity().curve25519, String(key.key));
  }

  /** What a message to this device says. */
  read({ content }: ToDeviceEvent): JsonObject {
    const ciphertext = content.ciphertext as Record<string, { type: 0 | 1; body: string }>;
    const message = ciphertext[this.own.curve25519];
    if (message === undefined) throw new TypeError("It is for another device");
    const plaintext = this.#inbound?.decrypt(message) ?? this.#accept(String(content.sender_key), message);
    return JSON.parse(new TextDecoder().decode(plaintext));
  }

  #accept(senderKey: string, message: { type: 0 | 1; body: string }): Uint8Array {
    const { session, plaintext } = this.#account.createInboundSession(senderKey, message);
    this.#inbound = session;
    return plaintext;
  }

  /** A message for a device that a correct client would not write. */
  message(to: Bot, type: string, content: JsonObject, change: JsonObject = {}): ToDeviceEvent {
    const { userId, curve25519, ed25519 } = this.own;
    const identity = to.engine.identity();
    const session = this.#sessions.getOrInsertComputed(to, () => this.start(to));
    const payload = {
      type,
      content,
      sender: userId,
      recipient: to.userId,
      recipient_keys: { ed25519: identity.ed25519 },
      keys: { ed25519 },
      sender_device_keys: this.deviceKeys,
      ...change,
    };
    const { type: kind, body } = session.encrypt(JSON.stringify(payload));
    return {
      type: "m.room.encrypted",
      sender: userId,
      content: {
        algorithm: "m.olm.v1.curve25519-aes-sha2",
        sender_key: curve25519,
        ciphertext: { [identity.curve25519]: { type: kind, body } },
      },
      source: SyncStream.TO_DEVICE,
    };
  }
}

/** A group session without an owner, and its key and events. */
export class RawSession {
  readonly #session = vodozemac.megolm.createOutbound();

  /** Its ID. */
  get id(): string {
    return this.#session.sessionId;
  }

  /** The content of an `m.room_key`. */
  roomKey(roomId: string): JsonObject {
    return {
      algorithm: "m.megolm.v1.aes-sha2",
      room_id: roomId,
      session_id: this.id,
      session_key: this.#session.sessionKey(),
    };
  }

  /** The same as forwarded by a user who is not its owner. */
  exported(roomId: string, { curve25519, ed25519 }: Pick<OwnDevice, "curve25519" | "ed25519">): JsonObject {
    using copy = vodozemac.megolm.createInbound(this.#session.sessionKey());
    return {
      ...this.roomKey(roomId),
      session_key: copy.exportAt(0) ?? "",
      sender_key: curve25519,
      sender_claimed_ed25519_key: ed25519,
      sender_claimed_keys: { ed25519 },
      forwarding_curve25519_key_chain: [],
    };
  }

  /** The content of an encrypted event. */
  event(roomId: string, body: string, members: JsonObject = {}): JsonObject {
    const content = { msgtype: "m.text", body, ...members };
    const payload = { type: "m.room.message", room_id: roomId, content };
    return {
      algorithm: "m.megolm.v1.aes-sha2",
      session_id: this.id,
      ciphertext: this.#session.encrypt(JSON.stringify(payload)),
    };
  }
}
