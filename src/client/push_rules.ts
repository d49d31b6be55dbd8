/**
 * Evaluates the account's push rules: whether an event notifies the user. Loaded with the first call.
 *
 * @module
 */

import { RecentMap } from "../base/recent_map.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { pushRulesContent } from "../types/checks/account_data_shapes.ts";
import { Misfit, UNNOTED } from "../types/checks/shape.ts";
import type { PushRuleset } from "../types/content/account_data_content.ts";
import { Membership } from "../types/enums.ts";
import type { MatrixEvent } from "../types/events/event.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import { evaluatePushRules, NO_PUSH, type PushedEvent, type PushResult } from "../types/push_rules.ts";
import type { StateStore } from "../actors/store/mod.ts";
import type { ClientAPI } from "../api/api.ts";
import type { HandlersAPI } from "./handlers_api.ts";

/** What is needed of a client. */
export type PushRulesClient =
  & Pick<ClientAPI, "getPushRules" | "getMembers">
  & Pick<HandlersAPI, "addEventHandler">
  & { readonly mxid: UserID | ""; readonly stateStore: StateStore };

/** How many rooms it is remembered of how many members they have. */
const MAX_ROOMS = 1_000;

/** The rules of a client's user, read once and then kept up to date by its syncs. */
export class PushRules {
  readonly #client: PushRulesClient;
  #rules: Promise<PushRuleset> | undefined;
  /** How many users have joined a room, until one comes or goes. */
  readonly #counts = new RecentMap<RoomID, number>(MAX_ROOMS);
  /** How many members have come or gone. */
  #changes = 0;

  /** @param client Reads the rules, and knows who is in the rooms. */
  constructor(client: PushRulesClient) {
    this.#client = client;
    client.addEventHandler("m.push_rules", ({ content: { global } }) => {
      this.#rules = global && Promise.resolve(global);
    }, { name: "push_rules" });
    client.addEventHandler("m.room.member", ({ room_id }) => {
      this.#changes++;
      this.#counts.remove(room_id);
    }, { name: "push_rules", history: true, own: true, redacted: true });
  }

  /** See `client.pushRules.evaluate()`. */
  async evaluate(event: MatrixEvent): Promise<PushResult> {
    if (!isOfRoom(event)) {
      throw new ValueError(
        "Cannot evaluate push rules: the event has no room_id, or no sender; give one of a room",
      );
    }
    const { mxid } = this.#client;
    if (event.sender === mxid || event.unsigned?.redacted_because !== undefined) return NO_PUSH;
    this.#rules ??= this.#read();
    const rules = await this.#rules;
    const facts = await this.#factsFor(event, rules);
    let isCounted = false;
    const result = evaluatePushRules(rules, event, {
      ...facts,
      get memberCount() {
        isCounted = true;
        return NaN;
      },
    });
    if (!isCounted) return result; // most rooms have many members, and most events need not know
    return evaluatePushRules(rules, event, { ...facts, memberCount: await this.#membersOf(event.room_id) });
  }

  /** Reads the rules; what can't be one is left out. */
  async #read(): Promise<PushRuleset> {
    try {
      const content = pushRulesContent({ global: await this.#client.getPushRules() }, UNNOTED);
      return content instanceof Misfit ? {} : content.global ?? {};
    } catch (error) {
      this.#rules = undefined; // the next call asks again
      throw error;
    }
  }

  async #factsFor({ room_id: room, sender }: RoomEvent, rules: PushRuleset) {
    const { stateStore, mxid } = this.#client;
    const conditions = [...rules.override ?? [], ...rules.underride ?? []].flatMap(({ conditions = [] }) =>
      conditions
    );
    const ways = new Set<string>();
    for (const { kind, key } of conditions) {
      if (kind === "sender_notification_permission" && key !== undefined) ways.add(key);
    }
    const allowed = new Set<string>();
    for (const way of ways) {
      if (await stateStore.hasPowerLevel(room, sender, { notify: way })) allowed.add(way);
    }
    return {
      displayName: (await stateStore.getMember(room, mxid as UserID))?.displayname ?? undefined,
      mayNotify: (way: string) => allowed.has(way),
    };
  }

  async #membersOf(room: RoomID): Promise<number> {
    const known = this.#counts.get(room);
    if (known !== undefined) return known;
    const { stateStore } = this.#client;
    if (!await stateStore.hasFullMemberList(room)) await this.#client.getMembers(room);
    const before = this.#changes;
    const { size } = await stateStore.getMembers(room, [Membership.JOIN]);
    if (before === this.#changes) this.#counts.set(room, size);
    return size;
  }
}

type RoomEvent = MatrixEvent & PushedEvent & {
  readonly room_id: RoomID;
  readonly sender: UserID;
  readonly unsigned?: { readonly redacted_because?: unknown };
};

function isOfRoom(event: MatrixEvent): event is RoomEvent {
  const { room_id, sender } = event as Partial<RoomEvent>;
  return typeof room_id === "string" && typeof sender === "string";
}
