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
  supervise,
  type Supervisor,
  unwrapped,
} from "./supervisor.ts";
export { spawn } from "./spawn.ts";
