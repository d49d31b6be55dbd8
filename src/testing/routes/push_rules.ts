/**
 * Push rules, pushers and notifications.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#push-rules-api | Push rules API}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, requireKeys, type Route, route, viewerOf } from "../http/http.ts";
import { type Answer, badJson, badRequest, Failure, missingParam, notFound, refused } from "../json/json.ts";
import { formatEvent } from "../rooms/mod.ts";
import { concerns, evaluatePush, PUSH_RULE_KINDS, type PushRule, type PushRuleKind } from "../users/mod.ts";

/** The routes of this file. */
export const pushRuleRoutes: readonly Route[] = [
  route("GET", "v3/pushrules/", ({ user }) => ({ global: user.pushRules.toJson() })),
  route("GET", "v3/pushrules/global/", ({ user }) => user.pushRules.toJson()),
  route("GET", "v3/pushrules/global/{kind}/", (request) => [...request.user.pushRules.of(kindOf(request))]),
  route("GET", "v3/pushrules/global/{kind}/{ruleId}", (request) => ({ ...ruleOf(request) })),
  route("PUT", "v3/pushrules/global/{kind}/{ruleId}", putRule),
  route("DELETE", "v3/pushrules/global/{kind}/{ruleId}", deleteRule),
  route(
    "GET",
    "v3/pushrules/global/{kind}/{ruleId}/enabled",
    (request) => ({ enabled: ruleOf(request).enabled }),
  ),
  route("PUT", "v3/pushrules/global/{kind}/{ruleId}/enabled", putEnabled),
  route(
    "GET",
    "v3/pushrules/global/{kind}/{ruleId}/actions",
    (request) => ({ actions: ruleOf(request).actions }),
  ),
  route("PUT", "v3/pushrules/global/{kind}/{ruleId}/actions", putActions),
  route("GET", "v3/pushrules/{scope}", unknownScope),
  route("GET", "v3/pushrules/{scope}/{kind}/{ruleId}", unknownScope),
  route("GET", "v3/pushers", ({ user }) => ({ pushers: [...user.pushers.values()] })),
  route("POST", "v3/pushers/set", setPusher),
  route("GET", "v3/notifications", notifications),
];

const PUSHER_KEYS = ["kind", "app_id", "app_display_name", "device_display_name", "pushkey", "lang", "data"];
const DEFAULT_NOTIFICATIONS = 50;
const MAX_NOTIFICATIONS = 500;

/** The only path that notifications go to. */
const NOTIFY = "/_matrix/push/v1/notify";

function pathOf(data: unknown): string {
  const url = isJsonObject(data) ? String(data.url) : "";
  return URL.canParse(url) ? new URL(url).pathname : "";
}

/** There is one scope, and its path ends with a slash. */
function unknownScope(): never {
  throw new Failure(400, "M_UNRECOGNIZED", "Unrecognized request");
}

function knownKind(request: AuthedRequest): PushRuleKind | undefined {
  return PUSH_RULE_KINDS.find((known) => known === request.param("kind"));
}

function kindOf(request: AuthedRequest): PushRuleKind {
  return knownKind(request) ?? unknownScope();
}

function kindToWrite(request: AuthedRequest): PushRuleKind {
  const kind = knownKind(request);
  if (kind === undefined) throw refused(`Unknown template: ${request.param("kind")}`);
  return kind;
}

function ruleOf(request: AuthedRequest): PushRule {
  const rule = request.user.pushRules.find(kindOf(request), request.param("ruleId"));
  if (rule === undefined) throw notFound("Push rule not found");
  return rule;
}

function putRule(request: AuthedRequest): void {
  const { user } = request;
  const kind = kindToWrite(request);
  const id = request.param("ruleId");
  if (/[/\\]/.test(id)) throw refused("rule_id may not contain slashes");
  const json = request.jsonOr("M_UNKNOWN");
  if (id.startsWith(".")) throw refused("cannot add new rule_ids that start with '.'");
  const rule: PushRule = { rule_id: id, default: false, enabled: true, actions: actionsOf(json) };
  if (kind === "override" || kind === "underride") {
    if (!Array.isArray(json.conditions)) throw refused("Missing 'conditions'");
    if (
      !json.conditions.every((condition) => isJsonObject(condition) && typeof condition.kind === "string")
    ) {
      throw refused("Condition without 'kind'");
    }
    rule.conditions = json.conditions;
  } else if (kind === "content") {
    if (typeof json.pattern !== "string") throw refused("Content rule missing 'pattern'");
    rule.pattern = json.pattern;
  }
  const placed = user.pushRules.put(kind, rule, {
    before: request.query("before"),
    after: request.query("after"),
  });
  if (!placed) throw refused("before/after rule not found");
  changed(request);
}

function deleteRule(request: AuthedRequest): void {
  const kind = knownKind(request);
  if (kind === undefined || !request.user.pushRules.delete(kind, request.param("ruleId"))) {
    throw notFound("Push rule does not exist");
  }
  changed(request);
}

function putEnabled(request: AuthedRequest): void {
  kindToWrite(request);
  if (request.param("ruleId").startsWith(".")) ruleOf(request);
  const { enabled } = request.jsonOr("M_UNKNOWN");
  if (typeof enabled !== "boolean") throw refused("Value for 'enabled' must be boolean");
  request.user.pushRules.enable(ruleOf(request), enabled);
  changed(request);
}

function putActions(request: AuthedRequest): void {
  kindToWrite(request);
  if (request.param("ruleId").startsWith(".")) ruleOf(request);
  const actions = actionsOf(request.jsonOr("M_UNKNOWN"));
  request.user.pushRules.act(ruleOf(request), actions);
  changed(request);
}

function actionsOf({ actions }: JsonObject): unknown[] {
  if (!Array.isArray(actions)) throw refused("No actions found");
  const valid = actions.every((action) =>
    ["notify", "dont_notify", "coalesce"].includes(action) ||
    (isJsonObject(action) && Object.hasOwn(action, "set_tweak"))
  );
  if (!valid) throw refused("Unrecognised action");
  return actions;
}

function changed({ server, user }: AuthedRequest): void {
  server.savePushRules(user);
}

function setPusher({ server, user, json }: AuthedRequest): void {
  requireKeys(json, "pushkey", "app_id");
  const key = `${json.app_id} ${json.pushkey}`;
  if (json.kind === null) {
    user.pushers.delete(key);
    server.pushers.removed(user, key);
    return;
  }
  requireKeys(json, ...PUSHER_KEYS);
  if (PUSHER_KEYS.some((key) => key !== "data" && typeof json[key] === "object")) {
    throw badJson("A pusher is described by texts");
  }
  if (json.kind === "http" && !(isJsonObject(json.data) && typeof json.data.url === "string")) {
    throw missingParam("data.url");
  }
  if (json.kind === "http" && pathOf(json.data) !== NOTIFY) {
    throw badRequest("M_MISSING_PARAM", `Config Error: 'url' must have a path of '${NOTIFY}'`);
  }
  const { append, ...pusher } = json;
  if (append !== true) {
    for (const other of server.users.values()) {
      if (other === user || !other.pushers.delete(key)) continue;
      server.pushers.removed(other, key);
    }
  }
  user.pushers.set(key, { profile_tag: "", ...pusher });
  server.pushers.set(user, key);
}

function notifications(request: AuthedRequest): Answer {
  const { server, user } = request;
  const limit = Math.min(request.queryInteger("limit") ?? DEFAULT_NOTIFICATIONS, MAX_NOTIFICATIONS);
  const from = request.query("from");
  if (from !== undefined && !/^-?\d+$/.test(from)) {
    throw refused('Query parameter "from" contains unrecognised token');
  }
  const end = from === undefined ? Infinity : Number(from);
  const onlyHighlights = request.query("only") === "highlight";
  const found: { position: number; json: JsonObject }[] = [];
  for (const id of user.memberships.keys()) {
    const room = server.rooms.get(id);
    if (room === undefined) continue;
    const read = Math.max(
      -1,
      ...room.receipts.of(user.id).map(({ index }) => index),
    );
    for (const event of room.events) {
      if (!concerns(room, user, event)) continue;
      const outcome = evaluatePush(user, room, event);
      if (!outcome.isNotified || event.position >= end || (onlyHighlights && !outcome.isHighlighted)) {
        continue;
      }
      found.push({
        position: event.position,
        json: {
          room_id: id,
          event: formatEvent(room, event, viewerOf(request), { withoutRoomId: true, bare: true }),
          actions: outcome.rule?.actions ?? [],
          read: event.index <= read,
          ts: event.timestamp,
          profile_tag: null,
        },
      });
    }
  }
  found.sort((a, b) => b.position - a.position);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    notifications: page.map(({ json }) => json),
    next_token: last === undefined ? null : String(last.position),
  };
}
