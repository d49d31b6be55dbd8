/**
 * A story of a bot's life, which runs on any homeserver, in rooms in clear and in encrypted ones.
 *
 * @module
 */

import type { Kind, Transport } from "./transports/transport.ts";
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
  /** What its bot is made with. Default: the client alone, and the kit. */
  readonly kinds?: readonly Kind[];
  /**
   * Whether the quick half of the gate tells it by sliding sync, too: it has what that does in its own way.
   */
  readonly slidesOften?: boolean;
  /** Whether it restarts the homeserver, which has to be its own then. Default: false. */
  readonly restarts?: boolean;
  /** Whether its bot says more than ten things at once, and so has no rate limits. Default: false. */
  readonly talkative?: boolean;
  /** Fails if something is lost, done twice, or not told. */
  tell(world: World): Promise<void>;
}

/** One way in which a story is told. */
export interface Case {
  readonly story: Story;
  readonly rooms: Privacy;
  readonly transport: Transport;
  readonly kind: Kind;
  /** The story's name, and in which way it is told. */
  readonly name: string;
}

/** All ways in which stories are told. */
export function casesOf(stories: readonly Story[]): Case[] {
  return stories.flatMap((story) =>
    story.rooms.flatMap((rooms) =>
      (story.transports ?? ["polling"]).flatMap((transport) =>
        (story.kinds ?? ["client", "kit"]).map((kind) => {
          const by = transport === "polling" ? "" : `, by ${transport}`;
          const made = kind === "kit" ? ", of the kit" : "";
          return { story, rooms, transport, kind, name: `${story.name} (rooms ${rooms}${by}${made})` };
        })
      )
    )
  );
}

/** How most stories are told. */
export const BOTH: readonly Privacy[] = ["in clear", "encrypted"];
