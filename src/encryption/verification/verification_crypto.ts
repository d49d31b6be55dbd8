/**
 * Verification, as a client has it in `client.crypto`.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#device-verification | Device verification}
 * @module
 */

import type {
  VerificationCancellation,
  VerificationPhase,
  VerificationWay,
} from "../../crypto/verification/verification.ts";
import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";

/** Whom to verify with: a user, with all devices or one, or in a room that both are in. */
export type VerificationPeer =
  | UserID
  | {
    /** The user, who may be the own one. */
    readonly userId: UserID;
    /** The device. Default: all of the user's devices are asked, and the first that accepts takes part. */
    readonly deviceId?: DeviceID;
  }
  | {
    readonly userId: UserID;
    /** The room through which to ask; what is sent to it is encrypted as the room is. */
    readonly roomId: RoomID;
  };

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

/** What two people compare: both devices must show the same. */
export interface VerificationComparison {
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
   * Begins to compare emoji, in the phase `ready`; either side can. If both do, one gives way.
   *
   * @throws {ValueError} If it is not time for that, or the other device can't.
   * @throws {VerificationError} If the other device is not known.
   *
   * @example
   * ```ts
   * import type { VerificationRequest } from "@greenroom/matrix/types";
   *
   * export async function showEmoji(request: VerificationRequest): Promise<void> {
   *   await request.startSas();
   *   const { emoji } = await request.compare();
   *   console.log(emoji?.map(({ symbol }) => symbol).join(" "));
   * }
   * ```
   */
  startSas(options?: VerificationOptions): Promise<void>;
  /**
   * Waits for what is to be compared.
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

/** The part of `client.crypto` about verification. */
export interface VerificationCrypto {
  /**
   * The requests of others: those that wait for an answer when it is iterated, and each new one.
   * It ends with the client. Requests over ten minutes old are not shown, and one that is not answered
   * within two minutes is dropped; ten of a user can wait, and a hundred in all.
   *
   * @example A bot that verifies with its owner
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * async function verify() {
   *   for await (const request of bot.crypto?.verificationRequests ?? []) {
   *     if (request.userId !== "@owner:localhost") continue;
   *     await request.accept();
   *     const { emoji } = await request.compare();
   *     const shown = emoji?.map(({ symbol, name }) => `${symbol} ${name}`).join(", ");
   *     await (confirm(`Does your device show ${shown}?`) ? request.confirm() : request.mismatch());
   *   }
   * }
   * verify();
   * ```
   */
  readonly verificationRequests: AsyncIterable<VerificationRequest>;
  /**
   * Asks a user, or an own device, for a verification. If the other side has asked already, or does at
   * the same time, both have accepted by that, and there is one verification; clients that are made with
   * matrix-sdk-crypto, such as Element, call both off in the second case: ask again then, from one side.
   *
   * @param peer Whom: a user ID asks all of the user's devices; `{ userId, deviceId }` one;
   *   `{ userId, roomId }` asks in a room, which is the usual way with other users.
   * @param options How this device can verify, and a signal.
   * @returns The verification, in the phase `requested`, or further if the other side has asked.
   * @throws {ValueError} If an argument can't be what it should, or the user has no such device.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * async function verify() {
   *   const request = await bot.crypto?.requestVerification("@alice:localhost");
   *   if (request === undefined) return;
   *   while (request.phase === "requested") await request.changed();
   *   await request.startSas();
   *   const { emoji } = await request.compare();
   *   console.log(emoji?.map(({ symbol }) => symbol).join(" "));
   *   await request.confirm();
   *   const { isIdentityVerified } = await request.done;
   *   console.log(isIdentityVerified ? "the user is verified" : "the device is verified");
   * }
   * await verify().catch((error) => console.log(error.message)); // Alice has no device yet
   * ```
   */
  requestVerification(peer: VerificationPeer, options?: VerificationWayOptions): Promise<VerificationRequest>;
}

/** One of the seven emoji that two people compare. */
export interface VerificationEmoji {
  /** The emoji itself. */
  readonly symbol: string;
  /** Its name in English, as other clients show it: to be read aloud. */
  readonly name: string;
}

const TABLE = "🐶 Dog,🐱 Cat,🦁 Lion,🐎 Horse,🦄 Unicorn,🐷 Pig,🐘 Elephant,🐰 Rabbit,🐼 Panda,🐓 Rooster," +
  "🐧 Penguin,🐢 Turtle,🐟 Fish,🐙 Octopus,🦋 Butterfly,🌷 Flower,🌳 Tree,🌵 Cactus,🍄 Mushroom,🌏 Globe," +
  "🌙 Moon,☁️ Cloud,🔥 Fire,🍌 Banana,🍎 Apple,🍓 Strawberry,🌽 Corn,🍕 Pizza,🎂 Cake,❤️ Heart,😀 Smiley," +
  "🤖 Robot,🎩 Hat,👓 Glasses,🔧 Spanner,🎅 Santa,👍 Thumbs Up,☂️ Umbrella,⌛ Hourglass,⏰ Clock,🎁 Gift," +
  "💡 Light Bulb,📕 Book,✏️ Pencil,📎 Paperclip,✂️ Scissors,🔒 Lock,🔑 Key,🔨 Hammer,☎️ Telephone,🏁 Flag," +
  "🚂 Train,🚲 Bicycle,✈️ Aeroplane,🚀 Rocket,🏆 Trophy,⚽ Ball,🎸 Guitar,🎺 Trumpet,🔔 Bell,⚓ Anchor," +
  "🎧 Headphones,📁 Folder,📌 Pin";

/** The 64 emoji, by their number. */
export const EMOJI: readonly VerificationEmoji[] = TABLE.split(",").map((entry) => {
  const [symbol = "", ...words] = entry.split(" ");
  return { symbol, name: words.join(" ") };
});

/** The emoji of a string. */
export function emojiOf(indices: readonly number[]): readonly VerificationEmoji[] {
  return indices.map((index) => EMOJI[index] as VerificationEmoji); // six bits each
}
