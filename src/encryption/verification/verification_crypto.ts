/**
 * Verification, as a client has it in `client.crypto`.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#device-verification | Device verification}
 * @module
 */

import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
import type {
  VerificationEmoji,
  VerificationRequest,
  VerificationWayOptions,
} from "../../types/verification.ts";

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

/** The part of `client.crypto` about verification. */
export interface VerificationCrypto {
  /**
   * The requests of others: those that wait for an answer when it is iterated, and each new one.
   * It ends with the client. Requests over ten minutes old are not shown, and one that is not answered
   * within two minutes is dropped; ten of a user can wait, and a hundred in all. Handlers of
   * `VERIFICATION_REQUEST` get each new one, too.
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
   *     const { emoji } = await request.startSas();
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
   *   const { emoji } = await request.startSas(); // once Alice has accepted
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

const TABLE = "🐶 Dog,🐱 Cat,🦁 Lion,🐎 Horse,🦄 Unicorn,🐷 Pig,🐘 Elephant,🐰 Rabbit,🐼 Panda,🐓 Rooster," +
  "🐧 Penguin,🐢 Turtle,🐟 Fish,🐙 Octopus,🦋 Butterfly,🌷 Flower,🌳 Tree,🌵 Cactus,🍄 Mushroom,🌏 Globe," +
  "🌙 Moon,☁️ Cloud,🔥 Fire,🍌 Banana,🍎 Apple,🍓 Strawberry,🌽 Corn,🍕 Pizza,🎂 Cake,❤️ Heart,😀 Smiley," +
  "🤖 Robot,🎩 Hat,👓 Glasses,🔧 Spanner,🎅 Santa,👍 Thumbs Up,☂️ Umbrella,⌛ Hourglass,⏰ Clock,🎁 Gift," +
  "💡 Light Bulb,📕 Book,✏️ Pencil,📎 Paperclip,✂️ Scissors,🔒 Lock,🔑 Key,🔨 Hammer,☎️ Telephone,🏁 Flag," +
  "🚂 Train,🚲 Bicycle,✈️ Aeroplane,🚀 Rocket,🏆 Trophy,⚽ Ball,🎸 Guitar,🎺 Trumpet,🔔 Bell,⚓ Anchor," +
  "🎧 Headphones,📁 Folder,📌 Pin";

/** The emoji of a string, of 64 by their number. */
export function emojiOf(indices: readonly number[]): readonly VerificationEmoji[] {
  const entries = TABLE.split(",");
  return indices.map((index) => {
    const [symbol = "", ...words] = (entries[index] as string).split(" "); // six bits each
    return { symbol, name: words.join(" ") };
  });
}
