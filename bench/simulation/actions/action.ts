/**
 * What can happen in a world: plain data, so that a list of actions can be run without the seed that
 * it was drawn from.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";

/** Something that happens. Numbers choose among what there is at that time, whatever that is. */
export interface Action {
  readonly kind: string;
  /** How long after the action before, in milliseconds. */
  readonly after: number;
  /** Which device, or user. */
  readonly who: number;
  /** Which room, or other user. */
  readonly where: number;
  /** How much, or which variety. */
  readonly what: number;
}

/** Does an action in a world, if it can be done there. */
export interface Scene {
  readonly world: World;
  readonly action: Action;
  /** The device that the action names, of those that have not gone; undefined: there is none. */
  readonly device: Device;
  /** The room that it names. */
  readonly room: WorldRoom;
}

/** A kind of action. */
export interface ActionKind {
  readonly name: string;
  /** How often it is drawn, in relation to others. */
  readonly weight: number;
  /** Whether it is drawn only for worlds whose users have recovery keys. Default: no. */
  readonly isOfTrust?: boolean;
  /** Whether it is drawn only for worlds whose clients share history. Default: no. */
  readonly isOfHistory?: boolean;
  /** Whether it is drawn only for worlds whose bots are bots of the kit. Default: no. */
  readonly isOfKit?: boolean;
  /** Whether it is drawn only for worlds with an application service. Default: no. */
  readonly isOfService?: boolean;
  /** Does it. What takes time it begins, and does not wait for. */
  readonly perform: (scene: Scene) => void | Promise<void>;
}

/** One of some values, chosen by any number. */
export function chosen<Value>(values: readonly Value[], number: number): Value | undefined {
  return values[number % Math.max(1, values.length)];
}
