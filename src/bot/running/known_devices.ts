/**
 * Says in the log when a bot begins anew, since it acts by another device than before.
 *
 * @module
 */

import type { Client, KvKey, KvStore } from "../../../mod.ts";
import type { DeviceID } from "../../../types.ts";

/** How many devices of a user are remembered: several may take turns with one store. */
const MAX_DEVICES = 20;

/** What a bot that has a new device goes on without. */
export const KEPT_BY_DEVICE =
  "conversations, reminders, sessions and all else that is kept by device stay with the old one";

/**
 * Remembers the device of a client. If it is new in a store that knows others of the same user, the
 * log says what that means, unless the device was made by who says so.
 */
export async function noteDevice(
  client: Client,
  store: KvStore,
  { warns }: { readonly warns: boolean },
): Promise<void> {
  const { mxid, deviceId } = client;
  if (mxid === "" || !deviceId) return; // the server could not be asked; the next start can
  const key: KvKey = ["greenroom.bot", "devices", mxid];
  for (;;) {
    const [entry] = await store.getMany([key]);
    const known = (entry?.value as { devices: readonly DeviceID[] } | undefined)?.devices ?? [];
    if (known.includes(deviceId)) return;
    const value = { devices: [...known, deviceId].slice(-MAX_DEVICES) };
    const checks = [{ key, versionstamp: entry?.versionstamp ?? null }];
    if (!await store.commit([{ type: "set", key, value }], checks)) continue;
    const old = known.at(-1);
    if (!warns || old === undefined) return;
    client.log.warn(
      "The bot's token is that of another device than before, which begins anew: what was said before this " +
        `start is not answered, and ${KEPT_BY_DEVICE}`,
      { user: mxid, oldDevice: old, newDevice: deviceId },
    );
    return;
  }
}
