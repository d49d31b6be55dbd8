/**
 * What a client answers: one function from a request to its response, with a door for each protocol.
 *
 * @module
 */

import { IS_TOKEN_DEAD } from "../../api/http/mod.ts";
import type { ClientAPI } from "../../api/api.ts";
import type { ClientBasics } from "../client_basics.ts";
import type { ClientLife } from "../client_life.ts";
import { PushGateway } from "./push_gateway.ts";
import { Refusal } from "./refusal.ts";
import { NOTIFY, registerWake } from "./register_wake.ts";
import { WakeKey } from "./wake_key.ts";
import type { RegisterWakeOptions, WakeRegistration } from "./wake_options.ts";

/** Answers to what comes at the end of a path. */
interface Door {
  /** The end of the path, in front of which anything may be. */
  readonly path: string;
  /** The methods that it answers. */
  readonly methods: readonly string[];
  /** Answers. */
  readonly answer: (request: Request) => Response | Promise<Response>;
}

const TIME_LIMIT = 20_000;

/** What a client answers. */
export class Serving {
  readonly #client: ClientBasics;
  readonly #life: ClientLife;
  readonly #api: ClientAPI;
  readonly #doors: readonly Door[];
  #key: WakeKey | undefined;
  #gateway: PushGateway | undefined;

  /**
   * @param client What lasts of the client.
   * @param life Makes passes.
   * @param api The operations.
   */
  constructor(client: ClientBasics, life: ClientLife, api: ClientAPI) {
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
    const deadline = wake.timeLimit ?? TIME_LIMIT;
    this.#gateway ??= new PushGateway({
      key: this.#wakeKey,
      isSyncing: () => life.isSyncing,
      isOver: () => life.isStopping,
      pass: async (eventId) => life.passes.hasHandled(eventId) ? undefined : await life.pass({ deadline }),
      clock: session.http.clock,
      log,
    });
    return await this.#gateway.notify(request);
  }

  /**
   * Whether this process is of use: if it has ended, another should take its place. If the last pass could not
   * reach the homeserver or the store, another process could not either.
   */
  #health(): Response {
    const life = this.#life;
    if (life.isStopping || this.#client.http[IS_TOKEN_DEAD]) {
      return Response.json({ status: "ended" }, { status: 503 });
    }
    return Response.json({ status: life.passes.wentWell ? "ok" : "failing" });
  }
}
