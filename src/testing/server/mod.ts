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
  sendEvent,
} from "./send_event.ts";
export { createRoom, type InitialState, upgradeRoom } from "./create_room.ts";
export {
  bumpPresence,
  type Media,
  PRESENCE_STATES,
  presenceContent,
  ServerState,
  setPresence,
} from "./server_state.ts";
