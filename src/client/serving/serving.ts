/**
 * What a client answers: one function from a request to its response, with a door for each protocol.
 *
 * @module
 */

import { checkActOptions, IS_TOKEN_DEAD, type Session } from "../../api/http/mod.ts";
import type { AllAPI } from "../../api/api.ts";
import type { ClientBasics } from "../client_basics.ts";
import type { ClientLife } from "../client_life.ts";
import { PushGateway, WakeKey } from "./push_gateway.ts";
import { Refusal } from "../../base/bounded_body.ts";
import type { RegisterWakeOptions, WakeRegistration } from "../wake_options.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { Pusher } from "../../api/account/account.ts";

/** Answers to what comes at the end of a path. */
interface Door {
  /** The end of the path, in front of which anything may be. */
  readonly path: string;
  /** The methods that it answers. */
  readonly methods: readonly string[];
  readonly answer: (request: Request) => Response | Promise<Response>;
}

const TIME_LIMIT = 20_000;

/** What a client answers. */
export class Serving {
  readonly #client: ClientBasics;
  readonly #life: ClientLife;
  readonly #api: AllAPI;
  readonly #doors: readonly Door[];
  #key: WakeKey | undefined;
  #gateway: PushGateway | undefined;

  /**
   * @param client What lasts of the client.
   * @param life Makes passes.
   * @param api The operations.
   */
  constructor(client: ClientBasics, life: ClientLife, api: AllAPI) {
    [this.#client, this.#life, this.#api] = [client, life, api];
    this.#doors = [
      { path: NOTIFY, methods: ["POST"], answer: (request) => this.#notify(request) },
      { path: "/health", methods: ["GET", "HEAD"], answer: () => this.#health() },
    ];
  }

  /** Answers a request; never rejects. */
  async answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    try {
      const door = this.#doors.find(({ path }) => pathname.endsWith(path));
      if (door === undefined) throw new Refusal(404, "M_UNRECOGNIZED", "There is nothing at this path");
      if (!door.methods.includes(request.method)) {
        const allow = door.methods.join(", ");
        throw new Refusal(405, "M_UNRECOGNIZED", `The method must be one of ${allow}`, { allow });
      }
      return await door.answer(request);
    } catch (error) {
      if (error instanceof Refusal) return error.response;
      this.#client.log.error("A request could not be answered", { error: String(error) });
      return new Refusal(500, "M_UNKNOWN", "The request could not be answered").response;
    }
  }

  /** Has the homeserver wake the bot. */
  async registerWake(url: string | URL, options?: RegisterWakeOptions): Promise<WakeRegistration> {
    return await registerWake(this.#api, this.#client.session, this.#wakeKey, url, options);
  }

  get #wakeKey(): WakeKey {
    return this.#key ??= new WakeKey(this.#client.session, this.#client.wake);
  }

  async #notify(request: Request): Promise<Response> {
    const { session, wake, log } = this.#client;
    const life = this.#life;
    if (wake === undefined) throw new Refusal(404, "M_UNRECOGNIZED", "Nobody is woken here");
    const deadline = wake.passTimeout ?? TIME_LIMIT;
    this.#gateway ??= new PushGateway({
      key: this.#wakeKey,
      isSyncing: () => life.isSyncing,
      isOver: () => life.isStopping,
      pass: async (eventId) =>
        life.passes.hasHandled(eventId) ? undefined : await life.pass({ passTimeout: deadline }),
      clock: session.http.clock,
      log,
    });
    return await this.#gateway.notify(request);
  }

  /**
   * Answers whether this process is of use: if it has ended, another should take its place. If the last
   * pass could not reach the homeserver or the store, another process could not either.
   */
  #health(): Response {
    const life = this.#life;
    if (life.isStopping || this.#client.http[IS_TOKEN_DEAD]) {
      return Response.json({ status: "ended" }, { status: 503 });
    }
    return Response.json({ status: life.passes.wentWell ? "ok" : "failing" });
  }
}

/** The only path that homeservers post to. */
const NOTIFY = "/_matrix/push/v1/notify";
const RULE = "greenroom.wake";
const APP_ID = "greenroom.wake";
const MASTER = ".m.rule.master";
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Sets what is missing or different. */
async function registerWake(
  api: AllAPI,
  session: Pick<Session, "account">,
  key: WakeKey,
  url: string | URL,
  given: RegisterWakeOptions = {},
): Promise<WakeRegistration> {
  const { events = "all", appId = APP_ID, ...options } = given;
  checkActOptions(given, { events: true, appId: true }, "register a wake");
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
