/**
 * Has the homeserver wake the bot: its pusher and its push rule.
 *
 * @module
 */

import type { ClientAPI } from "../../api/api.ts";
import type { Session } from "../../api/http/mod.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { Pusher } from "../../api/account/account.ts";
import type { WakeKey } from "./wake_key.ts";
import type { RegisterWakeOptions, WakeRegistration } from "./wake_options.ts";

/** The only path that homeservers post to. */
export const NOTIFY = "/_matrix/push/v1/notify";
const RULE = "greenroom.wake";
const APP_ID = "greenroom.wake";
const MASTER = ".m.rule.master";
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Sets what is missing or different. */
export async function registerWake(
  api: ClientAPI,
  session: Pick<Session, "account">,
  key: WakeKey,
  url: string | URL,
  { events = "all", appId = APP_ID, ...options }: RegisterWakeOptions = {},
): Promise<WakeRegistration> {
  if (events !== "all" && events !== "notifying") {
    throw new ValueError(`Cannot register a wake: events must be all or notifying, not ${String(events)}`);
  }
  const address = addressOf(url);
  const pushkey = await key.get();
  const [, deviceId] = await session.account(options);
  const own = (await api.getPushers(options)).filter(({ app_id }) => app_id === appId);
  const pusher: Pusher = {
    pushkey,
    kind: "http",
    app_id: appId,
    app_display_name: "Greenroom",
    device_display_name: deviceId,
    lang: "en",
    // That an event is there is all that we need to know, and all that gateways on the way should.
    data: { url: address, format: "event_id_only" },
  };
  const isSet = own.some((each) =>
    each.pushkey === pushkey && each.kind === "http" && each.device_display_name === deviceId &&
    each.data.url === address && each.data.format === "event_id_only"
  );
  if (!isSet) await api.setPusher({ ...pusher, append: true }, options);
  const former = own.filter((each) => each.pushkey !== pushkey && each.device_display_name === deviceId);
  for (const each of former) await api.removePusher(each.pushkey, appId, options);
  const { override = [] } = await api.getPushRules(options);
  const rule = override.find(({ rule_id }) => rule_id === RULE);
  const isFirst = override.filter(({ rule_id }) => rule_id !== MASTER)[0] === rule;
  const isRuled = rule !== undefined && isFirst && rule.enabled && (rule.conditions ?? []).length === 0 &&
    rule.actions.length === 1 && rule.actions[0] === "notify";
  const wanted = events === "all";
  if (wanted && !isRuled) {
    if (rule !== undefined) await api.removePushRule("global", "override", RULE, options); // a new one comes first
    await api.setPushRule("global", "override", RULE, ["notify"], { ...options, conditions: [] });
  }
  if (!wanted && rule !== undefined) await api.removePushRule("global", "override", RULE, options);
  return {
    isChanged: !isSet || former.length > 0 || (wanted ? !isRuled : rule !== undefined),
    isMuted: override.some(({ rule_id, enabled }) => rule_id === MASTER && enabled),
  };
}

function addressOf(given: string | URL): string {
  if (!URL.canParse(given)) throw new ValueError("Cannot register a wake: the address is no URL");
  const url = new URL(given);
  if (url.pathname === "/") url.pathname = NOTIFY;
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
  if (!isSafe) {
    throw new ValueError(`Cannot register a wake at ${url.origin}: it must be https, or on this machine`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ValueError(`Cannot register a wake at ${url.origin}: it must have no user and no password`);
  }
  if (url.pathname !== NOTIFY) {
    throw new ValueError(
      `Cannot register a wake at ${url.origin}: homeservers accept no other path than ${NOTIFY}; ` +
        "have that path answered by client.fetch, and tell several bots apart by a query or a host name",
    );
  }
  url.hash = "";
  return url.href;
}
