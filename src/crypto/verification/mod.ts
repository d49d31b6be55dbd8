/**
 * Interactive verification of devices and users.
 *
 * @module
 */

export type {
  FrozenKeys,
  VerificationCancellation,
  VerificationPhase,
  VerificationState,
  VerificationWay,
} from "./protocol.ts";
export { VerificationFlow } from "./verification_flow.ts";
export type { VerificationSend } from "./verification_post.ts";
export { type VerificationNews, Verifications } from "./verifications.ts";
