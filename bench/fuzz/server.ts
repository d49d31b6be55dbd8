/**
 * The homeserver of a client under test, as a `fetch`: hostile wherever it may be.
 *
 * Of its own device it tells the client the truth, since a client must end that is told it is
 * another.
 *
 * @module
 */

import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import type { Senders } from "./senders.ts";
import { Grammar } from "./grammar.ts";
import { type InputPlace, parsed, randomFor } from "./input.ts";
import { mutateTree } from "./mutations.ts";
import { jsonText, OddValues } from "./odd_values.ts";

type Json = Record<string, unknown>;
type Body = string | Uint8Array<ArrayBuffer>;

/** A sync response, and with what it was asked for. */
export interface Served {
  /** What the client has to ask with to be given it, */
  readonly since: string | typeof ANY;
  /** what it asks with when it has it: then it is not given it again, */
  readonly next?: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** how often it may be, */
  readonly most: number;
  /** and how often it was. */
  count: number;
}

/** How many answers of a hundred are changed, and how many more are refusals. */
const SHARES = { changed: 25, refused: 8 };
const STATUSES = [400, 403, 404, 413, 429, 500, 502, 504];
const USER = { user_id: OWN_USER, device_id: "BENCH", is_guest: false };
const JSON_TYPE = { "content-type": "application/json" };

/** Answers a client. */
export class FuzzServer {
  readonly #senders: Senders;
  readonly #syncs: Served[] = [];
  #answers: ReturnType<typeof answersAt>;
  #arrived = Promise.withResolvers<void>();
  #nudges = 0;
  /** What takes the place of answers, by their paths. Default: random changes. */
  alter: ((path: string, answer: Json) => unknown) | undefined;
  /** How many requests there were, by their kind. */
  readonly requests = new Map<string, number>();

  /** @param place What its answers are made of, at first. */
  constructor(place: InputPlace) {
    this.#senders = place.senders;
    this.#answers = answersAt(place);
  }

  /** Has its answers be others. */
  moveTo(place: InputPlace): void {
    this.#answers = answersAt(place);
  }

  /** Serves these responses from now on, and drops those before. */
  serve(...responses: Served[]): void {
    this.#syncs.splice(0, Infinity, ...responses);
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }

  /** Answers a sync that waits, as servers do after a while: there is nothing new. */
  nudge(): void {
    this.#nudges++;
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }

  /** Answers a request. */
  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const path = url.pathname.replace(/^\/_matrix\/client\/(v3|r0|v1)/, "");
    if (path === "/sync") return await this.#sync(url.searchParams.get("since") ?? "", init?.signal);
    const body = typeof init?.body === "string" ? parsed(new TextEncoder().encode(init.body)) : undefined;
    return this.#answer(path, (body ?? {}) as Json);
  };

  async #sync(since: string, signal: AbortSignal | null | undefined): Promise<Response> {
    const nudges = this.#nudges;
    for (;;) {
      signal?.throwIfAborted();
      const found = this.#syncs.find((served) =>
        (served.since === since || served.since === ANY) && served.next !== since &&
        served.count < served.most
      );
      if (found !== undefined) {
        found.count++;
        return reply(found.bytes);
      }
      if (this.#nudges > nudges) return reply(JSON.stringify({ next_batch: since }));
      await this.#wait(signal);
    }
  }

  async #wait(signal: AbortSignal | null | undefined): Promise<void> {
    const ended = Promise.withResolvers<void>();
    signal?.addEventListener("abort", () => ended.resolve(), { once: true });
    await Promise.race([this.#arrived.promise, ended.promise]);
  }

  #answer(path: string, body: Json): Response {
    const kind = path.split("/")[1] ?? "";
    this.requests.set(kind, (this.requests.get(kind) ?? 0) + 1);
    if (path === "/account/whoami") return reply(JSON.stringify(USER));
    if (path.endsWith("/filter")) return reply(JSON.stringify({ filter_id: "0" }));
    if (path === "/keys/upload") return reply(JSON.stringify(this.#senders.upload(body)));
    const { random } = this.#answers;
    const share = random.below(100);
    const answer = this.#honest(path, body);
    if (this.alter !== undefined && answer !== undefined) return reply(jsonText(this.alter(path, answer)));
    if (answer === undefined || share < SHARES.refused) {
      const refusal = { errcode: "M_UNKNOWN", error: "no", retry_after_ms: random.pick([0, 1, 1e9]) };
      return reply(JSON.stringify(refusal), answer === undefined ? 404 : random.pick(STATUSES));
    }
    if (share < SHARES.refused + SHARES.changed) this.#change(answer);
    return reply(jsonText(answer));
  }

  /** Changes anything but what is said of the client's own device. */
  #change(answer: Json): void {
    const { random, oddValues } = this.#answers;
    const own = structuredClone((answer.device_keys as Json | undefined)?.[OWN_USER]);
    mutateTree(random, oddValues, answer);
    if (own === undefined) return;
    const { device_keys: keys } = answer;
    if (typeof keys === "object" && keys !== null) Object.assign(keys, { [OWN_USER]: own });
  }

  #honest(path: string, body: Json): Json | undefined {
    const { grammar } = this.#answers;
    const [, kind, roomId = "", what] = path.split("/").map(decodeURIComponent);
    if (path === "/keys/query") return structuredClone(this.#senders.keys.query(body as never)) as Json;
    if (path === "/keys/claim") return structuredClone(this.#senders.keys.claim(body as never)) as Json;
    if (kind === "sendToDevice") return {};
    if (kind !== "rooms") return undefined;
    switch (what) {
      case "send":
      case "join":
        return { event_id: grammar.rooms.eventId(), room_id: roomId };
      case "members": {
        const members = this.#senders.people.slice(0, 3).map(({ userId }) => member(roomId, userId));
        return { chunk: [...members, member(roomId, OWN_USER)] };
      }
      case "messages":
        return grammar.history(roomId);
      case "state":
        if (path.includes("m.room.history_visibility")) return { history_visibility: "shared" };
        return path.includes("m.room.encryption") ? { algorithm: "m.megolm.v1.aes-sha2" } : undefined;
      default:
        return undefined;
    }
  }
}

/** Asked for with whatever token: none that a response can name. */
export const ANY: unique symbol = Symbol("any token");

function answersAt(place: InputPlace) {
  const random = randomFor(place, 2);
  const oddValues = new OddValues(random, place.seed >>> 10);
  return { grammar: new Grammar({ random, oddValues, senders: place.senders }), random, oddValues };
}

function member(roomId: string, userId: string): Json {
  return {
    type: "m.room.member",
    room_id: roomId,
    state_key: userId,
    sender: userId,
    event_id: `$m${userId}`,
    origin_server_ts: 1,
    content: { membership: "join" },
  };
}

function reply(body: Body, status = 200): Response {
  return new Response(body, { status, headers: JSON_TYPE });
}
