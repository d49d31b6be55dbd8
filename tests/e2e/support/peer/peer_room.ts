/**
 * What the server is asked for a room.
 *
 * @module
 */

import type { PeerRoomOptions } from "./peer_options.ts";

/** The body of a request to create a room. */
export function roomBody(options: PeerRoomOptions): Record<string, unknown> {
  const { encrypted = true, invite = [], preset = "private_chat", historyVisibility } = options;
  const encryption = {
    algorithm: "m.megolm.v1.aes-sha2",
    rotation_period_msgs: options.rotationPeriodMsgs,
    rotation_period_ms: options.rotationPeriodMs,
  };
  const state = (type: string, content: Record<string, unknown>) => ({ type, state_key: "", content });
  const visibility = state("m.room.history_visibility", { history_visibility: historyVisibility });
  const initial_state = [
    ...encrypted ? [state("m.room.encryption", encryption)] : [],
    ...historyVisibility === undefined ? [] : [visibility],
  ];
  return { preset, invite, initial_state };
}
