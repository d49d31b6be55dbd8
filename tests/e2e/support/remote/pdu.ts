/**
 * Events as homeservers send them to each other, in rooms of version 10.
 *
 * @see {@link https://spec.matrix.org/v1.19/server-server-api/#signing-events | Signing events}
 * @module
 */

import { canonicalJsonWithout } from "../../../../src/crypto/encoding/encoding.ts";
import type { JsonObject } from "@greenroom/matrix/types";

/** The version of the rooms. */
export const ROOM_VERSION = "10";

/** An event as homeservers send it. */
export interface Pdu extends JsonObject {
  readonly type: string;
  readonly room_id: string;
  readonly sender: string;
  readonly state_key?: string;
  readonly content: JsonObject;
}

/** What is left of an event when it is redacted, by which it is signed and named. */
const KEPT = ["type", "room_id", "sender", "state_key", "hashes", "depth", "prev_events", "auth_events"];
const KEPT_OF: Readonly<Record<string, readonly string[]>> = {
  "m.room.create": ["creator"],
  "m.room.member": ["membership", "join_authorised_via_users_server"],
  "m.room.join_rules": ["join_rule", "allow"],
  "m.room.power_levels": [
    ...["ban", "events", "events_default", "kick", "redact", "state_default", "users", "users_default"],
  ],
  "m.room.history_visibility": ["history_visibility"],
};

/** The key of a homeserver. */
export class ServerKey {
  /** Its ID. */
  readonly id = "ed25519:a_test";
  /** Its public part. */
  readonly public: string;
  readonly #server: string;
  readonly #secret: CryptoKey;

  private constructor(server: string, secret: CryptoKey, publicKey: string) {
    this.#server = server;
    this.#secret = secret;
    this.public = publicKey;
  }

  /** Makes the key of a server. */
  static async of(server: string): Promise<ServerKey> {
    const isExtractable = false; // its public part always is
    const { privateKey, publicKey } =
      (await crypto.subtle.generateKey("Ed25519", isExtractable, ["sign", "verify"])) as CryptoKeyPair;
    const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
    return new ServerKey(server, privateKey, unpadded(raw));
  }

  /** The signature of an object. */
  async signatureOf(object: object): Promise<string> {
    const bytes = new TextEncoder().encode(canonicalJsonWithout(object, ["signatures", "unsigned"]));
    return unpadded(new Uint8Array(await crypto.subtle.sign("Ed25519", this.#secret, bytes)));
  }

  /** An object with its signature. */
  async signed(object: JsonObject): Promise<JsonObject> {
    return { ...object, signatures: { [this.#server]: { [this.id]: await this.signatureOf(object) } } };
  }

  /** An event with its hash and its signature. */
  async signedEvent(event: Pdu): Promise<Pdu> {
    const sha256 = unpadded(await hash(event, ["hashes", "signatures", "unsigned"]));
    const hashed: Pdu = { ...event, hashes: { sha256 } };
    const signatures = { [this.#server]: { [this.id]: await this.signatureOf(redacted(hashed)) } };
    return { ...hashed, signatures };
  }
}

/** The ID of an event, which is its hash. */
export async function eventIdOf(event: Pdu): Promise<string> {
  const bytes = await hash(redacted(event), ["signatures", "unsigned"]);
  return `$${bytes.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

function redacted(event: Pdu): JsonObject {
  const named = (object: JsonObject, names: readonly string[]) =>
    Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
  const kept = [...KEPT, "origin_server_ts", "origin", "membership"];
  return { ...named(event, kept), content: named(event.content, KEPT_OF[event.type] ?? []) };
}

async function hash(object: object, left: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(canonicalJsonWithout(object, left));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function unpadded(bytes: Uint8Array<ArrayBuffer>): string {
  return bytes.toBase64({ omitPadding: true });
}
