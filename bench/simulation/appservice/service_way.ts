/**
 * The network between the homeserver and an application service, both ways, with what goes wrong there.
 *
 * @module
 */

import { describe } from "../../kill/answering.ts";
import type { Chance } from "../core/chance.ts";
import type { EventID, UserID } from "@greenroom/matrix/types";
import { pathName } from "../world/operations.ts";
import type { SentRequest } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { SERVICE_ASKS, SERVICE_TAKES, stateOfAnswer, stateOfRequest } from "./service_operations.ts";
import { notePublished } from "./service_published.ts";
import type { ServiceRun, WorldService } from "./world_service.ts";

/** What happens to requests. */
export interface ServiceWeather {
  readonly kind: "lost" | "lost after" | "twice" | "late" | "late answer" | "502";
  /** How many requests it still hits. */
  times: number;
  /** How late, in milliseconds. */
  readonly ms: number;
  /** Which requests: a part of the path. Default: all. */
  readonly path?: string;
  /** Requests of these names are spared. Default: none are. */
  readonly spares?: ReadonlySet<string>;
  /** The only name of requests that it hits. Default: all. */
  readonly only?: string;
}

/** Changes the JSON of an answer; whether it could: otherwise it waits for the next. */
// deno-lint-ignore no-explicit-any -- a hostile server changes it in any way
type Change = (body: any) => boolean;

/** A transaction as it is on its way. */
interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly text: string;
}

/** How long a request takes at most, in milliseconds. */
const TRAVEL = 30;

/** Both ways. */
export class ServiceWay {
  /** What goes wrong with what the homeserver asks. */
  readonly incoming: ServiceWeather[] = [];
  /** What goes wrong with what the application service asks. */
  readonly outgoing: ServiceWeather[] = [];
  /** What a hostile homeserver makes of the next answers to requests of a kind: a part of their path. */
  readonly tampers: { readonly path: string; readonly change: Change }[] = [];
  /** By user, before which of its requests the homeserver deletes its device: a part of the path. */
  readonly deletions = new Map<UserID, string>();
  /** The events of transactions that the homeserver has to send again, or for which it waits. */
  readonly #owed = new Set<string>();
  /** The events of transactions that have arrived. */
  readonly #delivered: { readonly event_id: string }[] = [];
  /** Those of them that others had again. */
  readonly repeated = new Set<string>();
  /** How often the homeserver has knocked and did not get through. */
  failedPings = 0;
  /** Events whose transaction has failed at least once: those of others may come before them. */
  readonly failed = new Set<string>();
  /** To which process all goes, while it runs. Default: to any. */
  goesTo: ServiceRun | undefined;
  /** Until when the homeserver does not know the token of the application service. */
  unknownUntil = -Infinity;
  /** How often it has said so. */
  refusals = 0;
  #open = 0;
  readonly #world: World;
  readonly #service: WorldService;
  readonly #chance: Chance;

  constructor(
    world: World,
    { service, chance }: { readonly service: WorldService; readonly chance: Chance },
  ) {
    this.#world = world;
    this.#service = service;
    this.#chance = chance;
  }

  /** Whether the homeserver waits for an answer, or has something to send again. */
  get isBusy(): boolean {
    return this.#open > 0 || this.#owed.size > 0;
  }

  /** Whether the homeserver does not know the token of the application service now. */
  get isUnknown(): boolean {
    return this.#world.timeline.now < this.unknownUntil;
  }

  /** Has nothing go wrong any more. */
  clear(): void {
    this.incoming.length = this.outgoing.length = 0;
    this.goesTo = undefined;
    this.unknownUntil = -Infinity;
    this.deletions.clear();
    this.tampers.length = 0;
  }

  /** Brings a request of the homeserver to a process. */
  readonly deliver = async (request: globalThis.Request): Promise<Response> => {
    const { url, method, headers } = request;
    const whole: Sent = { url, method, headers, text: method === "GET" ? "" : await request.text() };
    const events = eventsOf(whole);
    const sent = this.#repeat(whole);
    this.#open++;
    try {
      for (const event of events) this.#owed.add(event);
      const response = await this.#carry(sent);
      if (response.ok) {
        for (const event of events) this.#owed.delete(event);
        this.#delivered.push(...bodiesOf(whole));
      } else this.#failed(whole);
      this.#world.note(`${nameOf(sent)} of the homeserver is answered ${response.status}`);
      return response;
    } catch (error) {
      this.#failed(whole);
      this.#world.note(`${nameOf(sent)} of the homeserver failed: ${describe(error)}`);
      throw error;
    } finally {
      this.#open--;
    }
  };

  /** Brings a request of a process to the homeserver. */
  readonly ask = async ({ url, method, headers, body }: SentRequest): Promise<Response> => {
    const { homeserver } = this.#world;
    const name = `${method} ${pathName(url.pathname)}`;
    const { kind } = this.#strike(this.outgoing, url.pathname, name) ?? {};
    if (kind !== undefined) this.#world.reach(`${SERVICE_ASKS}${name} | ${kind}`);
    if (this.#service.plan.isEncrypted) this.#inspect(url, body);
    if (kind === "lost") throw new TypeError("the connection was lost");
    if (kind === "502") return new Response("<html>Bad gateway</html>", { status: 502 });
    const send = async (): Promise<Response> => {
      if (this.isUnknown) {
        this.refusals++;
        return Response.json({ errcode: "M_UNKNOWN_TOKEN", error: "Unknown token" }, { status: 401 });
      }
      await this.#deleteDevice(url);
      const response = await homeserver.fetch(url, { method, headers, body });
      const headersBack = Object.fromEntries(response.headers);
      const text = await response.text();
      const state = stateOfRequest(`${method} ${url.pathname}`, { ok: response.ok, body: text });
      if (state !== undefined) this.#world.reach(state);
      if (response.ok) notePublished(this.#world, this.#service.ledger, { url, body, answer: text });
      const shown = response.ok ? this.#shown(url, text) : text;
      return new Response(shown, { status: response.status, headers: headersBack });
    };
    const response = await send();
    if (kind === "lost after") throw new TypeError("the connection was lost");
    return kind === "twice" ? await send() : response;
  };

  /** A transaction with what has arrived before, or twice with something, on a homeserver that does so. */
  #repeat(sent: Sent): Sent {
    if (!sent.url.includes("/transactions/")) return sent;
    const text = this.#world.network.quirks.transaction(sent.url, sent.text, this.#delivered);
    const seen = new Set<string>(this.#delivered.map(({ event_id }) => event_id));
    for (const id of eventsOf({ ...sent, text })) {
      if (seen.size === seen.add(id).size) this.repeated.add(id);
    }
    return { ...sent, text };
  }

  #shown({ pathname }: URL, text: string): string {
    const tampers = this.tampers.filter(({ path }) => pathname.endsWith(path));
    if (tampers.length === 0) return text;
    const body = JSON.parse(text);
    const done = tampers.find(({ change }) => change(body));
    if (done !== undefined) this.tampers.splice(this.tampers.indexOf(done), 1);
    return JSON.stringify(body);
  }

  async #deleteDevice({ searchParams, pathname }: URL): Promise<void> {
    const userId = searchParams.get("user_id") as UserID;
    if (!pathname.includes(this.deletions.get(userId) ?? "nothing")) return;
    this.deletions.delete(userId);
    await this.#service.deleteDevice(userId);
  }

  /** Looks at what is sent: no answer in clear, and nothing that ratchets do not allow. */
  #inspect(url: URL, body: string | undefined): void {
    if (body === undefined) return;
    if (/"counted \d+: \d+"/.test(body)) this.#world.violate(`the service sent in clear: ${body}`);
    const { pathname, searchParams } = url;
    this.#world.wire.inspectRatchets(`service as ${searchParams.get("user_id")}`, { pathname, body });
  }

  #failed(sent: Sent): void {
    if (sent.url.endsWith("/ping")) this.failedPings++;
    for (const event of eventsOf(sent)) this.failed.add(event);
  }

  async #carry(sent: Sent): Promise<Response> {
    const { kind, ms = 0 } = this.#strike(this.incoming, sent.url) ?? {};
    this.#world.reach(`${SERVICE_TAKES}${nameOf(sent).replace(/\/.*/, "")} | ${kind ?? "done"}`);
    if (kind !== undefined) this.#world.note(`${nameOf(sent)} of the homeserver is ${kind}`);
    if (kind === "late") await this.#delay(ms);
    if (kind === "lost") throw new TypeError("the connection was lost");
    if (kind === "502") return new Response(null, { status: 502 });
    if (kind === "twice") {
      // Nobody waits for it.
      this.#delay(this.#chance.below(2) * ms).then(() => this.#arrive(sent)).catch(() => {});
    }
    const response = await this.#arrive(sent);
    if (kind === "lost after") throw new TypeError("the connection was lost");
    if (kind === "late answer") await this.#delay(ms);
    return response;
  }

  /** A request arrives at a process: where none stays, one begins. */
  async #arrive(sent: Sent): Promise<Response> {
    await this.#delay(this.#chance.below(TRAVEL));
    const { runs, plan } = this.#service;
    const any = runs[this.#chance.below(Math.max(1, runs.length))];
    const run = runs.find((each) => each === this.goesTo) ?? any ??
      (plan.stays ? undefined : this.#service.begin());
    if (run === undefined) throw new TypeError("nobody listens");
    const { process, appservice, name } = run;
    const { url, method, headers, text } = sent;
    const inside = async (): Promise<Response> => {
      await process.clock.delay(1); // one that stands still takes no request
      const body = method === "GET" ? {} : { body: text };
      return await appservice.fetch(new globalThis.Request(url, { method, headers, ...body }));
    };
    const gone = process.ended.then((): never => {
      throw new TypeError(`${name} has ended`);
    });
    gone.catch(() => {});
    run.requests++;
    const isKnown = eventsOf(sent).length > 0 &&
      eventsOf(sent).every((event) => this.#service.arrived.has(event as EventID));
    const response = await Promise.race([inside(), gone]).finally(() => run.requests--);
    const state = stateOfAnswer(nameOf(sent), { ok: response.ok, body: await response.clone().text() });
    if (state !== undefined) this.#world.reach(state);
    if (response.ok && isKnown) this.#world.reach("service: inbox: one that comes again is known");
    const lost = eventsOf(sent).filter((event) => !this.#service.arrived.has(event as EventID));
    if (response.ok && lost.length > 0) {
      this.#world.violate(`${name} has answered a transaction that it has not kept, with ${lost.join(", ")}`);
    }
    return response;
  }

  #delay(ms: number): Promise<void> {
    return this.#world.timeline.clock().delay(ms);
  }

  #strike(list: ServiceWeather[], url: string, name = ""): ServiceWeather | undefined {
    const first = list.find(({ path = "", spares, only = name }) =>
      url.includes(path) && !spares?.has(name) && only === name
    );
    if (first !== undefined && --first.times <= 0) list.splice(list.indexOf(first), 1);
    return first;
  }
}

function nameOf({ method, url }: Sent): string {
  return `${method} ${new URL(url).pathname.replace("/_matrix/app/v1/", "")}`;
}

function eventsOf(sent: Sent): string[] {
  return bodiesOf(sent).map(({ event_id }) => event_id);
}

function bodiesOf({ url, text }: Sent): { readonly event_id: string }[] {
  return url.includes("/transactions/") ? JSON.parse(text).events : [];
}
