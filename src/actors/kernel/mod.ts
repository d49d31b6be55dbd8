/**
 * Actors, without any Matrix.
 *
 * @module
 */

export {
  type Actor,
  type ActorRef,
  isInside,
  type Later,
  later,
  type Lifecycle,
  type TurnContext,
} from "./actor.ts";
export {
  ActorError,
  type ActorErrorInit,
  ActorStoppedError,
  fatal,
  reasonOf,
  unwrapped,
} from "./actor_error.ts";
export { spawn } from "./spawn.ts";
export { supervise, type Supervisor } from "./supervisor.ts";
