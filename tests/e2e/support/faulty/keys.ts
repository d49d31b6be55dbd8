/**
 * What the server has of devices' keys.
 *
 * @module
 */

import type { SynapseServer } from "../synapse.ts";

/** A device whose keys are claimed. */
interface DeviceName {
  readonly userId: string;
  readonly deviceId: string;
}

/**
 * Claims one-time keys of a device until there are none left.
 *
 * @returns How many there were, and whether there is a fallback key.
 */
export async function drainKeys(
  server: SynapseServer,
  { accessToken }: { accessToken: string },
  { userId, deviceId }: DeviceName,
): Promise<{ drained: number; hasFallback: boolean }> {
  for (let drained = 0;; drained++) {
    const response = await fetch(`${server.baseUrl}/_matrix/client/v3/keys/claim`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ one_time_keys: { [userId]: { [deviceId]: "signed_curve25519" } } }),
    });
    const { one_time_keys } = await response.json();
    const [key] = Object.values<{ fallback?: boolean }>(one_time_keys[userId]?.[deviceId] ?? {});
    if (key === undefined || key.fallback === true) return { drained, hasFallback: key !== undefined };
  }
}
