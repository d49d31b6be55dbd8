/**
 * In the end the homeserver has one-time keys of each device, and need not give away the fallback key.
 *
 * @module
 */

import type { World } from "../world/world.ts";

/** Keys by user, device, and the name of the key. */
type ClaimedKeys = Record<string, Record<string, Record<string, { readonly fallback?: boolean }>>>;

/** Judges all devices. */
export async function judgeKeys(world: World): Promise<void> {
  for (const { name, userId, deviceId, goneAt, isRunning, publishedAt } of world.devices) {
    if (goneAt < Infinity || !isRunning || publishedAt === Infinity) continue;
    const answer = await world.ask(world.stranger.accessToken, "POST", "v3/keys/claim", {
      one_time_keys: { [userId]: { [deviceId]: "signed_curve25519" } },
    }) as { readonly one_time_keys?: ClaimedKeys };
    const [key] = Object.values(answer.one_time_keys?.[userId]?.[deviceId] ?? {});
    if (key === undefined || key.fallback === true) {
      world.violate(`the server has no one-time key of ${name}`);
    }
  }
}
