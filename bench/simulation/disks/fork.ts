/**
 * Two processes of one device, each on a store of its own: it was copied while one ran. That must not be, and
 * nothing can prevent it: the lease is in the store. What is promised is that each notices when it is shown
 * what the other has encrypted, and uses no index again from then on.
 *
 * @module
 */

import type { Timeline } from "../core/timeline.ts";
import type { Disk } from "./disk.ts";
import type { Process } from "../world/process.ts";

/** How long it may take until a process has committed what it was shown, in milliseconds. */
const SOON = 60_000;
/**
 * How long a device that has taken its store for an old one believes no
 * other hearsay of that, in milliseconds.
 */
const DEAF = 3_600_000;
/** How long what it had encrypted before may be on its way, in milliseconds. */
const ON_ITS_WAY = 1_000;

/** An event in a sync response. */
interface Shown {
  readonly sender: string;
  readonly content?: { readonly device_id?: unknown; readonly ciphertext?: unknown };
}

/** What a fork is noted with. */
interface Place {
  readonly timeline: Timeline;
  readonly reach: (what: string) => void;
  violate(what: string): void;
}

/** A device whose store was copied. */
export class Fork {
  /** What the copy runs on. */
  readonly disk: Disk;
  /** What runs on the copy. */
  copy: Process | undefined;
  readonly #world: Place;
  readonly #name: string;
  /** Until when neither believes what it is shown: the server had made it up shortly before. */
  readonly #deafUntil: number;
  /** By ciphertext, whether the copy has sent it. */
  readonly #sent = new Map<unknown, boolean>();
  /** Of the original, and of the copy, when it noticed. */
  readonly #noticed = new Map<boolean, number>();

  /**
   * @param name Names the device.
   * @param options.disk What the copy runs on.
   * @param options.noticedAt When the device last took its store for an old one; infinity: never.
   */
  constructor(
    world: Place,
    name: string,
    { disk, noticedAt }: { readonly disk: Disk; readonly noticedAt: number },
  ) {
    this.#world = world;
    this.#name = name;
    this.disk = disk;
    this.#deafUntil = noticedAt < Infinity ? noticedAt + DEAF : -Infinity;
  }

  /** Whether something runs on the copy. */
  get isLive(): boolean {
    return this.copy?.isAlive === true;
  }

  /** Ends what runs on the copy. */
  end(): void {
    this.copy?.kill();
  }

  /** Notes that a process sends an encrypted event. */
  sends(process: Process, body: string): void {
    const { ciphertext } = JSON.parse(body);
    this.#sent.set(ciphertext, this.#isCopy(process));
  }

  /** Notes that a process has warned that its store is not the latest. */
  notices(process: Process): void {
    this.#world.reach(
      `state: ${this.#isCopy(process) ? "a copy" : "an original"} noticed that there are two`,
    );
    this.#noticed.getOrInsert(this.#isCopy(process), this.#world.timeline.now);
  }

  /** Whether a process may use an index that the other has used: nothing has shown it the other. */
  isBlind(process: Process, at: number): boolean {
    return at <= (this.#noticed.get(this.#isCopy(process)) ?? Infinity) + ON_ITS_WAY;
  }

  /** Has a process notice soon that is shown what the other has encrypted. */
  shows(process: Process, text: string): void {
    const isCopy = this.#isCopy(process);
    if (this.#noticed.has(isCopy) || !eventsIn(text).some((event) => this.#isOfOther(isCopy, event))) return;
    const { timeline, violate } = this.#world;
    if (timeline.now < this.#deafUntil) return;
    const isIdle = () => !process.isAlive || process.hasStoodStill;
    timeline.schedule(SOON, "", () => {
      if (isIdle() || this.#noticed.has(isCopy)) return;
      violate.call(
        this.#world,
        `${
          isCopy ? "the copy" : "the original"
        } of ${this.#name} was shown what the other has said, and does not notice`,
      );
    });
  }

  #isOfOther(isCopy: boolean, { content }: Shown): boolean {
    return this.#sent.get(content?.ciphertext) === !isCopy;
  }

  #isCopy(process: Process): boolean {
    return process === this.copy;
  }
}

function eventsIn(text: string): Shown[] {
  const { rooms: { join = {} } = {} }: {
    rooms?: { join?: Record<string, { timeline?: { events?: Shown[] } }> };
  } = JSON.parse(text);
  return Object.values(join).flatMap(({ timeline }) => timeline?.events ?? []);
}
