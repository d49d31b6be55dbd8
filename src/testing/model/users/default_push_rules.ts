/**
 * The predefined push rules.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#predefined-rules | Predefined rules}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import type { PushRule, PushRuleKind } from "./push_rule.ts";

const HIGHLIGHT = { set_tweak: "highlight" };
const NO_HIGHLIGHT = { set_tweak: "highlight", value: false };
const SOUND = { set_tweak: "sound", value: "default" };

/** The rules that a user begins with. */
export function defaultPushRules(userId: UserID): Record<PushRuleKind, PushRule[]> {
  const localpart = userId.slice(1, userId.indexOf(":"));
  return {
    override: [
      { ...rule(".m.rule.master", [], []), enabled: false },
      rule(".m.rule.suppress_notices", [matches("content.msgtype", "m.notice")], []),
      rule(".m.rule.invite_for_me", [
        matches("type", "m.room.member"),
        matches("content.membership", "invite"),
        matches("state_key", userId),
      ], ["notify", NO_HIGHLIGHT, SOUND]),
      rule(".m.rule.member_event", [matches("type", "m.room.member")], []),
      rule(".m.rule.is_user_mention", [
        { kind: "event_property_contains", key: "content.m\\.mentions.user_ids", value: userId },
      ], ["notify", HIGHLIGHT, SOUND]),
      rule(".m.rule.contains_display_name", [{ kind: "contains_display_name" }], [
        "notify",
        HIGHLIGHT,
        SOUND,
      ]),
      rule(".m.rule.is_room_mention", [
        { kind: "event_property_is", key: "content.m\\.mentions.room", value: true },
        { kind: "sender_notification_permission", key: "room" },
      ], ["notify", HIGHLIGHT]),
      rule(".m.rule.roomnotif", [
        { kind: "sender_notification_permission", key: "room" },
        matches("content.body", "@room"),
      ], ["notify", HIGHLIGHT]),
      rule(".m.rule.tombstone", [matches("type", "m.room.tombstone"), matches("state_key", "")], [
        "notify",
        HIGHLIGHT,
      ]),
      rule(".m.rule.reaction", [matches("type", "m.reaction")], []),
      rule(".m.rule.room.server_acl", [matches("type", "m.room.server_acl"), matches("state_key", "")], []),
      rule(".m.rule.suppress_edits", [
        { kind: "event_property_is", key: "content.m\\.relates_to.rel_type", value: "m.replace" },
      ], []),
    ],
    content: [{
      rule_id: ".m.rule.contains_user_name",
      default: true,
      enabled: true,
      pattern: localpart,
      actions: ["notify", HIGHLIGHT, SOUND],
    }],
    room: [],
    sender: [],
    underride: [
      rule(".m.rule.call", [matches("type", "m.call.invite")], [
        "notify",
        { set_tweak: "sound", value: "ring" },
        NO_HIGHLIGHT,
      ]),
      rule(".m.rule.encrypted_room_one_to_one", [matches("type", "m.room.encrypted"), TWO_MEMBERS], [
        "notify",
        SOUND,
        NO_HIGHLIGHT,
      ]),
      rule(".m.rule.room_one_to_one", [matches("type", "m.room.message"), TWO_MEMBERS], [
        "notify",
        SOUND,
        NO_HIGHLIGHT,
      ]),
      rule(".m.rule.message", [matches("type", "m.room.message")], ["notify", NO_HIGHLIGHT]),
      rule(".m.rule.encrypted", [matches("type", "m.room.encrypted")], ["notify", NO_HIGHLIGHT]),
      rule(".im.vector.jitsi", [
        matches("type", "im.vector.modular.widgets"),
        matches("content.type", "jitsi"),
        matches("state_key", "*"),
      ], ["notify", NO_HIGHLIGHT]),
    ],
  };
}

const TWO_MEMBERS = { kind: "room_member_count", is: "2" };

function matches(key: string, pattern: string): JsonObject {
  return { kind: "event_match", key, pattern };
}

function rule(id: string, conditions: JsonObject[], actions: unknown[]): PushRule {
  return { rule_id: id, default: true, enabled: true, conditions, actions };
}
