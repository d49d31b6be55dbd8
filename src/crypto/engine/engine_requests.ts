/**
 * The requests that the engine wants made, and their outcome.
 *
 * Over 300 lines because each kind of request is handed out, answered and failed here, each in a
 * few lines.
 *
 * @module
 */

import type { DeviceKeys, KeysUploadRequest } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import { deviceConflict } from "../account/account.ts";
import type { DeviceQuery } from "../devices/mod.ts";
import { newTxn } from "../context/context.ts";
import type { EngineParts, EngineRequest } from "./engine_parts.ts";
import {
  halves,
  isDivisible,
  isRefusal,
  type OutboxEntry,
  RefusedMessages,
  type RequestFailure,
} from "../requests/requests.ts";
import type { AnswerOutput } from "../megolm/mod.ts";
import { OwnDoubts, recoverFromRollback } from "./rollback.ts";
import type { KeyClaim } from "../olm/olm.ts";
import type { Transaction } from "../records/mod.ts";
import { type DueSignature, OwnSignature, uploadOf } from "../identity/identity.ts";

/** A request on its way. */
type Underway =
  | { readonly kind: "keysUpload"; readonly body: KeysUploadRequest }
  | { readonly kind: "keysQuery"; readonly query: DeviceQuery; readonly wasPublished: boolean }
  | { readonly kind: "signaturesUpload"; readonly due: readonly DueSignature[]; readonly hasOwn: boolean }
  | { readonly kind: "keysClaim"; readonly claim: KeyClaim }
  | { readonly kind: "outbox"; readonly entry: OutboxEntry };

/** What an answer led to. */
export interface AnswerOutcome extends AnswerOutput {
  /** Why the device can't go on: the server has other keys of it. */
  readonly conflict?: string;
  /** Whether there is more in the answer, for the next step. Default: false. */
  readonly more?: boolean;
}

export interface FailureOutcome extends Pick<AnswerOutcome, "conflict"> {
  /** Whether it needs no retry: what was refused is sent in another way, or not at all. */
  readonly settled?: boolean;
}

/** What is said of a user whose new identity counts. */
const RESET =
  "A user has reset their identity, or the server has: the new one counts, since nobody has verified the user";
const NOTHING: AnswerOutcome = { recovered: [], alarms: [] };

/** Hands out requests, each once until it was answered or failed. */
export class EngineRequests {
  readonly #parts: EngineParts;
  readonly #underway = new Map<string, Underway>();
  /** Events for rooms that an earlier process has left; callers send those of this process. */
  readonly #inherited: ReadonlySet<string>;
  readonly #refusedMessages: RefusedMessages;
  readonly #ownSignature: OwnSignature;
  /** Whether the server has said in this process what it has of the own device, if anything. */
  #isOwnKnown = false;
  /** Whether the server has other keys of the device: no more requests are made. */
  #isRefused = false;
  /** What the server says of the own user against what it has said before. */
  readonly #doubts: OwnDoubts;

  /** @param parts The parts of the engine, just opened. */
  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#doubts = new OwnDoubts(parts);
    this.#refusedMessages = new RefusedMessages(parts.context.server);
    this.#ownSignature = new OwnSignature(parts);
    this.#inherited = new Set(parts.outbox.pending().map(({ id }) => id));
  }

  /** All that is to be asked now, and is not being asked already. */
  take(): EngineRequest[] {
    if (this.#isRefused) return [];
    return [
      ...this.#upload(),
      ...this.#signatures(),
      ...this.#queries(),
      ...this.#claims(),
      ...this.#outbox(),
    ];
  }

  /**
   * Returns whether a request still makes sense: what was to be sent may have been given up since it was
   * taken.
   */
  isDue(id: string): boolean {
    const request = this.#underway.get(id);
    return request?.kind !== "outbox" || this.#parts.outbox.get(request.entry.id) !== undefined;
  }

  /** In how many milliseconds something that failed may be asked again; infinity: nothing waits. */
  nextIn(now: number): number {
    const { devices, olm, backupRequests, history, signatures } = this.#parts;
    const waiting = [devices.tracked, olm.claims, backupRequests, history, signatures, this.#ownSignature];
    return Math.min(...waiting.map((each) => each.nextIn(now)));
  }

  /**
   * What stands between the own device and others, who can neither answer nor trust it before its
   * keys are published; undefined: nothing.
   */
  ownNeeds(): { readonly needs: "keysQuery" | "keysUpload" } | undefined {
    if (this.#isOwnKnown && this.#parts.ownKeys.isPublished) return undefined;
    return { needs: this.#mayUpload() ? "keysUpload" : "keysQuery" };
  }

  /** Whether the device may be that of another store: nothing is known to be the same on the server. */
  get isDoubtful(): boolean {
    return !this.#isOwnKnown && !this.#parts.ownKeys.isPublished;
  }

  /** Receives a response, or the next piece of it. */
  async answer(tx: Transaction, id: string, response: JsonObject): Promise<AnswerOutcome> {
    const request = this.#underway.get(id);
    if (request === undefined) return await this.#ofParts(id).answer(tx, id, response);
    tx.onCommit(() => this.#parts.context.server.answers++);
    if (request.kind === "keysQuery") {
      const outcome = await this.#queried(tx, request, response);
      if (outcome.more !== true) this.#endsWith(tx, id);
      return outcome;
    }
    this.#endsWith(tx, id);
    switch (request.kind) {
      case "keysUpload":
        this.#parts.ownKeys.receiveUpload(tx, request.body, response);
        return NOTHING;
      case "signaturesUpload":
        return this.#signaturesEnded(tx, request, response);
      case "keysClaim":
        await this.#parts.olm.handshakes.receive(tx, request.claim, response);
        await this.#parts.keyRequests.answers.retry(tx); // devices that requested keys may be reachable now
        await this.#parts.secretAnswers.retry(tx);
        return NOTHING;
      case "outbox":
        await this.#parts.outbound.takeOut(tx, request.entry);
        this.#refusedMessages.took(request.entry);
        return NOTHING;
    }
  }

  /** Receives a failure. */
  async fail(tx: Transaction, id: string, failure: RequestFailure): Promise<FailureOutcome> {
    const request = this.#underway.get(id);
    const { devices, olm, context: { clock } } = this.#parts;
    if (request === undefined) return await this.#ofParts(id).fail(tx, id, failure);
    this.#endsWith(tx, id);
    if (!this.isDue(id)) return NOTHING; // nothing of it may be sent again
    switch (request.kind) {
      case "keysUpload":
        return await this.#uploadFailed(tx, failure);
      case "signaturesUpload":
        return this.#signaturesEnded(tx, request);
      case "keysQuery":
        devices.tracked.failed(request.query, { now: clock.now(), refused: isRefusal(failure.status) });
        return NOTHING;
      case "keysClaim":
        olm.claims.failed(request.claim, {
          now: clock.now(),
          refused: isDivisible(failure.status),
          answered: failure.status >= 500,
        });
        return { settled: isDivisible(failure.status) };
      case "outbox":
        return await this.#messageFailed(tx, request.entry, failure);
    }
  }

  /** The part that has made a request of its own. */
  #ofParts(id: string): Pick<EngineParts["backupRequests"], "fail"> & Pick<EngineRequests, "answer"> {
    const { history, backupRequests } = this.#parts;
    return history.owns(id) ? history : backupRequests;
  }

  #endsWith(tx: Transaction, id: string): void {
    tx.onCommit(() => this.#underway.delete(id));
  }

  /** Returns whether the server is known to have no other keys of this device. */
  #mayUpload(): boolean {
    const { devices, context: { own } } = this.#parts;
    return this.#isOwnKnown && !devices.tracked.isDirty([own.userId]);
  }

  *#upload(): Generator<EngineRequest> {
    const { ownKeys, ownIdentity } = this.#parts;
    if (!this.#mayUpload() || this.#isUnderway("keysUpload")) return;
    if (ownIdentity.isAwaited && !ownKeys.isPublished) return;
    const body = ownKeys.nextUpload();
    if (body !== undefined) yield { id: this.#begin({ kind: "keysUpload", body }), kind: "keysUpload", body };
  }

  *#signatures(): Generator<EngineRequest> {
    if (!this.#mayUpload() || this.#isUnderway("signaturesUpload")) return;
    const { signatures: others, context: { own, clock } } = this.#parts;
    const due = others.next(clock.now());
    const ownKeys = this.#ownSignature.next(clock.now());
    if (due.length === 0 && ownKeys === undefined) return;
    const signatures = { ...uploadOf(due) };
    const hasOwn = ownKeys !== undefined;
    if (hasOwn) signatures[own.userId] = { ...signatures[own.userId], [own.deviceId]: ownKeys };
    const id = this.#begin({ kind: "signaturesUpload", due, hasOwn });
    yield { id, kind: "signaturesUpload", signatures };
  }

  *#queries(): Generator<EngineRequest> {
    const { devices: { tracked }, ownKeys: { isPublished: wasPublished }, context: { clock } } = this.#parts;
    for (let query = tracked.nextQuery(clock.now()); query; query = tracked.nextQuery(clock.now())) {
      const id = this.#begin({ kind: "keysQuery", query, wasPublished });
      yield { id, kind: "keysQuery", users: query.users };
    }
  }

  *#claims(): Generator<EngineRequest> {
    const { olm, context: { clock } } = this.#parts;
    for (let claim = olm.claims.next(clock.now()); claim; claim = olm.claims.next(clock.now())) {
      const { oneTimeKeys } = claim;
      yield { id: this.#begin({ kind: "keysClaim", claim }), kind: "keysClaim", oneTimeKeys };
    }
  }

  /** In the order in which they were added, which the sender keeps. */
  *#outbox(): Generator<EngineRequest> {
    for (const entry of this.#refusedMessages.sorted(this.#parts.outbox.pending())) {
      if (this.#underway.has(entry.id)) continue;
      if (entry.kind === "roomEvent" && !this.#inherited.has(entry.id)) continue;
      this.#underway.set(entry.id, { kind: "outbox", entry });
      if (entry.kind === "toDevice") {
        const { id, kind, eventType, txnId, messages, sessionId } = entry;
        yield { id, kind, eventType, txnId, messages, sessionId };
      } else {
        const { id, kind, roomId, txnId, content, createdAt } = entry;
        yield { id, kind, roomId, txnId, content, createdAt };
      }
    }
  }

  #isUnderway(wanted: Underway["kind"]): boolean {
    return [...this.#underway.values()].some(({ kind }) => kind === wanted);
  }

  /** Ends an upload of signatures; the next answer with keys shows whether the own one is on the server. */
  #signaturesEnded(
    tx: Transaction,
    { due, hasOwn }: Extract<Underway, { kind: "signaturesUpload" }>,
    response?: JsonObject,
  ): AnswerOutcome {
    const { devices, signatures, context: { own, clock } } = this.#parts;
    if (response === undefined) signatures.failed(tx, clock.now());
    else {
      signatures.answered(tx, due, response);
      // What became of it is seen in nothing else.
      for (const { userId } of due) devices.tracked.lookUp(tx, userId);
    }
    if (!hasOwn) return NOTHING;
    devices.tracked.changed(tx, [own.userId]);
    tx.onCommit(() => this.#ownSignature.ended(clock.now(), response));
    return NOTHING;
  }

  #begin(request: Underway): string {
    const id = this.#parts.context.uniqueId();
    this.#underway.set(id, request);
    return id;
  }

  /** Sends a refused message in halves, or gives it up if it is for one device only. */
  async #messageFailed(
    tx: Transaction,
    entry: OutboxEntry,
    failure: RequestFailure,
  ): Promise<FailureOutcome> {
    const { outbox, outbound, context } = this.#parts;
    const verdict = this.#refusedMessages.judge(entry, failure.status);
    if (verdict === "later") return NOTHING;
    await outbound.takeOut(tx, entry);
    const isPart = this.#refusedMessages.takePart(entry);
    if (verdict === "halves" && entry.kind === "toDevice") {
      for (const messages of halves(entry.messages)) {
        const { kind, eventType, sessionId } = entry;
        const id = outbox.add(tx, { kind, eventType, messages, sessionId }, newTxn(context));
        this.#refusedMessages.divided(id);
      }
      return { settled: true };
    }
    context.log.warn("Gave up a request that the server refuses", {
      kind: entry.kind,
      error: failure.message,
    });
    await outbound.shareFailed(tx, entry);
    return { settled: isPart || failure.status >= 500 }; // if no device gets it, the waiting caller must know
  }

  /**
   * A failed upload may have been received all the same, or clash with other keys: the server is
   * asked before the next.
   */
  async #uploadFailed(tx: Transaction, failure: RequestFailure): Promise<Pick<AnswerOutcome, "conflict">> {
    const { ownKeys, devices, context: { own } } = this.#parts;
    devices.tracked.changed(tx, [own.userId]);
    if (ownKeys.failUpload(failure) !== "clash") return NOTHING;
    if (!ownKeys.wasPublished) return this.#refuse(tx);
    await recoverFromRollback(tx, this.#parts);
    return NOTHING;
  }

  async #queried(
    tx: Transaction,
    { query, wasPublished }: Extract<Underway, { kind: "keysQuery" }>,
    response: JsonObject,
  ): Promise<AnswerOutcome> {
    const { devices, ownIdentity, secretAnswers, olm, outbound, undecryptable, signatures, context } =
      this.#parts;
    const { log, own } = context;
    const doubt = this.#doubts.of(query, response);
    if (doubt !== undefined) {
      const { alarm, again, noted } = doubt;
      log.warn("The server shows other keys of this device, or of its user, than before: it is asked again", {
        ...alarm,
      });
      // A start waits for the answer that counts, and so does the one after it.
      if (alarm.kind === "identity-changed") devices.tracked.changed(tx, [own.userId]);
      tx.onCommit(() => {
        devices.tracked.failed(query, { now: context.clock.now(), again });
        noted();
      });
      return { recovered: [], alarms: [alarm] };
    }
    signatures.shown(tx, response);
    const changes = await devices.receiveQuery(tx, query, response);
    if (changes.changed.includes(own.userId)) {
      await ownIdentity.compare(tx);
      await secretAnswers.retry(tx); // a device may be signed now
    }
    const { alarms, more } = changes;
    for (const alarm of alarms) {
      const isReset = alarm.kind === "identity-changed" && alarm.isAccepted;
      log.warn(isReset ? RESET : "A user's keys are not what they should be", { ...alarm });
    }
    await outbound.devicesChanged(tx, changes);
    await olm.devicesChanged(tx, changes.changed);
    const { conflict } = changes.own === undefined
      ? NOTHING
      : this.#compareOwn(tx, changes.own, { wasPublished });
    if (changes.own !== undefined) await ownIdentity.see(tx, changes.own);
    const recovered = changes.changed.length === 0 ? [] : await undecryptable.retry(tx, "all");
    return { recovered, alarms, conflict, more };
  }

  /** Compares the keys that the server has of this device with its own. */
  #compareOwn(
    tx: Transaction,
    shown: JsonObject | "missing",
    { wasPublished }: { readonly wasPublished: boolean },
  ): Pick<AnswerOutcome, "conflict"> {
    const { ownKeys, devices, context: { own } } = this.#parts;
    if (shown === "missing" && ownKeys.isPublished && !wasPublished) {
      devices.tracked.changed(tx, [own.userId]); // it was asked before it got the keys: it is asked again
      return NOTHING;
    }
    if (ownKeys.checkServer(tx, shown as DeviceKeys | "missing") === "differs") return this.#refuse(tx);
    tx.onCommit(() => {
      this.#isOwnKnown = true;
      this.#doubts.believed();
      if (shown !== "missing") this.#ownSignature.shown(shown);
    });
    return NOTHING;
  }

  #refuse(tx: Transaction): Pick<AnswerOutcome, "conflict"> {
    tx.onCommit(() => this.#isRefused = true);
    return { conflict: deviceConflict(this.#parts.context.own) };
  }
}
