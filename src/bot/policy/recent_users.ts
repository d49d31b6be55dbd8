/**
 * What limits remember of users.
 *
 * @module
 */

/** How many users are remembered; the others begin anew. */
const MAX_USERS = 10_000;

/** What is known of the users who came last. */
export class RecentUsers<State> {
  readonly #users = new Map<string, State>();

  /** What is known of a user; undefined: nothing. */
  get(user: string): State | undefined {
    return this.#users.get(user);
  }

  /** Remembers it of a user who has come. */
  set(user: string, state: State): void {
    this.#users.delete(user); // those who came last stay
    this.#users.set(user, state);
    const [oldest] = this.#users.keys();
    if (this.#users.size > MAX_USERS && oldest !== undefined) this.#users.delete(oldest);
  }
}
