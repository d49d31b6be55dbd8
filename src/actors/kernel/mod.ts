/**
 * Actors, without any Matrix.
 *
 * @module
 */

export type { Actor, ActorRef, Lifecycle } from "./actor.ts";
export { ActorError, ActorStoppedError, fatal } from "./actor_error.ts";
export { spawn } from "./spawn.ts";
export { supervise, type Supervisor } from "./supervisor.ts";
export { type Later, later, type TurnContext } from "./turn.ts";
export { isInside } from "./turn_scope.ts";
export { reasonOf, unwrapped } from "./unwrapped.ts";
