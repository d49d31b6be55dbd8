/**
 * In the end the homeserver has one-time keys of each device, and need not give away the fallback key.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";

/** Keys by user, device, and the name of the key. */
type ClaimedKeys = Record<string, Record<string, Record<string, { readonly fallback?: boolean }>>>;

/**
 * How long a device may not notice that a stranger has claimed its keys, if the homeserver does not count
 * them, or has said too few once, in milliseconds: it asks every twenty minutes, with a sync.
 */
const UNNOTICED = 25 * 60_000;

/** Homeservers that count wrongly, or whose answers are old. */
const QUIRKS = ["no key counts", "stale key counts", "cached answers", "tokens move"] as const;
/** What is reached when the homeserver has said another number once. */
const MISCOUNTED = "threat: T14";

/** Judges all devices. */
export async function judgeKeys(world: World): Promise<void> {
  const isCounted = !world.reached.has(MISCOUNTED) && !QUIRKS.some((name) => world.hasQuirk(name));
  const lacking: Device[] = [];
  for (const device of world.devices) {
    const { goneAt, isRunning, publishedAt } = device;
    if (goneAt < Infinity || !isRunning || publishedAt === Infinity) continue;
    if (!await hasKey(world, device)) lacking.push(device);
  }
  if (lacking.length > 0 && !isCounted) await world.timeline.pass(UNNOTICED);
  for (const device of lacking) {
    if (!isCounted && await hasKey(world, device)) continue;
    world.violate(`the server has no one-time key of ${device.name}`);
  }
}

/** Whether the server gives a one-time key of a device away. */
async function hasKey(world: World, { userId, deviceId }: Device): Promise<boolean> {
  const answer = await world.ask(world.stranger.accessToken, "POST", "v3/keys/claim", {
    one_time_keys: { [userId]: { [deviceId]: "signed_curve25519" } },
  }) as { readonly one_time_keys?: ClaimedKeys };
  const [key] = Object.values(answer.one_time_keys?.[userId]?.[deviceId] ?? {});
  return key !== undefined && key.fallback !== true;
}
