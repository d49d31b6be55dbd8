/**
 * A story of a bot's life, which runs on any homeserver, in rooms in clear and in encrypted ones.
 *
 * @module
 */

import type { Transport } from "./transports/transport.ts";
import type { World } from "./world.ts";

/** How the rooms of a story are: in clear, or encrypted. */
export type Privacy = "in clear" | "encrypted";

/** A piece of a bot's everyday life. */
export interface Story {
  /** What must hold, in a sentence. */
  readonly name: string;
  /** How its rooms are, one telling for each. */
  readonly rooms: readonly Privacy[];
  /** By which transports its bot gets what is new. Default: by polling alone. */
  readonly transports?: readonly Transport[];
  /** Whether it restarts the homeserver, which has to be its own then. Default: false. */
  readonly restarts?: boolean;
  /** Fails if something is lost, done twice, or not told. */
  tell(world: World): Promise<void>;
}

/** How most stories are told. */
export const BOTH: readonly Privacy[] = ["in clear", "encrypted"];
