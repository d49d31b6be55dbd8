/**
 * Decrypts encrypted events, many at a time.
 *
 * @module
 */

import type { InboundGroupSession, MegolmPlaintext, Outcome } from "@greenroom/vodozemac-wasm";
import { withPauses } from "../../base/runs.ts";
import { type EncryptionInfo, hasBundle } from "../../types/events/encryption_info.ts";
import { type MessageEvent, SyncStream } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { CryptoContext } from "../context/context.ts";
import { bundledWith, type Decryption, withBundle } from "./decrypted.ts";
import type { RecordKey, Transaction } from "../records/mod.ts";
import {
  envelopeProblem,
  notDecrypted,
  readMegolmPayload,
  relationInto,
  undecryptable,
  unproven,
  untrusted,
  verifying,
  withheldFrom,
} from "./encrypted_event.ts";
import { inboundKey, type InboundRecord } from "./inbound_record.ts";
import { type Delivery, ReplayLog, type SessionReplays } from "./replay_log.ts";
import { accepts, type Attribution, isPastOnly, type SessionOwners } from "./session_owner.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import type { WithheldLog } from "./withheld_log.ts";

/** How much goes into vodozemac at once, in characters of base64; it takes 8 MiB. */
const MAX_CALL_LENGTH = 4 * 1024 * 1024;

/** How many events are decrypted until other work goes on: each takes up to 0.1 ms. */
const EVENTS_A_TURN = 100;

/** The events of one session. */
interface Group extends MegolmSessionRef {
  readonly key: RecordKey<InboundRecord>;
  /** The places of the events among all. */
  readonly places: number[];
  readonly ciphertexts: string[];
}

/** The events of one session, decrypted but not checked. */
interface OpenGroup extends Group {
  record: InboundRecord;
  readonly outcomes: readonly Outcome<MegolmPlaintext>[];
  readonly replays: SessionReplays;
}

/** The results, and where they go. */
interface Output {
  readonly results: Decryption[];
  readonly delivery: Delivery | undefined;
  /** How many of the events are not bundled with others. */
  readonly count: number;
}

/** Decrypts events. */
export class MegolmDecryption {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    readonly owners: SessionOwners;
    /** The reasons for withheld keys. */
    readonly withheld: WithheldLog;
    /** The session of a record, to be used in the step; undefined if the record is damaged. */
    readonly session: (
      tx: Transaction,
      ref: MegolmSessionRef,
      record: InboundRecord,
    ) => InboundGroupSession | undefined;
  }) {
    this.#options = options;
  }

  /**
   * Decrypts events, and those that are bundled with them; results are in the order of the events.
   *
   * @param delivery Delivers the events to handlers. Absent: they are only decrypted.
   */
  async decryptAll(
    tx: Transaction,
    events: readonly MessageEvent[],
    delivery?: Delivery,
  ): Promise<Decryption[]> {
    const output = { results: new Array<Decryption>(events.length), delivery, count: events.length };
    if (!events.some(hasBundle)) return await this.#decrypt(tx, events, output);
    // Behind all others: an event that came by itself counts before one that the server only shows.
    const bundled = events.flatMap((event) => bundledWith(event));
    const results = await this.#decrypt(tx, [...events, ...bundled.map(([, event]) => event)], output);
    const ofBundled = new Map<unknown, Decryption>();
    for (const [index, decryption] of results.splice(events.length).entries()) {
      ofBundled.set(bundled[index]?.[0], decryption);
    }
    return results.map((result) => "event" in result ? withBundle(result, ofBundled) : result);
  }

  async #decrypt(tx: Transaction, events: readonly MessageEvent[], output: Output): Promise<Decryption[]> {
    const { results } = output;
    const groups = group(events, results);
    const records = await tx.getMany(groups.map(({ key }) => key));
    const replays = new ReplayLog();
    const open: OpenGroup[] = [];
    const known = groups.map((group, index) => ({ ...group, record: records[index] }));
    for await (const group of inTurns(known, events)) {
      const opened = this.#open(tx, group, { events, replays });
      if (opened !== undefined) open.push(opened);
      else for (const place of group.places) results[place] = await this.#missing(tx, events, place);
    }
    await replays.open(tx);
    await this.#options.owners.prefetch(tx, sendersOf(open, events));
    for await (const group of inTurns(open, events)) await this.#finish(tx, group, { events, output });
    replays.save(tx);
    return results;
  }

  /** Decrypts what belongs to a session; undefined if the session is not there. */
  #open(
    tx: Transaction,
    group: Group & { readonly record: InboundRecord | undefined },
    { events, replays: log }: { events: readonly MessageEvent[]; replays: ReplayLog },
  ): OpenGroup | undefined {
    const { record } = group;
    if (record === undefined) return undefined;
    const session = this.#options.session(tx, group, record);
    if (session === undefined) return undefined;
    const outcomes = decryptInCalls(session, group.ciphertexts);
    const replays = log.session(group.roomId, group.sessionId);
    for (const [index, outcome] of outcomes.entries()) {
      const { sender } = events[group.places[index] as number] as MessageEvent; // one for each outcome
      if (outcome.ok) replays.want(outcome.value.messageIndex, sender);
    }
    return { ...group, record, outcomes, replays };
  }

  async #missing(tx: Transaction, events: readonly MessageEvent[], place: number): Promise<Decryption> {
    const event = events[place] as MessageEvent; // the place of an event
    const code = await this.#options.withheld.codeFor(tx, event);
    if (code !== undefined) return withheldFrom(event, code);
    const state =
      "its key is not there; it is read when the key comes, and if none does, ask for it to be sent again";
    return undecryptable(event, "MISSING_KEY", state);
  }

  async #finish(
    tx: Transaction,
    group: OpenGroup,
    { events, output }: { events: readonly MessageEvent[]; output: Output },
  ): Promise<void> {
    const { results, delivery, count } = output;
    const attributions = new Map<UserID, Attribution>();
    for (let index = 0; index < group.places.length; index++) {
      const place = group.places[index] as number; // one for each outcome
      const event = events[place] as MessageEvent;
      const outcome = group.outcomes[index] as Outcome<MegolmPlaintext>;
      if (!outcome.ok) {
        results[place] = notDecrypted(event, outcome.error, group.record);
        continue;
      }
      let attribution = attributions.get(event.sender);
      if (attribution === undefined) {
        const { record } = group;
        const { learnt, ...found } = await this.#options.owners.attribute(tx, group, {
          record,
          sender: event.sender,
        });
        attribution = found;
        attributions.set(event.sender, attribution);
        group.record = learnt ?? record;
        if (learnt !== undefined) tx.set(group.key, learnt);
      }
      const { accept } = this.#options.context.policy;
      const isNow = delivery !== undefined && (event.source & SyncStream.HISTORY) === 0;
      const decryption = isNow && isPastOnly(accept, attribution)
        ? unproven(event, attribution)
        : this.#check(event, { group, plaintext: outcome.value, attribution });
      results[place] = decryption;
      if (delivery === undefined || place >= count || !("event" in decryption)) continue;
      const { messageIndex } = outcome.value;
      if (!group.replays.show(messageIndex, event, delivery)) delivery.again.add(place);
    }
  }

  #check(
    event: MessageEvent,
    { group, plaintext, attribution }: {
      group: OpenGroup;
      plaintext: MegolmPlaintext;
      attribution: Attribution;
    },
  ): Decryption {
    const { messageIndex } = plaintext;
    const { trust: senderTrust, source: keySource, senderKey, senderDevice, sharedBy } = attribution;
    if (!accepts(this.#options.context.policy.accept, attribution)) {
      return {
        ...untrusted(event, attribution),
        ...verifying(event, { plaintext: plaintext.plaintext, attribution }),
      };
    }
    // After the check of trust: a refused event must not use up an index.
    if (!group.replays.claim(messageIndex, event)) {
      return undecryptable(
        event,
        "REPLAYED",
        "it has been there as another event; do not trust the server with it",
      );
    }
    const payload = readMegolmPayload(plaintext.plaintext, group.roomId);
    if (typeof payload === "string") {
      return undecryptable(event, "MALFORMED", `${payload}; ask the sender to update their client`);
    }
    const { type, content } = payload;
    const relation = relationInto(content, event);
    const { event_id, sender, origin_server_ts, room_id, unsigned, source } = event;
    const encryption: EncryptionInfo = {
      senderTrust,
      keySource,
      ...(sharedBy !== undefined && { sharedBy }),
      sessionId: group.sessionId,
      messageIndex,
      senderKey,
      senderDevice,
      relation,
    };
    const read: MessageEvent = { type, content, event_id, sender, origin_server_ts, room_id, source };
    if (unsigned !== undefined) read.unsigned = unsigned;
    return { event: read, encryption };
  }
}

/** Goes through groups; among many events, other work goes on in between. */
function inTurns<Each extends Group>(groups: readonly Each[], { length }: readonly MessageEvent[]) {
  return length <= EVENTS_A_TURN ? groups : withPauses(groups, EVENTS_A_TURN, ({ places }) => places.length);
}

/** Groups the events by session; those with a bad envelope get their result immediately. */
function group(events: readonly MessageEvent[], results: Decryption[]): Group[] {
  const rooms = new Map<RoomID, Map<string, Group>>();
  const groups: Group[] = [];
  for (let place = 0; place < events.length; place++) {
    const event = events[place] as MessageEvent; // within the bounds
    const problem = envelopeProblem(event);
    if (problem !== undefined) {
      results[place] = problem;
      continue;
    }
    const { room_id: roomId, content } = event;
    // envelopeProblem() has looked at both.
    const { session_id: sessionId, ciphertext } = content as { session_id: string; ciphertext: string };
    const sessions = rooms.getOrInsertComputed(roomId, () => new Map<string, Group>());
    let found = sessions.get(sessionId);
    if (found === undefined) {
      found = { key: inboundKey(roomId, sessionId), roomId, sessionId, places: [], ciphertexts: [] };
      sessions.set(sessionId, found);
      groups.push(found);
    }
    found.places.push(place);
    found.ciphertexts.push(ciphertext);
  }
  return groups;
}

function sendersOf(groups: readonly Group[], events: readonly MessageEvent[]): UserID[] {
  const senders = new Set<UserID>();
  for (const { places } of groups) {
    for (const place of places) senders.add((events[place] as MessageEvent).sender); // the place of an event
  }
  return [...senders];
}

function decryptInCalls(
  session: InboundGroupSession,
  ciphertexts: readonly string[],
): Outcome<MegolmPlaintext>[] {
  const outcomes: Outcome<MegolmPlaintext>[] = [];
  let start = 0;
  let length = 0;
  for (let end = 0; end <= ciphertexts.length; end++) {
    const next = ciphertexts[end]?.length ?? Infinity;
    if (length + next > MAX_CALL_LENGTH && end > start) {
      for (const outcome of session.decryptAll(ciphertexts.slice(start, end))) outcomes.push(outcome);
      start = end;
      length = 0;
    }
    length += next;
  }
  return outcomes;
}
