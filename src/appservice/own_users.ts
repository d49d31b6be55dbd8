/**
 * The users of an application service.
 *
 * @module
 */

import { parseUserId } from "../types/identifiers.ts";
import type { UserID } from "../types/ids.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { Registration } from "./registration.ts";

/** Says whose users they are. */
export class OwnUsers {
  /** The application service's own user. */
  readonly bot: UserID;
  /** Who it is for the homeserver where nobody is named. */
  readonly sender: UserID;
  readonly #server: string;
  readonly #exclusive: readonly RegExp[];
  readonly #all: readonly RegExp[];

  /**
   * @param registration Has the namespaces.
   * @param serverName The part behind the colon of the users' IDs.
   */
  constructor(registration: Registration, serverName: string) {
    const { sender_localpart, "greenroom.bot": bot = sender_localpart, namespaces: { users = [] } } =
      registration;
    this.sender = `@${sender_localpart}:${serverName}`;
    this.bot = `@${bot}:${serverName}`;
    for (const userId of [this.sender, this.bot]) parseUserId(userId);
    this.#server = `:${serverName}`;
    this.#exclusive = users.filter(({ exclusive }) => exclusive).map(expression);
    this.#all = users.map(expression);
  }

  /** Whether a user is one that the application service alone can have made. */
  isOwn(userId: string): boolean {
    return userId === this.bot || userId === this.sender || this.#isAmong(userId, this.#exclusive);
  }

  /**
   * The ID of a user that the application service may act as.
   *
   * @param user The ID, or what stands before its colon.
   * @throws {ValueError} If it may not.
   */
  actable(user: string): UserID {
    const userId = user.startsWith("@") ? user : `@${user}${this.#server}`;
    parseUserId(userId);
    if (userId === this.bot || this.#isAmong(userId, this.#all)) return userId as UserID;
    throw new ValueError(
      `Cannot act as ${userId}: the namespaces of the registration do not have it, or it is of another server`,
    );
  }

  #isAmong(userId: string, expressions: readonly RegExp[]): boolean {
    return userId.endsWith(this.#server) && expressions.some((each) => each.test(userId));
  }
}

/** Homeservers match from the beginning, and not to the end. */
function expression({ regex }: { readonly regex: string }): RegExp {
  return new RegExp(`^(?:${regex})`);
}
