/**
 * Sends transactions to an application service, as Synapse does: one after the other, with what has
 * come meanwhile. Where that fails, it sends the same again, after 2 seconds and then twice as long
 * each time; what waited when it failed first may get there before.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/application-service-api/#pushing-events | Pushing events}
 * @module
 */

import type { RoomAlias, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { AppserviceFetch, TestRegistration } from "../homeserver_options.ts";
import { formatEvent, type Room, type RoomEvent, STRIPPED_STATE, strippedEvent } from "../rooms/mod.ts";
import type { User } from "../users/mod.ts";

/** What of a homeserver it takes to send. */
export interface SendingServer {
  /** What was set when it was made. */
  readonly settings: { /** The name behind the colon. */ readonly serverName: string };
  readonly users: ReadonlyMap<UserID, User>;
  readonly aliases: ReadonlyMap<RoomAlias, { readonly room: RoomID }>;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  /** Whether it has shut down. */
  readonly closed: boolean;
  /** Aborted when it does. */
  readonly closing: AbortSignal;
  /** Does something later. */
  later(ms: number, action: () => void): void;
}

const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 512_000;
/** How many events, and others, a transaction has at most. */
const MAX_EVENTS = 100;
const PREFIX = "/_matrix/app/v1";

/** An event that waits. */
interface Waiting {
  readonly event: JsonObject;
  /** A user whom nobody knows yet. */
  readonly unknown: string | undefined;
}

interface Transaction {
  readonly id: number;
  readonly body: JsonObject;
}

/** Sends to one application service. */
export class AppserviceSender {
  readonly #server: SendingServer;
  readonly #registration: TestRegistration;
  readonly #fetch: AppserviceFetch;
  readonly #hasUser: (userId: string) => boolean;
  readonly #events: Waiting[] = [];
  #ephemeral: JsonObject[] = [];
  #toDevice: JsonObject[] = [];
  readonly #changed = new Set<UserID>();
  /** The transactions that have been made and not sent, the oldest first. */
  readonly #unsent: Transaction[] = [];
  #transactions = 0;
  #isBusy = false;
  #isDown = false;
  #wait = FIRST_WAIT;

  /**
   * @param server The homeserver.
   * @param registration The application service's.
   * @param fetch Reaches it.
   * @param hasUser Whether a user is one of its own.
   */
  constructor(
    server: SendingServer,
    registration: TestRegistration,
    fetch: AppserviceFetch,
    hasUser: (userId: string) => boolean,
  ) {
    this.#server = server;
    this.#registration = registration;
    this.#fetch = fetch;
    this.#hasUser = hasUser;
  }

  /** Sends an event. */
  push(room: Room, event: RoomEvent, { unknown }: { readonly unknown: string | undefined }): void {
    if (this.#registration.url === null) return;
    this.#events.push({ event: this.#format(room, event), unknown });
    this.#go();
  }

  /** Sends what is not kept: it is dropped while the application service is down. */
  pushEphemeral(edu: JsonObject): void {
    if (this.#registration.url === null || this.#isDown) return;
    this.#ephemeral.push(edu);
    this.#go();
  }

  /** Sends a message to a device: dropped, too, as Synapse does. */
  pushToDevice(message: JsonObject): void {
    if (this.#registration.url === null || this.#isDown) return;
    this.#toDevice.push(message);
    this.#go();
  }

  /** Tells that the devices of a user have changed. */
  pushDeviceChange(userId: UserID): void {
    if (this.#registration.url === null || this.#isDown) return;
    this.#changed.add(userId);
    this.#go();
  }

  /** Asks for a user or an alias: whether there is one now. */
  async asks(path: string): Promise<boolean> {
    try {
      return (await this.request("GET", path)).ok;
    } catch {
      return false;
    }
  }

  /** Knocks. Whoever has been down is up from then on. */
  async ping(body: JsonObject): Promise<Response> {
    const response = await this.request("POST", "ping", body);
    if (response.ok && this.#isDown) this.#go();
    return response;
  }

  /** Makes a request. */
  async request(method: string, path: string, body?: JsonObject): Promise<Response> {
    const { url, hs_token } = this.#registration;
    const response = await this.#fetch(
      new Request(`${url?.replace(/\/$/, "")}${PREFIX}/${path}`, {
        method,
        headers: { authorization: `Bearer ${hs_token}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
        signal: this.#server.closing,
      }),
    );
    await response.clone().body?.cancel();
    return response;
  }

  #go(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    // What is sent in the same turn goes along.
    queueMicrotask(() =>
      void this.#run().finally(() => {
        this.#isBusy = false;
        // Something may have come while the run ended.
        if (this.#unsent.length === 0 && this.#hasMore && !this.#server.closed) this.#go();
      })
    );
  }

  get #hasMore(): boolean {
    return [this.#events, this.#ephemeral, this.#toDevice].some(({ length }) => length > 0) ||
      this.#changed.size > 0;
  }

  async #run(): Promise<void> {
    while (!this.#server.closed) {
      if (this.#unsent.length === 0) {
        const next = await this.#next();
        if (next === undefined) return;
        this.#unsent.push(next);
      }
      const [oldest] = this.#unsent;
      if (oldest === undefined || !await this.#isSent(oldest)) return await this.#fail();
      this.#unsent.shift();
      if (this.#unsent.length > 0) continue;
      this.#isDown = false;
      this.#wait = FIRST_WAIT;
    }
  }

  async #isSent({ id, body }: Transaction): Promise<boolean> {
    try {
      const response = await this.request("PUT", `transactions/${id}`, body);
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }

  /** What waits when the first fails is sent, too, as on Synapse: it may get there before that. */
  async #fail(): Promise<void> {
    const next = this.#isDown ? undefined : await this.#next();
    if (next !== undefined && !await this.#isSent(next)) this.#unsent.push(next);
    // Synapse remembers which events they had, and nothing else.
    for (const [index, { id, body: { events } }] of this.#unsent.entries()) {
      this.#unsent[index] = { id, body: { events } };
    }
    this.#isDown = true;
    [this.#ephemeral, this.#toDevice] = [[], []];
    this.#changed.clear();
    this.#server.later(this.#wait, () => this.#go());
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }

  async #next(): Promise<Transaction | undefined> {
    const waiting = this.#events.splice(0, MAX_EVENTS);
    const ephemeral = this.#ephemeral.splice(0, MAX_EVENTS);
    const toDevice = this.#toDevice.splice(0, MAX_EVENTS);
    const changed = [...this.#changed];
    this.#changed.clear();
    if (waiting.length + ephemeral.length + toDevice.length + changed.length === 0) return undefined;
    for (const { unknown } of waiting) {
      if (unknown === undefined || this.#server.users.has(unknown as UserID)) continue;
      await this.asks(`users/${encodeURIComponent(unknown)}`);
    }
    const events = waiting.map(({ event }) => event);
    const isEncrypting = this.#registration["org.matrix.msc3202"] === true;
    const body = {
      events,
      ...(this.#registration.receive_ephemeral === true &&
        { ephemeral, "de.sorunome.msc2409.to_device": toDevice }),
      ...(isEncrypting && this.#keysLeft([...events, ...ephemeral], toDevice)),
      ...(isEncrypting && changed.length > 0 && { "org.matrix.msc3202.device_lists": { changed, left: [] } }),
    };
    return { id: ++this.#transactions, body };
  }

  /** The keys that are left of the own user, of those in the rooms, and of who got messages. */
  #keysLeft(happened: readonly JsonObject[], toDevice: readonly JsonObject[]): JsonObject {
    const { sender_localpart } = this.#registration;
    const rooms = new Set(happened.map(({ room_id }) => room_id));
    const named = new Set<unknown>([
      `@${sender_localpart}:${this.#server.settings.serverName}`,
      ...toDevice.map(({ to_user_id }) => to_user_id),
    ]);
    const isMeant = (user: User): boolean =>
      named.has(user.id) ||
      (this.#hasUser(user.id) && user.roomsWith("join").some((roomId) => rooms.has(roomId)));
    const counts: Record<string, JsonObject> = {};
    const unused: Record<string, JsonObject> = {};
    for (const user of this.#server.users.values()) {
      if (!isMeant(user) || user.devices.size === 0) continue;
      const devices = [...user.devices.values()];
      counts[user.id] = Object.fromEntries(
        devices.map((device) => [device.id, Object.fromEntries(device.oneTimeKeyCounts())]),
      );
      unused[user.id] = Object.fromEntries(
        devices.map((device) => [device.id, device.unusedFallbackAlgorithms()]),
      );
    }
    return {
      "org.matrix.msc3202.device_one_time_keys_count": counts,
      "org.matrix.msc3202.device_unused_fallback_key_types": unused,
    };
  }

  #format(room: Room, event: RoomEvent): JsonObject {
    const viewer = { user: event.sender, now: this.#server.now };
    const json = formatEvent(room, event, viewer, { bare: true });
    const unsigned = json.unsigned as JsonObject;
    if (event.replaces !== undefined) {
      unsigned.prev_content = event.replaces.content;
      unsigned.prev_sender = event.replaces.sender;
      json.prev_content = event.replaces.content;
    }
    if (event.type === "m.room.member" && event.content.membership === "invite") {
      const shown = STRIPPED_STATE.flatMap((type) => room.state(type) ?? []);
      unsigned.invite_room_state = shown.map(strippedEvent);
    }
    return json;
  }
}
