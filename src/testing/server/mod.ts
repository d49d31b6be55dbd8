/**
 * The state of the homeserver, and what changes it.
 *
 * @module
 */

export {
  actionFor,
  changeMembership,
  type MembershipChange,
  notKnown,
  notReachable,
} from "./change_membership.ts";
export { sendEvent } from "./send_event.ts";
export { createRoom, type InitialState } from "./create_room.ts";
export type { Media } from "./media_store.ts";
export { bumpPresence, PRESENCE_STATES, presenceContent, setPresence } from "./presence.ts";
export { ServerState } from "./server_state.ts";
export { upgradeRoom } from "./upgrade_room.ts";
