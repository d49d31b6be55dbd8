/**
 * Whom a bot hears, and who its admins are.
 *
 * @module
 */

import { type Client, encryptionOf, ValueError } from "../../../mod.ts";
import type { EncryptionInfo, MatrixEvent, MemberEvent, RoomID, SenderInfo, UserID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { type Glob, readGlob } from "../text/mod.ts";

export { type Invitation, Invitations, type Inviter, joinLate, JoinQueue } from "./invitations.ts";
export { type InviteLimit, InviteLimiter, type RateLimit, RateLimiter } from "./limits.ts";

/** Who is an admin of a bot: users, or who has a power level in the room that it is about. */
export type Admins = readonly UserID[] | {
  /** The power level, at least: 50 is a moderator's in most rooms, 100 an administrator's. */
  readonly powerLevel: number;
};

/** The users and rooms to which a bot listens. */
export interface AccessOptions {
  /**
   * Only these users are heard: user IDs, in which `*` stands for any text and `?` for any
   * character, like `@*:example.org`. Default: everybody.
   */
  allow?: readonly string[];
  /** These users are not heard, even if `allow` lists them. Default: none. */
  deny?: readonly string[];
  /** Only in these rooms does it hear. Default: in all. */
  rooms?: readonly RoomID[];
  /**
   * Who its admins are, for commands with `access: "admins"`. A power level is what the homeserver says it is:
   * against that, and for commands that reach beyond their room, list user IDs. Default: nobody.
   */
  admins?: Admins;
  /**
   * Whether it hears only what comes encrypted: messages, reactions, votes, in any room. What comes
   * in clear may be the homeserver's, or of somebody who has stolen a token, and is ignored; the
   * bot asks nothing where nothing is encrypted. What no client encrypts is heard as ever: state,
   * members, invitations, redactions. For some commands alone: {@linkcode
   * CommandOptions.encryptedOnly}. Default: false.
   */
  encryptedOnly?: boolean;
}

/** Whose invitations are accepted: `true` those of all who are heard, a list those of its users and patterns. */
export type AutoJoin = boolean | readonly string[] | ((invite: MemberEvent) => boolean | Promise<boolean>);

/** What user IDs can match: one as it is, or with `*` and `?`. */
const PATTERN = /^(?:@[^:*?]*:.+|@[^*?\n]*[*?].*|[*?].*)$/;

/** Says who may do what. */
export class Access {
  readonly #client: Client;
  readonly #options: AccessOptions;
  readonly #allow: readonly Glob[] | undefined;
  readonly #deny: readonly Glob[];
  readonly #autoJoin: boolean | readonly Glob[] | Extract<AutoJoin, (invite: MemberEvent) => unknown>;

  /**
   * @param client Knows the rooms.
   * @param options Whom it hears.
   * @throws {ValueError} If a pattern or the admins can't be used.
   */
  constructor(client: Client, options: AccessOptions & { readonly autoJoin?: AutoJoin }) {
    this.#client = client;
    this.#options = options;
    this.#allow = options.allow && globsOf("allow", options.allow);
    this.#deny = globsOf("deny", options.deny ?? []);
    const { autoJoin = true } = options;
    const isList = typeof autoJoin !== "boolean" && typeof autoJoin !== "function";
    this.#autoJoin = isList ? globsOf("autoJoin", autoJoin) : autoJoin;
    checkAdmins(options.admins ?? []);
    for (const room of options.rooms ?? []) {
      if (typeof room !== "string" || !room.startsWith("!")) {
        throw new ValueError(`Cannot make a bot: rooms has ${shown(room)}, which is no room ID like "!…"`);
      }
    }
  }

  /** Returns whether a user is heard in a room. */
  hears(userId: string, room: RoomID): boolean {
    if (this.#options.rooms?.includes(room) === false) return false;
    if (this.#deny.some((pattern) => pattern.matches(userId))) return false;
    return this.#allow === undefined || this.#allow.some((pattern) => pattern.matches(userId));
  }

  /** Returns whether it hears an event as far as that depends on how it came: encrypted, or in clear. */
  hearsAsSent(type: string, event: MatrixEvent): boolean {
    if (this.#options.encryptedOnly !== true || "state_key" in event || type === "m.room.redaction") {
      return true;
    }
    return isSendersWord({ event, encryption: encryptionOf(event) });
  }

  /** Returns whether an invitation is accepted without a function of the bot. */
  async accepts(invite: MemberEvent): Promise<boolean> {
    const joins = this.#autoJoin;
    if (typeof joins === "function") return await joins(invite);
    return typeof joins === "boolean" ? joins : joins.some((pattern) => pattern.matches(invite.sender));
  }

  async isAdmin(userId: UserID, room: RoomID): Promise<boolean> {
    const { admins = [] } = this.#options;
    return "powerLevel" in admins
      ? await this.hasPowerLevel(userId, room, admins.powerLevel)
      : admins.includes(userId);
  }

  async hasPowerLevel(userId: UserID, room: RoomID, least: number): Promise<boolean> {
    if (least === -Infinity) return true;
    const { stateStore } = this.#client;
    // What an application service is sent begins when it comes into a room; the levels are older.
    if (await stateStore.getPowerLevels(room) === undefined) await this.#client.getState(room);
    return (await stateStore.getPowerLevel(room, userId) ?? -Infinity) >= least;
  }
}

function checkAdmins(admins: Admins): void {
  if (typeof admins === "object" && "powerLevel" in admins) {
    checkOptions(admins, { powerLevel: true }, "make a bot", "admins.");
    if (Number.isInteger(admins.powerLevel)) return;
    throw new ValueError("Cannot make a bot: admins.powerLevel must be a whole number");
  }
  if (!Array.isArray(admins)) {
    throw new ValueError(
      `Cannot make a bot: admins is ${shown(admins)}; give a list of user IDs, or a power level`,
    );
  }
  for (const each of admins) {
    if (typeof each === "string" && /^@[^:]*:./.test(each)) continue;
    throw new ValueError(
      `Cannot make a bot: admins has ${shown(each)}, which is no user ID like "@alice:example.org"`,
    );
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : `a value of type ${typeof value}`;
}

/** Patterns of user IDs. */
function globsOf(option: string, patterns: readonly string[]): readonly Glob[] {
  if (!Array.isArray(patterns)) {
    throw new ValueError(`Cannot make a bot: ${option} is ${shown(patterns)}; give a list of user IDs`);
  }
  return patterns.map((each) => {
    if (typeof each === "string" && each.length <= 255 && PATTERN.test(each)) return readGlob(each);
    throw new ValueError(
      `Cannot make a bot: ${option} has ${
        shown(each)
      }, which is no user ID, nor a pattern like "@*:example.org"`,
    );
  });
}

/** An event, and how it was encrypted; undefined: it was not. */
interface Received {
  readonly event: Pick<MatrixEvent, "type">;
  readonly encryption: SenderInfo & Partial<Pick<EncryptionInfo, "relation">> | undefined;
}

/**
 * Returns whether nobody but its sender's device can have written an event: it was encrypted. Of a reaction
 * that includes what it is to, and with what, which stands in the relation.
 */
export function isSendersWord({ event, encryption }: Received): boolean {
  if (encryption === undefined) return false;
  return event.type !== "m.reaction" || encryption.relation === "encrypted";
}

const UNREADABLE = "An encrypted message can't be read, and is not answered unless its key comes";
const UNTRUSTED = "An encrypted message is not answered unless the device that sent it comes to be trusted";
/**
 * How long a message may wait to be read, in milliseconds: its key, or the look-up of its sender, may
 * be on its way.
 */
const PATIENCE = 15_000;
const CLEAR = "A message in clear is not answered in an encrypted room";
const HEAR_CLEAR = 'have it sent encrypted; encryption.unencrypted "deliver" hears what is not';
/** How many senders and reasons are remembered, beyond which they are said again; and how many messages wait. */
const MAX_SAID = 1_000;

/**
 * Has encrypted messages that can't be read logged, and those that should be encrypted, once for each sender
 * and reason.
 *
 * @param client The bot's client.
 * @param access Whom the bot hears: nobody misses an answer to others.
 * @param signal Signals that the bot ends: what is unread by then is said.
 */
export function reportUnread(client: Client, access: Access, signal: AbortSignal): void {
  const said = new Set<string>();
  let waiting = 0;
  const tell = (what: string, message: string, data: Readonly<Record<string, unknown>>): void => {
    if (said.has(what)) return;
    if (said.size >= MAX_SAID) said.clear();
    said.add(what);
    client.log.warn(message, data);
  };
  client.addEventHandler("UNENCRYPTED", ({ event: { sender, room_id: room } }) => {
    if (!access.hears(sender, room)) return;
    tell(`${sender} in clear`, CLEAR, { sender, room, mend: HEAR_CLEAR });
  }, { name: "bot-clear" });
  client.addEventHandler("UNDECRYPTABLE", ({ event, reason, code }) => {
    const { sender } = event;
    const { room_id: room } = event as typeof event & { room_id: RoomID };
    const what = `${sender} ${code}`;
    if (said.has(what) || !access.hears(sender, room)) return;
    const then = client.crypto; // another takes its place if another process has had the device
    const say = () => {
      const isRead = [then, client.crypto].some((each) => each?.wasRecovered(event) === true);
      if (!isRead) tell(what, code === "UNTRUSTED" ? UNTRUSTED : UNREADABLE, { sender, room, error: reason });
    };
    if (waiting >= MAX_SAID) return say();
    waiting++;
    // Not awaited: a handler that waits would hold up what comes after it.
    client.api.clock.delay(PATIENCE, { signal }).catch(() => {}).then(() => {
      waiting--;
      say();
    });
  }, { name: "bot-unread" });
}
