/**
 * What a peer tells of what it sees.
 *
 * @module
 */

/** An event of a room's timeline that the peer could read. What its own device sent is not told. */
export interface PeerMessage {
  readonly event: "message";
  readonly roomId: string;
  readonly eventId: string;
  readonly sender: string;
  /** The type inside of the encryption. */
  readonly type: string;
  /** The content inside of the encryption. */
  readonly content: Record<string, unknown>;
  readonly msgtype: string | null;
  readonly body: string | null;
  /** Whether it came encrypted. */
  readonly encrypted: boolean;
  /**
   * How far the peer trusts the sender's device, in the library's own words: `verified` in all of
   * them; else `unverified` of nio, the trust state of mautrix (`unverified`, `unknown_device`,
   * `cross_signed_tofu`, `forwarded`, …), the reason for the shield of js_sdk (`unsigned_device`,
   * `unverified_identity`, `unknown_device`, `authenticity_not_guaranteed`, …). `null` in the
   * clear.
   */
  readonly trust: string | null;
  /**
   * Whether it could be decrypted only after a first failure; then an `undecryptable` came before.
   */
  readonly late: boolean;
  /** The Megolm session. */
  readonly sessionId: string | null;
}

/** An event that the peer could not decrypt when it came. */
export interface PeerUndecryptable {
  readonly event: "undecryptable";
  readonly roomId: string;
  readonly eventId: string;
  readonly sender: string;
  readonly sessionId: string | null;
  /** Why, in the library's own words. */
  readonly reason: string;
  /**
   * The code with which the key was withheld, if it was: of js_sdk its own, `MEGOLM_KEY_WITHHELD…`.
   */
  readonly withheld: string | null;
}

/** A to-device message; `encrypted` if it came through Olm. */
export interface PeerToDevice {
  readonly event: "to_device";
  readonly type: string;
  readonly sender: string;
  readonly content: Record<string, unknown>;
  readonly encrypted: boolean;
}

/** An Olm message that the peer could not decrypt. js_sdk keeps silent about those. */
export interface PeerToDeviceUndecryptable {
  readonly event: "to_device_undecryptable";
  readonly sender: string;
  readonly senderKey: string | null;
}

/** An invitation of the peer itself. */
export interface PeerInvite {
  readonly event: "invite";
  readonly roomId: string;
  readonly sender: string;
}

/** A membership, of anyone in a room that the peer is in. */
export interface PeerMember {
  readonly event: "member";
  readonly roomId: string;
  readonly userId: string;
  readonly membership: string;
  readonly sender: string;
}

/** Any other state event. */
export interface PeerState {
  readonly event: "state";
  readonly roomId: string;
  readonly type: string;
  readonly stateKey: string;
  readonly content: Record<string, unknown>;
}

/** The library's sync loop ended with an error, and was restarted. Only of nio. */
export interface PeerCrash {
  readonly event: "crash";
  readonly error: string;
}

/** Where a verification is. Of js_sdk and nio; nio has only `started`, `cancelled` and `done`. */
export interface PeerVerification {
  readonly event: "verification";
  readonly flowId: string;
  readonly userId: string;
  readonly deviceId: string | null;
  readonly phase: "unsent" | "requested" | "ready" | "started" | "cancelled" | "done";
  /** Why it was cancelled. */
  readonly code: string | null;
}

/** What a verification shows to compare. Of js_sdk and nio. */
export interface PeerSas {
  readonly event: "sas";
  readonly flowId: string;
  /** The names, in English. */
  readonly emoji: string[] | null;
  readonly decimal: number[] | null;
}

/** The QR code that it shows was scanned. Of js_sdk. */
export interface PeerScanned {
  readonly event: "scanned";
  readonly flowId: string;
}

/** All that a peer tells. */
export type PeerEvent =
  | PeerScanned
  | PeerVerification
  | PeerSas
  | PeerMessage
  | PeerUndecryptable
  | PeerToDevice
  | PeerToDeviceUndecryptable
  | PeerInvite
  | PeerMember
  | PeerState
  | PeerCrash;
