/**
 * What sharing keys needs of the other parts.
 *
 * @module
 */

import type { DeviceLists } from "../devices/device_lists.ts";
import type { CryptoContext } from "../context/context.ts";
import type { InboundSessions } from "../megolm/inbound_sessions.ts";
import type { OlmChannels } from "../olm/olm_channels.ts";
import type { OlmClaims } from "../olm/olm_claims.ts";
import type { Outbox } from "../requests/outbox.ts";
import type { EncryptedRooms } from "./encrypted_rooms.ts";

/** Other users' devices, as sharing keys needs them. */
export type RecipientDevices = Pick<
  DeviceLists,
  "version" | "changedSince" | "dirtyVersion" | "track" | "devicesOf" | "identityOf" | "isSpared" | "isDirty"
>;

/** Olm, as sharing keys needs it. */
export interface SharingChannels extends
  Pick<
    OlmChannels,
    | "version"
    | "changedSince"
    | "encrypt"
    | "prefetch"
    | "withoutSession"
    | "wedgingIndex"
    | "shouldTellNoOlm"
    | "toldNoOlm"
  > {
  /** Which devices need a session. */
  readonly claims: Pick<OlmClaims, "want" | "endWait" | "isPromising">;
}

/** The inbound copies of own group sessions. */
export type OwnCopies = Pick<InboundSessions, "addOwn" | "exportSession">;

/** What own group sessions need of the other parts. */
export interface SharingParts {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** Encrypted rooms. */
  readonly rooms: EncryptedRooms;
  /** Other users' devices. */
  readonly devices: RecipientDevices;
  /** Olm. */
  readonly olm: SharingChannels;
  /** What is on its way to the server. */
  readonly outbox: Outbox;
  /** Sessions that decrypt. */
  readonly inbound: OwnCopies;
}
