/**
 * Whether events notify the user, by the push rules of the account. Loaded with the first call.
 *
 * @module
 */

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

/** The rules of a client's user, read once and then kept up to date by its syncs. */
export class PushRules {
  readonly #client: PushRulesClient;
  #rules: Promise<PushRuleset> | undefined;

  /** @param client Reads the rules, and knows who is in the rooms. */
  constructor(client: PushRulesClient) {
    this.#client = client;
    client.addEventHandler("m.push_rules", ({ content: { global } }) => {
      this.#rules = global && Promise.resolve(global);
    }, { name: "push_rules" });
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
    return evaluatePushRules(rules, event, await this.#factsFor(event, rules));
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
    const countsMembers = conditions.some(({ kind }) => kind === "room_member_count");
    return {
      displayName: (await stateStore.getMember(room, mxid as UserID))?.displayname ?? undefined,
      memberCount: countsMembers ? await this.#membersOf(room) : 0,
      mayNotify: (way: string) => allowed.has(way),
    };
  }

  async #membersOf(room: RoomID): Promise<number> {
    const { stateStore } = this.#client;
    if (!await stateStore.hasFullMemberList(room)) await this.#client.getMembers(room);
    return (await stateStore.getMembers(room, [Membership.JOIN])).size;
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
