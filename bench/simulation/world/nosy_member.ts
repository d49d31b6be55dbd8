/**
 * A member who comes late and asks for the keys of what was said before: by hand, with vodozemac
 * alone.
 *
 * @module
 */

import type { DeviceID, RoomID, UserID } from "@greenroom/matrix/types";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { signableJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";
import type { Ask } from "./account.ts";

type Account = ReturnType<Vodozemac["olm"]["createAccount"]>;
type OlmSession = ReturnType<Account["createOutboundSession"]>;
type RoomSession = ReturnType<Vodozemac["megolm"]["createInbound"]>;

/** An event of a room, as the server has it. */
export interface Ciphertext {
  readonly content: { readonly session_id?: unknown; readonly ciphertext?: unknown };
}

const KEYS = 50;

/** The member, with one device. */
export class NosyMember {
  readonly userId: UserID;
  readonly #deviceId: DeviceID;
  readonly #token: string;
  readonly #homeserver: WorldHomeserver;
  readonly #ask: Ask;
  readonly #vodozemac: Vodozemac;
  readonly #account: Account;
  #requests = 0;

  private constructor(homeserver: WorldHomeserver, ask: Ask, vodozemac: Vodozemac) {
    const { userId, deviceId, accessToken } = homeserver.createUser("nosy");
    this.userId = userId;
    this.#deviceId = deviceId;
    this.#token = accessToken;
    this.#homeserver = homeserver;
    this.#ask = ask;
    this.#vodozemac = vodozemac;
    this.#account = vodozemac.olm.createAccount();
  }

  /** Registers the member, and publishes the keys of the device. */
  static async register(homeserver: WorldHomeserver, ask: Ask): Promise<NosyMember> {
    const member = new NosyMember(homeserver, ask, await Vodozemac.load());
    await member.#publish();
    return member;
  }

  /** Joins a room. */
  async join(room: RoomID): Promise<void> {
    await this.#ask(this.#token, "POST", `v3/join/${encodeURIComponent(room)}`, {});
  }

  /** Asks a device for the key of a message. */
  async request(
    device: { readonly userId: UserID; readonly deviceId: DeviceID },
    { room, sessionId }: { readonly room: RoomID; readonly sessionId: unknown },
  ): Promise<void> {
    const id = `nosy-${++this.#requests}`;
    await this.#ask(this.#token, "PUT", `v3/sendToDevice/m.room_key_request/${id}`, {
      messages: {
        [device.userId]: {
          [device.deviceId]: {
            action: "request",
            request_id: id,
            requesting_device_id: this.#deviceId,
            body: { algorithm: "m.megolm.v1.aes-sha2", room_id: room, session_id: sessionId },
          },
        },
      },
    });
  }

  /** What can be read of some events, with all that the device was sent. */
  readable<Event extends Ciphertext>(events: readonly Event[]): Event[] {
    const sessions = this.#roomSessions();
    return events.filter(({ content: { session_id: id, ciphertext } }) =>
      sessions.get(String(id))?.some((session) => succeeds(() => session.decrypt(String(ciphertext))))
    );
  }

  async #publish(): Promise<void> {
    const { ed25519Key, curve25519Key } = this.#account;
    this.#account.generateOneTimeKeys(KEYS);
    const oneTimeKeys = this.#account.oneTimeKeys().map(({ keyId, key }) =>
      [`signed_curve25519:${keyId}`, this.#signed({ key })] as const
    );
    await this.#ask(this.#token, "POST", "v3/keys/upload", {
      device_keys: this.#signed({
        user_id: this.userId,
        device_id: this.#deviceId,
        algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
        keys: { [`curve25519:${this.#deviceId}`]: curve25519Key, [`ed25519:${this.#deviceId}`]: ed25519Key },
      }),
      one_time_keys: Object.fromEntries(oneTimeKeys),
    });
  }

  #signed(object: JsonObject): JsonObject {
    const signature = this.#account.sign(signableJson(object));
    return withSignature(object, { userId: this.userId, keyId: `ed25519:${this.#deviceId}`, signature });
  }

  /** By session of a room, all of its keys that have come: given, or forwarded. */
  #roomSessions(): Map<string, RoomSession[]> {
    const { megolm } = this.#vodozemac;
    const found = new Map<string, RoomSession[]>();
    for (const { type, content } of this.#decrypted()) {
      const key = String(content.session_key);
      const sessions = found.getOrInsertComputed(String(content.session_id), () => []);
      if (type === "m.room_key") sessions.push(megolm.createInbound(key));
      if (type === "m.forwarded_room_key") sessions.push(megolm.importInbound(key));
    }
    return found;
  }

  /** What the device was sent under encryption. */
  #decrypted(): { readonly type: string; readonly content: JsonObject }[] {
    const { curve25519Key } = this.#account;
    const sessions = new Map<string, OlmSession[]>();
    return this.#homeserver.toDevice(this.userId, this.#deviceId).flatMap(({ type, content }) => {
      if (type !== "m.room.encrypted") return [];
      const { sender_key: sender, ciphertext } = content as { sender_key: string; ciphertext: JsonObject };
      const message = ciphertext[curve25519Key] as { type: 0 | 1; body: string };
      const known = sessions.getOrInsertComputed(sender, () => []);
      for (const session of known) {
        const text = attempt(() => session.decrypt(message));
        if (text !== undefined) return [JSON.parse(new TextDecoder().decode(text))];
      }
      const begun = attempt(() => this.#account.createInboundSession(sender, message));
      if (begun === undefined) return [];
      known.push(begun.session);
      return [JSON.parse(new TextDecoder().decode(begun.plaintext))];
    });
  }
}

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined; // another session's, or none that is known
  }
}

function succeeds(work: () => unknown): boolean {
  return attempt(work) !== undefined;
}
