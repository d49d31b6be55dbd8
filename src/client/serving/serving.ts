/**
 * What a client answers: one function from a request to its response, with a door for each protocol.
 * One of them is the push gateway: the homeserver tells of new events, and the bot handles them.
 *
 * @see {@link https://spec.matrix.org/v1.19/push-gateway-api/ | Push gateway API}
 *
 * Over 300 lines because the push gateway is one of its doors.
 *
 * @module
 */

import type { SyncPass } from "../../actors/syncer/syncer.ts";
import type { Pusher } from "../../api/account/account.ts";
import type { AllAPI } from "../../api/api.ts";
import { checkActOptions, IS_TOKEN_DEAD, type Session } from "../../api/http/mod.ts";
import { BoundedBodies, isSameSecret, Refusal } from "../../base/bounded_body.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { platform } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ClientBasics } from "../client_basics.ts";
import type { ClientLife } from "../client_life.ts";
import type { RegisterWakeOptions, WakeOptions, WakeRegistration } from "../client_options.ts";

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
    // A new one comes first.
    if (rule !== undefined) await api.removePushRule("global", "override", RULE, options);
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

/** What a push gateway works with. */
export interface PushGatewayOptions {
  /** What the homeserver has to show. */
  readonly key: WakeKey;
  /** Whether the client syncs all the time: it needs no wake. */
  readonly isSyncing: () => boolean;
  /** Whether the client is ending. */
  readonly isOver: () => boolean;
  /** Handles what is new; undefined if the event was handled before. */
  readonly pass: (eventId: string) => Promise<SyncPass | undefined>;
  /** Measures the time. */
  readonly clock: Clock;
  /** Logs wakes that could not be handled. */
  readonly log: Logger;
}

/** An event has at most 65,536 bytes, and a notification little more. */
const BOUNDS = { body: 131_072, reading: 8 * 2 ** 20, time: 10_000 };
/** How many wakes may wait for their pass. */
const MAX_WAITING = 10_000;
/** How many devices a notification may name: ours names one. */
const MAX_DEVICES = 8;
/** When to come back, in seconds. */
const SOON = { "retry-after": "1" };

/** Answers notifications. */
export class PushGateway {
  readonly #options: PushGatewayOptions;
  readonly #bodies: BoundedBodies;
  #waiting = 0;

  /** @param options What it works with. */
  constructor(options: PushGatewayOptions) {
    this.#options = options;
    this.#bodies = new BoundedBodies(options.clock, BOUNDS);
  }

  /**
   * Answers `POST /_matrix/push/v1/notify`, when what it tells of has been handled.
   *
   * @throws {Refusal} If it is none, or can't be handled now: then the homeserver sends it again.
   */
  async notify(request: Request): Promise<Response> {
    const { notification } = await this.#bodies.json(request);
    if (!isJsonObject(notification)) throw new Refusal(400, "M_BAD_JSON", "There is no notification");
    const { event_id: eventId } = notification;
    const { rejected, isKnown } = await this.#devices(notification);
    const answer = Response.json({ rejected });
    // Without an event it tells how much is unread, which we know.
    if (!isKnown || typeof eventId !== "string" || this.#options.isSyncing()) return answer;
    if (this.#waiting >= MAX_WAITING) throw new Refusal(429, "M_LIMIT_EXCEEDED", "Too many wakes wait", SOON);
    this.#waiting++;
    try {
      const pass = await this.#options.pass(eventId);
      if (pass?.left === undefined) return answer;
      this.#options.log.info("A wake was not handled in time, and is answered so that it comes again", {
        left: pass.left,
      });
    } catch (error) {
      // That a client which is stopped or closed handles nothing is as it should be.
      const isStopped = this.#options.isOver() ||
        (error instanceof DOMException && error.name === "AbortError");
      const level = isStopped ? "debug" : "warn";
      this.#options.log[level]("A wake could not be handled", { error: String(error) });
    } finally {
      this.#waiting--;
    }
    throw new Refusal(503, "M_UNKNOWN", "Not handled in time; send it again", SOON);
  }

  async #devices(
    { devices }: JsonObject,
  ): Promise<{ readonly rejected: readonly string[]; readonly isKnown: boolean }> {
    if (!Array.isArray(devices) || devices.length > MAX_DEVICES) {
      throw new Refusal(400, "M_BAD_JSON", "The notification must name devices");
    }
    const rejected: string[] = [];
    let isKnown = false;
    for (const device of devices as unknown[]) {
      const pushkey = isJsonObject(device) ? device.pushkey : undefined;
      if (typeof pushkey !== "string") throw new Refusal(400, "M_BAD_JSON", "A device must have a pushkey");
      if (await this.#matches(pushkey)) isKnown = true;
      else rejected.push(pushkey);
    }
    return { rejected, isKnown };
  }

  async #matches(pushkey: string): Promise<boolean> {
    try {
      return await this.#options.key.matches(pushkey);
    } catch (error) {
      // Whose device it is, is unknown: nothing is rejected, since the homeserver would forget it.
      this.#options.log.warn("A wake could not be handled: the own device is unknown", {
        error: String(error),
      });
      throw new Refusal(503, "M_UNKNOWN", "Not handled; send it again", SOON);
    }
  }
}

/** Makes the push key of a device, and recognises it. */
export class WakeKey {
  readonly #session: Pick<Session, "account">;
  readonly #secret: string;
  #key: Promise<string> | undefined;

  /**
   * @param session Whose device it is.
   * @param wake Has the secret.
   * @throws {ValueError} If there is none.
   */
  constructor(session: Pick<Session, "account">, wake: WakeOptions | undefined) {
    if (wake === undefined) {
      throw new ValueError("Cannot register a wake: the client has no secret for it; make it with wake");
    }
    this.#session = session;
    this.#secret = wake.secret;
  }

  /** The push key. Asks the server once whose the token is, if that is not known. */
  async get(): Promise<string> {
    return await (this.#key ??= this.#derive().catch((error) => {
      this.#key = undefined; // the next call tries again
      throw error;
    }));
  }

  /** Returns whether a text is the push key. How long that takes does not depend on what it says. */
  async matches(text: string): Promise<boolean> {
    return await isSameSecret(text, await this.get());
  }

  async #derive(): Promise<string> {
    const account = await this.#session.account();
    const { createHmac } = await platform.crypto();
    return createHmac("sha256", this.#secret).update(JSON.stringify(["greenroom wake", ...account]))
      .digest("base64url");
  }
}
