/**
 * The types of event that conversations wait for: the bot listens to them though no function does.
 *
 * @module
 */

import { type Client, defineSession, type HandlerContext, ValueError } from "../../../mod.ts";
import { type Query, typesOf } from "../run/mod.ts";

const WAITED = defineSession({
  name: "bot.waited",
  per: () => undefined,
  initial: (): { types: readonly string[] } => ({ types: [] }),
});
const KEY = "types";
/** How many types are remembered; the oldest are forgotten. */
const MAX_TYPES = 1_000;

/** Has the bot listen to what conversations wait for, also in processes that begin later. */
export class WaitedTypes {
  readonly #client: Client;
  readonly #listen: (types: Iterable<string>) => void;

  /**
   * @param client Stores them.
   * @param listen Has the bot listen to types of event.
   */
  constructor(client: Client, listen: (types: Iterable<string>) => void) {
    this.#client = client;
    this.#listen = listen;
  }

  /**
   * Has what a run is to wait for be listened to from now on.
   *
   * @param always The types that the bot listens to whatever its functions are: these need no record.
   * @throws {ValueError} If there is no such query.
   */
  add(context: HandlerContext, queries: readonly Query[], always: readonly string[]): void {
    const types = queries.flatMap((query) => {
      const found = typeof query === "string" ? typesOf(query) : [];
      if (found.length > 0) return found;
      throw new ValueError(`Cannot wait for "${query}": it is neither a query nor a type of event`);
    }).filter((type) => !always.includes(type));
    if (types.length === 0) return; // mostly
    this.#listen(types);
    context.updateSession(WAITED, KEY, (before) => ({
      types: [...new Set([...before.types, ...types])].slice(-MAX_TYPES),
    }));
  }

  /** Has the bot listen to what conversations of earlier processes wait for. */
  async restore(): Promise<void> {
    const { types = [] } = await this.#client.sessions.read(WAITED, KEY) ?? {};
    this.#listen(types);
  }
}
