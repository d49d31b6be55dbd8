/**
 * Policy lists: rooms whose state says which users, servers and rooms are not wanted.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#moderation-policy-lists | Moderation policy lists}
 * @module
 */

import { checkOptions } from "../../errors/known_names.ts";
import { GlobIndex, memberOf, textOf } from "../text/mod.ts";
import type { EventID, RoomAlias, RoomID, UserID } from "../../../types.ts";

/** What a rule is about: users, servers or rooms. */
export type PolicyKind = "user" | "server" | "room";

/** A rule of a policy list. */
export interface PolicyRule {
  /** Whether the rule is about users, servers or rooms. */
  readonly kind: PolicyKind;
  /** The glob that users, servers or rooms fit. */
  readonly entity: string;
  /** What to do about them: `m.ban`, or what the list has of its own. */
  readonly recommendation: string;
  /** Why. Default: the list does not say, or at too great length. */
  readonly reason?: string;
  /** The room of the list. */
  readonly roomId: RoomID;
  /** The user who made the rule. */
  readonly sender: UserID;
  /** The event that made it, if it is known. */
  readonly eventId?: EventID;
}

/** As much of an event as is looked at. */
export interface PolicyEvent {
  /** Its type; others than those of rules, and `m.room.redaction`, are left out. */
  readonly type: string;
  /** Which rule of its type it is. */
  readonly state_key?: string;
  /** The user ID of the event's sender. */
  readonly sender: UserID;
  /** Identifies it among the room's events. */
  readonly event_id?: EventID;
  /** The content of the event. */
  readonly content: object;
  /** The ID of the event that it redacts, if it is a redaction. */
  readonly redacts?: EventID;
}

/** Options of {@link PolicyLists}. */
export interface PolicyListsOptions {
  /** Users, servers and rooms that no rule counts for. Default: none. */
  spare?: Iterable<string>;
  /**
   * How many rules are kept; more are left out. Of rules with `?` or more than one star,
   * no more are kept of a kind than have 20,000 characters together. Default: 100,000.
   */
  maxRules?: number;
}

/** The type of a rule, today's and those of before the specification. */
export type PolicyRuleType = `${"m.policy" | "m.room" | "org.matrix.mjolnir"}.rule.${PolicyKind}`;

/** What each type of rule is about. */
const KINDS: ReadonlyMap<string, PolicyKind> = new Map(
  (["user", "server", "room"] as const).flatMap((kind) => typesOf(kind).map((type) => [type, kind])),
);

/**
 * The types of state that are rules: for handlers, and for filters.
 *
 * @example
 * ```ts
 * import { Composer, POLICY_RULE_TYPES } from "@greenroom/matrix/bot";
 *
 * new Composer().on(POLICY_RULE_TYPES, (c) => console.log(`A rule has changed in ${c.roomId}`));
 * ```
 */
export const POLICY_RULE_TYPES: readonly PolicyRuleType[] = [...KINDS.keys()] as PolicyRuleType[];

function typesOf(kind: PolicyKind): PolicyRuleType[] {
  return [`m.policy.rule.${kind}`, `m.room.rule.${kind}`, `org.matrix.mjolnir.rule.${kind}`];
}

/** No identifier is longer, and no recommendation that there is. */
const MAX_NAME = 255;
const MAX_REASON = 1_000;

const BAN = "m.ban";
const FORMER_BAN = "org.matrix.mjolnir.ban";

/**
 * The rules of policy lists, kept up to date with the state of their rooms.
 *
 * Rules are what the members of other rooms wrote: follow lists of people whom you trust, and say
 * with `spare` what no rule may fit.
 *
 * @example
 * ```ts
 * import { PolicyLists } from "@greenroom/matrix/bot";
 *
 * const lists = new PolicyLists();
 * lists.apply("!list:example.org", {
 *   type: "m.policy.rule.server",
 *   state_key: "spam",
 *   sender: "@mod:example.org",
 *   content: { entity: "*.spam.example", recommendation: "m.ban", reason: "spam" },
 * });
 * console.assert(lists.matches("@eve:a.spam.example")?.reason === "spam");
 * console.assert(lists.matches("@bob:example.org") === undefined);
 * ```
 */
export class PolicyLists {
  readonly #spare: ReadonlySet<string>;
  readonly #maxRules: number;
  /** By room, type and state key. */
  readonly #rules = new Map<string, PolicyRule>();
  /** The keys of rules, by room and the event that made them. */
  readonly #byEvent = new Map<string, string>();
  /** By kind and entity. */
  readonly #index: Readonly<Record<PolicyKind, GlobIndex<PolicyRule>>> = {
    ...{ user: new GlobIndex(), server: new GlobIndex(), room: new GlobIndex() },
  };

  /**
   * Starts without rules.
   *
   * @param options What to spare, and how many rules to keep.
   */
  constructor(options: PolicyListsOptions = {}) {
    checkOptions(options, { spare: true, maxRules: true }, "keep policy lists");
    const { spare = [], maxRules = 100_000 } = options;
    this.#spare = new Set(spare);
    this.#maxRules = maxRules;
  }

  /** How many rules there are. */
  get size(): number {
    return this.#rules.size;
  }

  /** All rules of a kind, in no particular order; of all kinds by default. */
  *rules(kind?: PolicyKind): Generator<PolicyRule, void, undefined> {
    for (const rule of this.#rules.values()) if (kind === undefined || rule.kind === kind) yield rule;
  }

  /**
   * Takes in an event of a list: a new rule, one in place of another, or the end of one, which is a rule
   * without content, or the redaction of its event.
   *
   * @param roomId The room of the list.
   * @param event The event; any other than a rule or a redaction is left out.
   * @returns Whether the rules have changed.
   */
  apply(roomId: RoomID, event: PolicyEvent): boolean {
    if (event.type === "m.room.redaction") return this.#redact(roomId, event);
    const kind = KINDS.get(event.type);
    if (kind === undefined || event.state_key === undefined) return false;
    const key = JSON.stringify([roomId, event.type, event.state_key]);
    const was = this.#rules.get(key);
    if (was !== undefined) this.#remove(key, was);
    const rule = ruleOf(kind, roomId, event);
    return rule !== undefined && this.#add(key, rule) || was !== undefined;
  }

  /**
   * Takes in the whole state of a list, as `client.getState()` returns it; rules of that list that
   * are not in it end.
   *
   * @param roomId The room of the list.
   * @param state Its state.
   */
  replace(roomId: RoomID, state: Iterable<PolicyEvent>): void {
    this.forget(roomId);
    for (const event of state) this.apply(roomId, event);
  }

  /** Forgets all rules of a list, because it is not followed any more. */
  forget(roomId: RoomID): void {
    for (const [key, rule] of [...this.#rules]) if (rule.roomId === roomId) this.#remove(key, rule);
  }

  /**
   * The rule by which somebody or something is to be banned. Of a user the rules for users come
   * first, and then those for the server.
   *
   * @param entity A user ID, a room ID or alias, or the name of a server.
   * @returns A rule that says `m.ban`; undefined if there is none, or the entity is to be spared.
   */
  matches(entity: UserID | RoomID | RoomAlias | string): PolicyRule | undefined {
    for (const rule of this.rulesFor(entity)) if (rule.recommendation === BAN) return rule;
    return undefined;
  }

  /**
   * All rules that somebody or something fits, with those that recommend something else than a ban.
   *
   * @param entity A user ID, a room ID or alias, or the name of a server.
   */
  *rulesFor(entity: UserID | RoomID | RoomAlias | string): Generator<PolicyRule, void, undefined> {
    const server = entity.startsWith("@") ? entity.slice(entity.indexOf(":") + 1) : undefined;
    if (this.#spare.has(entity) || (server !== undefined && this.#spare.has(server))) return;
    if (server !== undefined) {
      yield* this.#rulesOf("user", entity);
      yield* this.#rulesOf("server", server);
    } else yield* this.#rulesOf(/^[!#]/.test(entity) ? "room" : "server", entity);
  }

  *#rulesOf(kind: PolicyKind, entity: string): Generator<PolicyRule, void, undefined> {
    for (
      const text of new Set([
        normal(kind, entity),
        ...(kind === "server" ? [withoutPort(normal(kind, entity))] : []),
      ])
    ) {
      yield* this.#index[kind].find(text);
    }
  }

  /** Ends the rule that a redacted event has made. The same that a later event has made stays. */
  #redact(roomId: RoomID, { redacts, content }: PolicyEvent): boolean {
    const id = redacts ?? textOf(memberOf(content, "redacts"));
    const key = id && this.#byEvent.get(eventName(roomId, id));
    const rule = key && this.#rules.get(key);
    if (key === undefined || !rule) return false;
    this.#remove(key, rule);
    return true;
  }

  #add(key: string, rule: PolicyRule): boolean {
    const { kind, roomId, eventId, entity } = rule;
    if (this.#rules.size >= this.#maxRules || !this.#index[kind].add(normal(kind, entity), rule)) {
      return false;
    }
    this.#rules.set(key, rule);
    if (eventId !== undefined) this.#byEvent.set(eventName(roomId, eventId), key);
    return true;
  }

  #remove(key: string, rule: PolicyRule): void {
    const { kind, roomId, eventId, entity } = rule;
    this.#rules.delete(key);
    if (eventId !== undefined) this.#byEvent.delete(eventName(roomId, eventId));
    this.#index[kind].delete(normal(kind, entity), rule);
  }
}

const eventName = (roomId: RoomID, id: string) => `${roomId} ${id}`;

/** Names of servers are the same in any case; IDs are not. */
const normal = (kind: PolicyKind, entity: string) => kind === "server" ? entity.toLowerCase() : entity;

/** The name of a server without its port, by which server ACLs know it. */
export function withoutPort(server: string): string {
  return server.replace(/:\d{1,5}$/, "");
}

function ruleOf(
  kind: PolicyKind,
  roomId: RoomID,
  { sender, event_id: eventId, content }: PolicyEvent,
): PolicyRule | undefined {
  const entity = textOf(memberOf(content, "entity"));
  const recommendation = textOf(memberOf(content, "recommendation"));
  const reason = textOf(memberOf(content, "reason"));
  if (entity === undefined || entity === "" || entity.length > MAX_NAME) return undefined;
  if (recommendation === undefined || recommendation.length > MAX_NAME) return undefined;
  return {
    kind,
    entity,
    recommendation: recommendation === FORMER_BAN ? BAN : recommendation,
    ...(reason !== undefined && reason.length <= MAX_REASON && { reason }),
    roomId,
    sender,
    ...(eventId !== undefined && { eventId }),
  };
}
