/**
 * Requests to a Synapse whose users no rate limits hold back: sequences are made of requests at once.
 *
 * @module
 */

import { liftLimits } from "../../tools/synapse/lift_limits.ts";
import type { SynapseServer } from "../../tools/synapse/register_user.ts";

/** A `fetch` that lifts the limits of each user that is registered through it. */
export function withoutLimits(server: SynapseServer): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (!pathname.endsWith("/register") || !response.ok) return response;
    const { user_id: userId } = await response.clone().json();
    if (typeof userId === "string") await liftLimits(server, userId);
    return response;
  };
}
