/**
 * A verification, as applications see it: with `client.on("VERIFICATION_REQUEST")` and in `client.crypto`.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#device-verification | Device verification}
 * @module
 */

import type { Hints } from "../errors/hints.ts";
import type { VerificationEnd } from "../errors/encryption_error.ts";
import type { VerificationCancelCode } from "./content/encryption_content.ts";
import type { DeviceID, RoomID, UserID } from "./ids.ts";

/**
 * How far a verification has come:
 *
 * - `requested`: the request was sent, or came and waits for `accept()`;
 * - `ready`: both devices take part: `startSas()`, `showQr()` or `scanQr()`;
 * - `started`: keys are being exchanged;
 * - `comparing`: both devices show emoji and numbers: `confirm()` or `mismatch()`;
 * - `scanned`: the other device says it has scanned the QR code: `confirm()` if it shows a success;
 * - `confirmed`: this side has confirmed, and waits for the other;
 * - `done`: it has ended well;
 * - `cancelled`: it was called off.
 */
export type VerificationPhase =
  | "requested"
  | "ready"
  | "started"
  | "comparing"
  | "scanned"
  | "confirmed"
  | "done"
  | "cancelled";

/** What a device can do to verify: compare short strings, show a QR code, or scan one. */
export type VerificationWay = "sas" | "show-qr" | "scan-qr";

/** Why and by whom a verification was called off. */
export interface VerificationCancellation {
  /** Why, for programs. */
  readonly code: VerificationCancelCode;
  /** Why, in words; those of the other device are cut off after 200 characters. */
  readonly reason: string;
  /** Who called it off. */
  readonly by: VerificationEnd;
}

/** One of the seven emoji that two people compare. */
export interface VerificationEmoji {
  /** The emoji itself. */
  readonly symbol: string;
  /** Its name in English, as other clients show it: to be read aloud. */
  readonly name: string;
}

/** Options of the calls of a verification. */
export interface VerificationOptions {
  /** Gives up waiting; what was begun goes on. Default: never. */
  signal?: AbortSignal;
}

/** Options of the calls with which a device says how it can verify. */
export interface VerificationWayOptions extends VerificationOptions {
  /** How this device can verify. Default: `["sas"]`, by comparing emoji or numbers. */
  ways?: readonly VerificationWay[];
}

/** @internal Names of other libraries, for the compiler. */
export interface VerificationComparisonHints extends
  Hints<{
    confirm: "request.confirm()";
    mismatch: "request.mismatch()";
    cancel: "request.cancel()";
  }> {}

/** What two people compare: both devices must show the same. */
export interface VerificationComparison extends VerificationComparisonHints {
  /** Seven emoji with their names; undefined: the other device can't show any. */
  readonly emoji: readonly VerificationEmoji[] | undefined;
  /** Three numbers of four digits; undefined: the other device can't show any. */
  readonly decimals: readonly number[] | undefined;
}

/** What was verified. */
export interface VerificationResult {
  /** The user, who may be the own one. */
  readonly userId: UserID;
  /** Which device of theirs it is. */
  readonly deviceId: DeviceID;
  /**
   * Whether the device's key was verified. It is trusted from now on; an own device was signed, if the
   * private keys of the own identity are at hand.
   */
  readonly isDeviceVerified: boolean;
  /**
   * Whether the user's master key was verified. Another user is signed, if the private keys of the own
   * identity are at hand, and accepted if not; the own identity counts as proven.
   */
  readonly isIdentityVerified: boolean;
}

/**
 * A verification: two devices find out whether they have each other's keys, and nobody in between
 * others. A process that ends calls it off.
 */
export interface VerificationRequest {
  /** The other user, who may be the own one. */
  readonly userId: UserID;
  /** The other device; undefined: it is not known yet which. */
  readonly deviceId: DeviceID | undefined;
  /** The room through which it goes; undefined: from device to device. */
  readonly roomId: RoomID | undefined;
  /** Whether the other side has asked for it; of two requests at once, whether its request counts. */
  readonly isIncoming: boolean;
  /** How far it has come. */
  readonly phase: VerificationPhase;
  /** What this device can do in the phase `ready`, since both devices have said so. */
  readonly ways: readonly VerificationWay[];
  /** What is to be compared, in the phases `comparing` and `confirmed`; else undefined. */
  readonly comparison: VerificationComparison | undefined;
  /** Why and by whom it was called off; undefined: it was not. */
  readonly cancellation: VerificationCancellation | undefined;
  /**
   * Resolves when it has ended well, and what was verified is stored: signatures are uploaded after
   * that, also after a crash. Rejects with a `VerificationError` when it was called off. Unread, it
   * causes no unhandled rejection.
   */
  readonly done: Promise<VerificationResult>;
  /**
   * Resolves when the phase has changed.
   *
   * @returns The phase then.
   * @throws The reason of the signal, if that aborts.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function accepted(request: VerificationRequest): Promise<void> {
   *   while (request.phase === "requested") await request.changed();
   * }
   * ```
   */
  changed(options?: VerificationOptions): Promise<VerificationPhase>;
  /**
   * Takes part in what the other side has asked for. The other device is looked up.
   *
   * @throws {ValueError} If there is nothing to accept.
   *
   * @example
   * ```ts
   * import type { UserID, VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function answer(request: VerificationRequest, owner: UserID): Promise<void> {
   *   await (request.userId === owner ? request.accept() : request.cancel());
   * }
   * ```
   */
  accept(options?: VerificationWayOptions): Promise<void>;
  /**
   * Compares emoji: waits until the other side has accepted, begins unless that side has, and waits for what
   * is to be compared. Then call {@linkcode VerificationRequest.confirm} or
   * {@linkcode VerificationRequest.mismatch}.
   *
   * @throws {ValueError} If it has to be accepted first, or not both devices can compare.
   * @throws {VerificationError} If it is called off, or the other device is not known.
   * @throws The reason of the signal, if that aborts.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function showEmoji(request: VerificationRequest): Promise<void> {
   *   const { emoji } = await request.startSas();
   *   console.log(emoji?.map(({ symbol }) => symbol).join(" "));
   * }
   * ```
   */
  startSas(options?: VerificationOptions): Promise<VerificationComparison>;
  /**
   * Waits for what is to be compared, and leaves it to the other side to begin.
   *
   * @throws {VerificationError} If it is called off.
   * @throws The reason of the signal, if that aborts.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function numbers(request: VerificationRequest): Promise<string> {
   *   const { decimals } = await request.compare();
   *   return decimals?.join(" ") ?? "";
   * }
   * ```
   */
  compare(options?: VerificationOptions): Promise<VerificationComparison>;
  /**
   * The bytes of a QR code to show, in the phase `ready`, to be encoded in byte mode. When the other
   * device has scanned it, the phase is `scanned`.
   *
   * @throws {ValueError} If it is not time for that, the other device can't scan, or one of the users
   *   has no cross-signing identity.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function verifyByCode(request: VerificationRequest, show: (bytes: Uint8Array) => void): Promise<void> {
   *   show(await request.showQr());
   *   while (request.phase === "ready") await request.changed();
   *   if (request.phase === "scanned" && confirm("Has the other device scanned it?")) await request.confirm();
   * }
   * ```
   */
  showQr(options?: VerificationOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Takes the bytes of the QR code that the other device shows, in the phase `ready`. To scan it is to
   * confirm.
   *
   * @throws {ValueError} If it is not time for that, or it is no code of this verification.
   * @throws {VerificationError} If the keys in it are others than the server shows: it is called off.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function scan(request: VerificationRequest, bytes: Uint8Array): Promise<void> {
   *   await request.scanQr(bytes);
   *   await request.done;
   * }
   * ```
   */
  scanQr(bytes: Uint8Array, options?: VerificationOptions): Promise<void>;
  /**
   * Says that both devices show the same, or that the other one shows that it has scanned the code.
   *
   * @throws {ValueError} If there is nothing to confirm.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function decide(request: VerificationRequest, isSame: boolean): Promise<void> {
   *   await (isSame ? request.confirm() : request.mismatch());
   * }
   * ```
   */
  confirm(options?: VerificationOptions): Promise<void>;
  /**
   * Says that they do not, and calls it off.
   *
   * @throws {ValueError} If there is nothing to compare.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function refuse(request: VerificationRequest): Promise<void> {
   *   if (request.phase === "comparing") await request.mismatch();
   * }
   * ```
   */
  mismatch(options?: VerificationOptions): Promise<void>;
  /**
   * Calls it off, or declines it. Without effect if it has ended.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function decline(request: VerificationRequest): Promise<void> {
   *   await request.cancel();
   * }
   * ```
   */
  cancel(options?: VerificationOptions): Promise<void>;
}
