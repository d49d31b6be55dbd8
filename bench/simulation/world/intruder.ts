/**
 * A device without Greenroom, of a user who is in no room, or of a member:
 * it writes to devices what no honest client does.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { createPrivateKey, sign } from "node:crypto";
import type { TestUser } from "@greenroom/matrix/testing";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { newDeviceKeys } from "../../../src/crypto/account/account.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { signableJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import type { Ask } from "./account.ts";
import type { Device } from "./device.ts";

/** The account of Olm that signs. */
type OlmAccount = ReturnType<Vodozemac["olm"]["createAccount"]>;

/** A message to a device: its type and content, before it is encrypted. */
export interface HostileMessage {
  readonly type: string;
  readonly content: Readonly<Record<string, unknown>>;
  /** What else the payload says. */
  readonly says?: Readonly<Record<string, unknown>>;
  /** How many messages are left out before it. */
  readonly gap?: number;
}

/** Who has such a device. */
export type IntruderUser = Pick<TestUser, "userId" | "deviceId" | "accessToken">;

/** Begins a private key of Ed25519 in the format of PKCS #8. */
const PKCS8_PREFIX = Uint8Array.fromHex("302e020100300506032b657004220420");

/** Such a device. */
export class Intruder {
  readonly #user: IntruderUser;
  readonly #ask: Ask;
  readonly #account: OlmAccount;
  readonly #vodozemac: Vodozemac;

  private constructor(user: IntruderUser, ask: Ask, vodozemac: Vodozemac) {
    this.#user = user;
    this.#ask = ask;
    this.#vodozemac = vodozemac;
    this.#account = vodozemac.olm.createAccount();
  }

  /** Makes one, and publishes its keys. */
  static async publish(user: IntruderUser, ask: Ask): Promise<Intruder> {
    const intruder = new Intruder(user, ask, await Vodozemac.load());
    await ask(user.accessToken, "POST", "v3/keys/upload", { device_keys: intruder.keysOf(user) });
    return intruder;
  }

  /** Signed keys of a device that has the keys of this one. */
  keysOf({ userId, deviceId }: Pick<TestUser, "userId" | "deviceId">): Record<string, unknown> {
    const { curve25519Key: curve25519, ed25519Key: ed25519 } = this.#account;
    const keys = newDeviceKeys({ userId, deviceId, curve25519, ed25519 });
    const signature = this.#account.sign(signableJson({ ...keys }));
    return { ...withSignature({ ...keys }, { userId, keyId: `ed25519:${deviceId}`, signature }) };
  }

  /** Who has this device. */
  get user(): IntruderUser {
    return this.#user;
  }

  /**
   * Has the device signed by its user's identity.
   *
   * @param seed The private key that signs devices.
   * @param key The public key of that.
   */
  async sign(seed: Uint8Array, key: string): Promise<void> {
    const { userId, deviceId, accessToken } = this.#user;
    const keys = this.keysOf(this.#user) as JsonObject;
    const der = concat([PKCS8_PREFIX, seed]);
    const privateKey = createPrivateKey({ key: der as never, format: "der", type: "pkcs8" });
    const signature = new Uint8Array(sign(null, new TextEncoder().encode(signableJson(keys)), privateKey))
      .toBase64({ omitPadding: true });
    await this.#ask(accessToken, "POST", "v3/keys/signatures/upload", {
      [userId]: { [deviceId]: withSignature(keys, { userId, keyId: `ed25519:${key}`, signature }) },
    });
  }

  /** A session for a room that nobody has messages of: its ID and key. */
  roomSession(): { readonly id: string; readonly key: string } {
    using session = this.#vodozemac.megolm.createOutbound();
    return { id: session.sessionId, key: session.sessionKey() };
  }

  /** Encrypts a message for a device, with a session that begins with it; undefined if it has no keys. */
  async encrypt(
    device: Pick<Device, "userId" | "deviceId">,
    { type, content, says = {}, gap = 0 }: HostileMessage,
  ): Promise<Record<string, unknown> | undefined> {
    const { userId, deviceId } = device;
    const { accessToken } = this.#user;
    const { device_keys } = await this.#ask(accessToken, "POST", "v3/keys/query", {
      device_keys: { [userId]: [] },
    }) as { device_keys?: Record<string, Record<string, { keys: Record<string, string> }>> };
    const { one_time_keys } = await this.#ask(accessToken, "POST", "v3/keys/claim", {
      one_time_keys: { [userId]: { [deviceId]: "signed_curve25519" } },
    }) as { one_time_keys?: Record<string, Record<string, Record<string, { key: string }>>> };
    const keys = device_keys?.[userId]?.[deviceId]?.keys ?? {};
    const identityKey = keys[`curve25519:${deviceId}`];
    const [oneTimeKey] = Object.values(one_time_keys?.[userId]?.[deviceId] ?? {});
    if (identityKey === undefined || oneTimeKey === undefined) return undefined;
    using session = this.#account.createOutboundSession(identityKey, oneTimeKey.key);
    for (let left = gap; left > 0; left--) session.encrypt("nothing");
    const message = session.encrypt(JSON.stringify({
      type,
      content,
      sender: this.#user.userId,
      recipient: userId,
      recipient_keys: { ed25519: keys[`ed25519:${deviceId}`] },
      keys: { ed25519: this.#account.ed25519Key },
      sender_device_keys: this.keysOf(this.#user),
      ...says,
    }));
    return {
      algorithm: "m.olm.v1.curve25519-aes-sha2",
      sender_key: this.#account.curve25519Key,
      ciphertext: { [identityKey]: message },
    };
  }
}
