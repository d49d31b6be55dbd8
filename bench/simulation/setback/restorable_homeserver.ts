/**
 * A homeserver that can be set back to how it was at some moment, as by who restores a backup of its
 * database.
 *
 * What it was told is told once more to a new one, up to that moment, with the same identifiers at the
 * same times: so nothing of a homeserver need be copied, and it has no notion of this.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import { Homeserver, type HomeserverOptions, type IdGenerator, randomIds } from "@greenroom/matrix/testing";
import type { Timeline } from "../core/timeline.ts";
import { isSync, withoutWait } from "../world/sync_view.ts";

/** What worlds use of a homeserver. */
export type WorldHomeserver = Pick<
  Homeserver,
  "addAppservice" | "baseUrl" | "createUser" | "expireTokens" | "fetch" | "room" | "toDevice"
>;

/** An event as a homeserver shows it to tests. */
export type ShownEvent = ReturnType<Homeserver["room"]>["events"][number];

/** Something that a homeserver was told. */
interface Step {
  readonly at: number;
  /** How many identifiers had been given before. */
  readonly ids: number;
  readonly tell: (homeserver: Homeserver) => unknown;
}

/** A homeserver with a memory of what it was told. */
export class RestorableHomeserver implements WorldHomeserver, AsyncDisposable {
  readonly #timeline: Timeline;
  readonly #onError: HomeserverOptions["onError"];
  readonly #features: HomeserverOptions["unstableFeatures"];
  #steps: Step[] = [];
  /** The identifiers that were given, in their order. */
  #ids: string[] = [];
  #present: Homeserver;

  /**
   * @param timeline The time.
   * @param options What of the homeserver is set.
   */
  constructor(
    timeline: Timeline,
    { onError, unstableFeatures }: Pick<HomeserverOptions, "onError" | "unstableFeatures">,
  ) {
    this.#features = unstableFeatures;
    this.#timeline = timeline;
    this.#onError = onError;
    this.#present = this.#make([], () => timeline.now);
  }

  get baseUrl(): string {
    return this.#present.baseUrl;
  }

  readonly createUser: Homeserver["createUser"] = (...of) => this.#does((server) => server.createUser(...of));
  readonly expireTokens: Homeserver["expireTokens"] = (...of) =>
    this.#does((server) => server.expireTokens(...of));
  readonly addAppservice: Homeserver["addAppservice"] = (...of) =>
    this.#does((server) => server.addAppservice(...of));
  readonly room: Homeserver["room"] = (id) => this.#present.room(id);
  readonly toDevice: Homeserver["toDevice"] = (...of) => this.#present.toDevice(...of);

  readonly fetch: typeof fetch = (input, init) => {
    const { method, headers, body } = init ?? {};
    const url = String(input);
    this.#note((server) => {
      // What it waited for has come by then, or comes as a step.
      const again = { url: new URL(url), body: typeof body === "string" ? body : undefined };
      const asked = isSync(again) ? withoutWait(again) : { url: again.url, body };
      return server.fetch(asked.url, { method, headers, body: asked.body });
    });
    return this.#present.fetch(input, init);
  };

  /**
   * Sets it back.
   *
   * @param to The moment: what was told later is forgotten.
   * @returns By room, the events that are forgotten, and the IDs of those that were redacted since.
   */
  async setBack(to: number): Promise<Forgotten> {
    const end = this.#steps.findIndex(({ at }) => at > to);
    const steps = end < 0 ? this.#steps : this.#steps.slice(0, end);
    const ids = this.#ids.slice(0, this.#steps[steps.length]?.ids);
    const before = this.#present;
    let replayed: number | undefined = 0;
    this.#ids = [];
    const server = this.#make(ids, () => replayed ?? this.#timeline.now);
    for (const { at, tell } of steps) {
      replayed = at;
      const answer = await tell(server);
      if (answer instanceof Response) await answer.text();
    }
    replayed = undefined;
    this.#steps = steps;
    this.#present = server;
    const forgotten = compare(before, server);
    await before[Symbol.asyncDispose]();
    return forgotten;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#present[Symbol.asyncDispose]();
  }

  #does<Result>(tell: (homeserver: Homeserver) => Result): Result {
    this.#note(tell);
    return tell(this.#present);
  }

  #note(tell: Step["tell"]): void {
    this.#steps.push({ at: this.#timeline.now, ids: this.#ids.length, tell });
  }

  /** Makes a homeserver that gives some identifiers first. */
  #make(first: readonly string[], now: () => number): Homeserver {
    const fresh = randomIds();
    const ids: IdGenerator = {
      next: (...of) => {
        const id = first[this.#ids.length] ?? fresh.next(...of);
        this.#ids.push(id);
        return id;
      },
    };
    const { delay } = this.#timeline.clock();
    return new Homeserver({
      clock: { now, delay },
      ids,
      requestLogSize: 100,
      onError: this.#onError,
      unstableFeatures: this.#features,
    });
  }
}

/** What a homeserver does not know any more. */
export interface Forgotten {
  /** By room, events that it had. */
  readonly events: ReadonlyMap<RoomID, readonly ShownEvent[]>;
  /** Events that are as they were before they were redacted. */
  readonly unredacted: ReadonlySet<string>;
  /** Rooms that it had. */
  readonly rooms: ReadonlySet<RoomID>;
}

function compare(before: Homeserver, after: Homeserver): Forgotten {
  const [events, unredacted] = [new Map<RoomID, readonly ShownEvent[]>(), new Set<string>()];
  const rooms = new Set(before.rooms).difference(new Set(after.rooms));
  for (const id of after.rooms) {
    const left = new Map(after.room(id).events.map((event) => [event.event_id, event]));
    const had = before.room(id).events;
    events.set(id, had.filter(({ event_id }) => !left.has(event_id)));
    for (const { event_id, content } of had) {
      const now = left.get(event_id)?.content ?? {};
      if (Object.keys(content).length === 0 && Object.keys(now).length > 0) unredacted.add(event_id);
    }
  }
  return { events, unredacted, rooms };
}
