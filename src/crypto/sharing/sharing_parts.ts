/**
 * What sharing keys needs of the other parts.
 *
 * @module
 */

import type { DeviceLists } from "../devices/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import type { InboundSessions } from "../megolm/mod.ts";
import type { OlmChannels, OlmClaims } from "../olm/mod.ts";
import type { Outbox } from "../requests/mod.ts";
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
  readonly rooms: EncryptedRooms;
  /** Other users' devices. */
  readonly devices: RecipientDevices;
  readonly olm: SharingChannels;
  /** What is on its way to the server. */
  readonly outbox: Outbox;
  /** Sessions that decrypt. */
  readonly inbound: OwnCopies;
}
