/**
 * What a peer is asked with, and what it answers.
 *
 * @module
 */

import type { TestUser } from "../synapse.ts";

/** How a peer is started. */
export interface PeerOptions {
  /** The user, and the device, that it is; else a new one. */
  user?: TestUser;
  /** The address that it talks to, if not the server's: a proxy's. */
  homeserver?: string;
}

/** Which room to create. */
export interface PeerRoomOptions {
  /**
   * Whether it is encrypted.
   *
   * @default {true}
   */
  encrypted?: boolean;
  /** Whom to invite. */
  invite?: string[];
  /** After how many messages to rotate the session. */
  rotationPeriodMsgs?: number;
  /** After what time to rotate the session, in milliseconds. */
  rotationPeriodMs?: number;
  /** `shared`, `invited`, `joined` or `world_readable`. */
  historyVisibility?: string;
  /**
   * The room's preset.
   *
   * @default {"private_chat"}
   */
  preset?: "private_chat" | "public_chat" | "trusted_private_chat";
}

/** A device as a peer sees it. */
export interface PeerDevice {
  readonly deviceId: string;
  readonly ed25519: string;
  readonly curve25519: string;
  /** In the library's own words. */
  readonly trust: string;
}

/** An image to send. */
export interface PeerImage {
  readonly bytes: Uint8Array;
  /** Its thumbnail, encrypted like it. */
  readonly thumbnail?: Uint8Array;
  /** The name, and the message's body. */
  readonly name: string;
  /** @default {"image/png"} */
  readonly mimetype?: string;
}

/** What a peer downloaded and decrypted. */
export interface PeerFile {
  readonly bytes: Uint8Array;
  /** In hexadecimal. */
  readonly sha256: string;
}
