/**
 * Servers that put what is malformed beside what is as it should be.
 *
 * @module
 */

import { changedAt, ODD, places } from "../../fuzz/changed_fields.ts";
import { type FieldKind, KINDS } from "../../fuzz/field_kinds.ts";
import { jsonText, put } from "../../fuzz/odd_values.ts";
import type { Senders } from "../../fuzz/senders.ts";
import { changeSync, isSync } from "../world/sync_view.ts";
import type { Asked, Json, Layer, Next, QuirkPlace } from "./quirk.ts";

/** How often something is put beside. */
const OFTEN = 0.2;
const NAMES = ["", "x", "__proto__", "constructor", "@:", "@alice:example.org", "\u0000", "x".repeat(300)];
/** Kinds that are made up without a sender's keys. */
const TO_DEVICE = KINDS.filter(({ name }) => name.startsWith("to-device "));
const ACCOUNT_DATA = KINDS.filter(({ name }) => name.startsWith("account data "));
const DEVICE_LISTS = KINDS.filter(({ name }) => name === "device lists");
/**
 * What may come twice without being another message to the application, or another step of a verification.
 */
const COPIED = /^m\.(?:room\.encrypted|room_key_request|room_key\.withheld|secret\.request)$/;

/**
 * Puts beside what it passes on the same with one field changed, or something made up of which one field is
 * changed: messages to a device, account data, device lists, devices and one-time keys that nobody asked
 * about, signatures, sessions in backups. What is true stays as it is, and comes first.
 */
export class HostileFields implements Layer {
  readonly #place: QuirkPlace;
  /** By address, what was made of transactions: what is sent again is the same. */
  readonly #transactions = new Map<string, string>();

  constructor(place: QuirkPlace) {
    this.#place = place;
  }

  ask({ request }: Asked, next: Next): Promise<Response> {
    return next(request);
  }

  last({ device, request }: Asked, text: string): string {
    const { pathname } = request.url;
    const add = isSync(request)
      ? this.#toSync
      : pathname.endsWith("/keys/query")
      ? this.#toDevices
      : pathname.endsWith("/keys/claim")
      ? this.#toClaim
      : request.method === "GET" && pathname.includes("/room_keys/keys")
      ? this.#toBackup
      : request.method === "GET" && pathname.endsWith("/room_keys/version")
      ? this.#toVersion
      : undefined;
    if (add === undefined) return text;
    const body = JSON.parse(text);
    if (add === this.#toSync) changeSync(body, device.userId, (classic) => this.#toSync(classic));
    else add.call(this, body);
    return jsonText(body);
  }

  transaction(url: string, text: string): string {
    return this.#transactions.getOrInsertComputed(url, () => {
      const body = JSON.parse(text);
      this.#toMessages(body["de.sorunome.msc2409.to_device"] ??= []);
      this.#toLists(body["org.matrix.msc3202.device_lists"] ??= {});
      return jsonText(body);
    });
  }

  #toMessages(messages: Json[]): void {
    for (const message of [...messages]) if (COPIED.test(message.type)) this.#copy(message, messages);
    this.#make(TO_DEVICE, (changed) => messages.push(changed));
  }

  #toLists(lists: Json): void {
    this.#make(DEVICE_LISTS, (changed) => {
      for (const name of ["changed", "left"]) {
        if (Array.isArray(changed?.[name])) (lists[name] ??= []).push(...changed[name]);
      }
    });
  }

  #toSync(body: Json): void {
    this.#toMessages((body.to_device ??= { events: [] }).events);
    this.#toLists(body.device_lists ??= {});
    const data: Json[] = (body.account_data ??= { events: [] }).events;
    this.#make(ACCOUNT_DATA, (changed) => data.unshift(changed));
  }

  #toDevices(body: Json): void {
    for (const devices of Object.values<Json>(body.device_keys ?? {})) {
      for (const device of Object.values<Json>(devices)) {
        for (const signatures of Object.values<Json>(device.signatures ?? {})) this.#grow(signatures);
        this.#grow(device.unsigned ??= {});
        this.#copy(device, { push: (changed: Json) => put(devices, this.#pick(NAMES), changed) });
      }
    }
    for (
      const section of ["device_keys", "master_keys", "self_signing_keys", "user_signing_keys", "failures"]
    ) {
      this.#grow(body[section] ??= {});
    }
  }

  #toClaim(body: Json): void {
    for (const devices of Object.values<Json>(body.one_time_keys ?? {})) this.#grow(devices);
    for (const section of ["one_time_keys", "failures"]) this.#grow(body[section] ??= {});
  }

  #toBackup(body: Json): void {
    const rooms: Json[] = body.rooms === undefined ? [body] : Object.values(body.rooms);
    for (const { sessions = {} } of rooms) {
      for (const session of Object.values<Json>(sessions)) {
        this.#copy(session, { push: (changed: Json) => put(sessions, this.#pick(NAMES), changed) });
      }
      this.#grow(sessions);
    }
    if (body.rooms !== undefined) this.#grow(body.rooms);
  }

  #toVersion({ auth_data }: Json): void {
    for (const signatures of Object.values<Json>(auth_data?.signatures ?? {})) this.#grow(signatures);
    if (auth_data?.signatures !== undefined) this.#grow(auth_data.signatures);
  }

  /** Perhaps adds a copy of something with one field changed. */
  #copy(value: Json, to: { push(changed: Json): unknown }): void {
    if (this.#place.chance.odds(OFTEN)) to.push(this.#changed(structuredClone(value)));
  }

  /** Perhaps makes something up with one field changed. */
  #make(kinds: readonly FieldKind[], give: (changed: Json) => void): void {
    if (!this.#place.chance.odds(OFTEN)) return;
    give(this.#changed(this.#pick(kinds).make({} as Senders))); // these need none
  }

  /** Perhaps gives an object another member. */
  #grow(object: Json): void {
    const { chance, does } = this.#place;
    const name = this.#pick(NAMES);
    if (Object.hasOwn(object, name) || !chance.odds(OFTEN)) return;
    put(object, name, this.#odd());
    does();
  }

  #changed(value: Json): Json {
    this.#place.does();
    const changed = changedAt(value, this.#pick(places(value)), this.#pick(ODD));
    return typeof changed === "symbol" ? null : changed;
  }

  #odd(): unknown {
    const odd = this.#pick(ODD);
    return typeof odd === "symbol" ? null : odd;
  }

  #pick<Value>(values: readonly Value[]): Value {
    return this.#place.chance.pick(values as readonly [Value, ...Value[]]) as Value;
  }
}
