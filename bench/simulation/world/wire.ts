/**
 * What is on the wire: no text that is secret, and no index of a ratchet twice.
 *
 * @module
 */

import { ratchetUses } from "../../kill/ratchet.ts";
import { SPOKEN_TO } from "../appservice/service_people.ts";
import type { Device } from "./device.ts";
import type { Process, SentRequest } from "./process.ts";

/** An encrypted event on its way to a room. */
const ENCRYPTED = /\/rooms\/([^/]+)\/send\/m\.room\.encrypted\//;

/** Messages with a number, and answers to them. */
const NUMBERED = /(?:peer \S+ |reply \d+ to |(?<!pick )\b[a-z]+ of )(\d+)/g;

/** Who sends. */
export interface Sender {
  readonly device: Device;
  readonly process: Process;
}

/** What was sent under a transaction ID. */
interface Tried {
  readonly body: string;
  readonly process: Process;
  readonly at: number;
  tries: number;
}

/** For how long a server takes a transaction for the same, in milliseconds: half an hour. */
const REMEMBERED = 1_800_000;
/** After so many tries a client gives up, and tells the application. */
const TRIES = 5;

/** Looks at each body that a device sends. */
export class Wire {
  /** By place in a ratchet, the digest of what was encrypted there, by whom, and when. */
  readonly #uses = new Map<string, { readonly digest: string; readonly who: string; readonly at: number }>();
  /** By device and path with a transaction ID, what was sent last, and how often. */
  readonly #bodies = new Map<string, Tried>();
  /** By room, how many of its messages a key may encrypt, where that is limited. */
  readonly rotations = new Map<string, number>();
  /** Where it was known at some time what became of it. */
  readonly #known = new Set<string>();
  readonly #isSecret: (number: number, sender: Sender) => boolean;
  readonly #onViolation: (what: string) => void;
  readonly #now: () => number;
  readonly #keepsBodies: boolean;
  /** Everything that was sent, if that is kept. */
  readonly bodies: { readonly who: string; readonly body: string }[] = [];

  /**
   * @param options.isSecret Whether a process must not send the message with a number, or an answer to
   *   it, in clear.
   * @param options.onViolation Takes what must not be.
   * @param options.now The time.
   * @param options.keepsBodies Whether everything that is sent is kept.
   */
  constructor(
    { isSecret, onViolation, now, keepsBodies }: {
      readonly isSecret: (number: number, sender: Sender) => boolean;
      readonly onViolation: (what: string) => void;
      readonly now: () => number;
      readonly keepsBodies: boolean;
    },
  ) {
    this.#isSecret = isSecret;
    this.#onViolation = onViolation;
    this.#now = now;
    this.#keepsBodies = keepsBodies;
  }

  /** How many places of ratchets were used. */
  get uses(): number {
    return this.#uses.size;
  }

  /** Has a device use again what it has used since some time. */
  forget(device: string, since: number): void {
    for (const [place, { who, at }] of this.#uses) {
      if (who === device && at >= since) this.#uses.delete(place);
    }
  }

  /**
   * Looks at what is sent under a transaction ID: a process that follows one which did not learn
   * what became of it sends the same.
   */
  repeated({ device, process }: Sender, { url: { pathname }, body }: SentRequest): void {
    if (body === undefined || !/\/send(?:ToDevice)?\//.test(pathname) || device.loss.isSuffered) return;
    const place = `${device.name} ${pathname}`;
    if (!process.isAlive && this.#known.has(place)) return; // it was on its way when its process ended
    const before = this.#bodies.getOrInsert(place, { body, process, at: this.#now(), tries: 0 });
    before.tries++;
    if (before.body === body) return;
    // A server can have it believe that its disk was put back: then it trusts nothing that it has encrypted.
    const isMisled = device.loss.noticedAt >= before.at && device.loss.noticedAt <= this.#now();
    const isRemembered = before.tries <= TRIES && this.#now() - before.at < REMEMBERED;
    if (before.process !== process && isRemembered && !isMisled) {
      this.#onViolation(`${device.name} sent something else again as ${pathname}`);
    }
    this.#bodies.set(place, { body, process, at: this.#now(), tries: 1 });
  }

  /** The application was told that a message could not be sent: what it sends next may be something else. */
  gaveUp(device: string, txnId: string): void {
    for (const place of this.#bodies.keys()) {
      if (place.startsWith(`${device} `) && place.endsWith(`/${txnId}`)) this.#bodies.delete(place);
    }
  }

  /**
   * What became of a request with a transaction ID is known, or of all: who asks for `/versions`
   * looks into the room next for what may have arrived.
   */
  answered({ device }: Sender, { url: { pathname } }: SentRequest): void {
    const place = `${device.name} ${pathname}`;
    if (pathname.endsWith("/versions")) {
      for (const each of this.#bodies.keys()) {
        if (each.startsWith(`${device.name} `)) this.#bodies.delete(each);
      }
    }
    this.#bodies.delete(place);
    this.#known.add(place);
  }

  /** Looks at a request. */
  inspect(sender: Sender, { url: { pathname }, body }: SentRequest): void {
    if (body === undefined) return;
    const who = sender.device.name;
    if (this.#keepsBodies) this.bodies.push({ who, body });
    for (const [text, number] of body.matchAll(NUMBERED)) {
      if (this.#isSecret(Number(number), sender)) this.#onViolation(`${who} sent "${text}" in clear`);
    }
    if (body.includes(SPOKEN_TO)) this.#onViolation(`${who} sent in clear: ${body}`);
    const { device, process } = sender;
    const isBlind = () =>
      device.loss.isBlind(this.#now()) || device.fork?.isBlind(process, this.#now()) === true;
    this.inspectRatchets(who, { pathname, body }, { isBlind });
  }

  /**
   * Looks at what a request has of ratchets: no index twice, and no more messages by a key than its room
   * allows.
   *
   * @param options.isBlind Whether who sends it may use an index again. Default: never.
   */
  inspectRatchets(
    who: string,
    { pathname, body }: { readonly pathname: string; readonly body: string },
    { isBlind = () => false }: { readonly isBlind?: () => boolean } = {},
  ): void {
    if (!body.includes('"ciphertext"')) return;
    const [, room = ""] = ENCRYPTED.exec(pathname) ?? [];
    const most = this.rotations.get(decodeURIComponent(room)) ?? Infinity;
    for (const { chain, index, digest } of ratchetUses(JSON.parse(body))) {
      if (index >= most) {
        this.#onViolation(
          `${who} has encrypted message ${index + 1} by ${chain}, and its room allows ${most}`,
        );
      }
      const place = `${chain} ${index}`;
      const before = this.#uses.get(place);
      if (before !== undefined && before.digest !== digest && !isBlind()) {
        this.#onViolation(`an index was used twice: ${place}, by ${who}`);
      }
      this.#uses.set(place, before ?? { digest, who, at: this.#now() });
    }
  }
}
