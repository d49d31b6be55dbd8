/**
 * The verifications of a client: between the engine, which knows no network and no time, and the
 * application.
 *
 * @module
 */

import type { EncryptedClient, EngineRunner } from "../../actors/crypto/crypto.ts";
import type { AllAPI } from "../../api/api.ts";
import { Turns } from "../../base/runs.ts";
import type { CryptoDevice, UserIdentity } from "../../crypto/devices/mod.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import type { CryptoOutput, VerificationAct, VerificationReply } from "../../crypto/engine/engine.ts";
import { isVerification, type VerificationEvent } from "../../types/content/encryption_content.ts";
import type { VerificationSend } from "../../crypto/verification/verification.ts";
import { ClientEndedError, ValueError } from "../../errors/matrix_error.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { EventID, UserID } from "../../types/ids.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import { ActorStoppedError } from "../../actors/kernel/mod.ts";
import type { AccountIdentity, UserTrust } from "../identity/identity.ts";
import { aborting, checkedWays, LiveVerification, RequestStream } from "./live_verification.ts";
import type { VerificationCrypto } from "./verification_crypto.ts";

export type { VerificationCrypto, VerificationPeer } from "./verification_crypto.ts";

const PEER = { userId: true, deviceId: true, roomId: true } as const;
/** What else there is in devices and identities, which can be asked as they are found. */
const FOUND: OptionNames<Omit<CryptoDevice & UserIdentity, keyof typeof PEER>> = {
  ...{ curve25519: true, ed25519: true, algorithms: true, displayName: true, isDehydrated: true },
  ...{ pinned: true, master: true, selfSigning: true, hasChanged: true, wasReset: true, isVerified: true },
  ...{ trust: true, wasVerified: true },
};

/** What of a sync response may belong to verifications. */
export interface VerificationIntake extends Partial<CryptoOutput> {
  /** Events that came in clear through rooms. */
  readonly clear?: readonly MessageEvent[];
}

/** The steps before which the other device is looked up: its keys must be known then. */
const LOOKS_UP: readonly VerificationAct["act"][] = ["startSas", "answerStart", "showQr", "scanQr"];

/** Keeps the verifications. */
export class VerificationHub {
  /** The requests of others. */
  readonly incoming: RequestStream;
  readonly #engine: EngineRunner;
  readonly #api: Pick<AllAPI, "sendMessageEvent">;
  readonly #users: UserTrust;
  readonly #identity: Pick<AccountIdentity, "requestSecrets">;
  readonly #deliverer: EncryptedClient["deliverer"];
  readonly #live = new Map<string, LiveVerification>();
  readonly #underway = new Set<Promise<unknown>>();
  readonly #sending = new Turns();
  #waiting = new AbortController();
  #isStopped = false;

  /**
   * @param engine The engine.
   * @param api Sends to rooms.
   * @param users Looks up devices.
   * @param identity Asks other own devices for secrets, once one of them was verified.
   * @param deliverer Calls handlers with the requests of others, as they come.
   */
  constructor(
    engine: EngineRunner,
    api: Pick<AllAPI, "sendMessageEvent">,
    users: UserTrust,
    identity: Pick<AccountIdentity, "requestSecrets">,
    deliverer: EncryptedClient["deliverer"],
  ) {
    [this.#engine, this.#api, this.#users, this.#identity] = [engine, api, users, identity];
    this.#deliverer = deliverer;
    engine.onRecovered = (recovered) => this.receive({ recovered });
    this.incoming = new RequestStream(() =>
      [...this.#live.values()].filter(({ isIncoming, phase }) => isIncoming && phase === "requested")
    );
  }

  /** Takes the messages of a sync response that belong to verifications. */
  receive({ toDevice = [], decrypted = [], recovered = [], clear = [] }: VerificationIntake): void {
    const events: VerificationEvent[] = [];
    for (const { event: { type, sender, content }, encryption } of toDevice) {
      if (isVerification(type, content)) {
        events.push({ type, sender, content, senderDevice: encryption?.senderDevice });
      }
    }
    for (const result of [...recovered, ...decrypted]) {
      if (!("event" in result)) {
        if (result.verifying !== undefined) events.push(result.verifying);
        continue;
      }
      if (!isVerification(result.event.type, result.event.content)) continue;
      events.push({ ...inRoom(result.event), senderDevice: result.encryption.senderDevice });
    }
    for (const event of clear) events.push(inRoom(event));
    if (events.length > 0) {
      this.#background(this.#step(this.#engine.actor.receiveVerification(events)));
    }
  }

  /** Says what an earlier process could not say any more. */
  begin(): void {
    this.#background(this.#step(this.#engine.actor.expireVerifications()));
  }

  /** Asks for a verification. */
  readonly request: VerificationCrypto["requestVerification"] = async (peer, options = {}) => {
    checkOptions(options, { ways: true, signal: true }, "ask for a verification");
    const [{ signal }, ways] = [options, checkedWays(options.ways)];
    signal?.throwIfAborted();
    const target = typeof peer === "string" ? { userId: peer } : peer;
    checkOptions(target, { ...PEER, ...FOUND }, "ask for a verification", "", Object.keys(PEER));
    checkIdentifier("userId", target.userId);
    const begun = "roomId" in target
      ? this.#askInRoom(target.userId, checkIdentifier("roomId", target.roomId), ways)
      : this.#askDevices(target, ways);
    const id = await aborting(begun, signal);
    const live = this.#live.get(id);
    if (live === undefined) {
      throw new ClientEndedError(`Cannot verify ${target.userId}: the client was closed`);
    }
    return live;
  };

  /**
   * Resolves when no step is under way any more, and what they have led to was sent to the rooms.
   *
   * @returns Whether there was anything to wait for.
   */
  async idle(): Promise<boolean> {
    const hasWaited = this.#underway.size > 0;
    while (this.#underway.size > 0) await Promise.allSettled(this.#underway);
    return hasWaited;
  }

  /** Ends everything: nothing more is sent. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting.abort();
    for (const live of this.#live.values()) live.abandon();
    this.#live.clear();
    this.incoming.close();
  }

  async #askDevices(
    { userId, deviceId }: { readonly userId: UserID; readonly deviceId?: string },
    ways: ReturnType<typeof checkedWays>,
  ): Promise<string> {
    const { actor } = this.#engine;
    const find = async (options?: { readonly isAnew: boolean }): Promise<string[]> => {
      const known = await this.#users.getDevices(userId, options);
      const asked = known.filter((device) => !device.isDehydrated).map((device) => device.deviceId);
      return asked.filter((each) => (deviceId ?? each) === each);
    };
    let devices = await find();
    if (devices.length === 0) devices = await find({ isAnew: true });
    if (devices.length === 0) {
      const which = deviceId === undefined ? "a device" : `the device ${JSON.stringify(deviceId)}`;
      throw new ValueError(
        `Cannot verify ${userId}: the server does not show ${which} with keys, other than this one; it has to be ` +
          "logged in, with a client that encrypts",
      );
    }
    const reply = await this.#step(actor.requestVerification({ userId, devices, ways }));
    return reply.id ?? "";
  }

  async #askInRoom(
    userId: UserID,
    roomId: VerificationSend["roomId"],
    ways: ReturnType<typeof checkedWays>,
  ): Promise<string> {
    const { actor } = this.#engine;
    await this.#engine.open();
    const { deviceKeys: { user_id: own } } = await actor.ownDevice();
    if (own === userId) {
      throw new ValueError("Cannot verify the own user in a room: ask the own devices, without roomId");
    }
    await this.#users.getDevices(userId);
    const send = await actor.askInRoom({ roomId, userId, ways });
    let [eventId, id]: [eventId?: EventID, id?: string] = [];
    try {
      eventId = await this.#toRoom(send);
    } finally {
      ({ id } = await this.#step(actor.askedInRoom({ id: send.id, eventId })));
    }
    return id ?? "";
  }

  async #decided(id: string, act: VerificationAct): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const live = this.#live.get(id);
    if (live !== undefined && LOOKS_UP.includes(act.act)) {
      // What is known may do, if the server does not answer.
      await this.#users.getDevices(live.userId).catch((error) => {
        this.#engine.log.warn("Could not look up a device to verify", { error: String(error) });
      });
    }
    return (await this.#step(this.#engine.actor.actInVerification({ ...act, id }))).qrCode;
  }

  /** Takes what a step has led to. */
  async #step(asked: Promise<VerificationReply>): Promise<VerificationReply> {
    const reply = await asked;
    if (this.#isStopped) return reply;
    const { states, sends, recovered = [] } = reply;
    for (const state of states) {
      const { id, needs, replacedBy } = state;
      const known = this.#live.get(id);
      if (replacedBy !== undefined) { // both sides have asked: it goes on under the other name
        this.#live.delete(id);
        if (known !== undefined) this.#live.set(replacedBy, known);
        continue;
      }
      const live = known ?? new LiveVerification(state, (...of) => this.#decided(...of));
      known?.update(state);
      this.#live.set(id, live);
      if (live.isOver) this.#live.delete(id);
      if (live.phase === "done") this.#background(this.#askFor(live));
      if (known === undefined && live.isIncoming && !live.isOver) {
        this.incoming.add(live);
        this.#deliverer.internal("VERIFICATION_REQUEST", live);
      }
      if (needs === "start") this.#background(this.#decided(id, { act: "answerStart" }));
      if (needs === "completion") {
        this.#background(this.#step(this.#engine.actor.completeVerification(id)));
      }
    }
    for (const send of sends) this.#send(send);
    this.#engine.deliver(recovered);
    this.#engine.requests.wake();
    this.#watch();
    return reply;
  }

  /** A device that was verified by another of its user gets what that one has. */
  async #askFor({ userId }: LiveVerification): Promise<void> {
    const { deviceKeys: { user_id: own } } = await this.#engine.actor.ownDevice();
    if (own === userId) await this.#identity.requestSecrets();
  }

  /** Sends to a room: in clear to a device that would get no key, since encryption must not hinder it. */
  async #toRoom(send: VerificationSend): Promise<EventID> {
    const isRead = await this.#engine.actor.mayRead({ userId: send.userId, devices: send.devices });
    const { roomId, type, content, txnId } = send;
    const { signal } = this.#engine;
    return await this.#api.sendMessageEvent(roomId, type, content, {
      txnId,
      disableEncryption: !isRead,
      signal,
    });
  }

  /** Sends to a room, one message after the other. */
  #send(send: VerificationSend): void {
    this.#background(this.#sending.take(() =>
      this.#toRoom(send).catch(async (error) => {
        if (this.#isStopped) return;
        this.#engine.log.warn("Could not send a message of a verification", { error: String(error) });
        const act = { act: "cancel", code: "m.user", reason: "A message could not be sent" } as const;
        await this.#decided(send.id, act).catch(() => {}); // it has ended
      })
    ));
  }

  /** Waits for the next verification that takes too long. */
  #watch(): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    const ends = [...this.#live.values()].map(({ expiresAt }) => expiresAt);
    if (ends.length === 0) return;
    const { clock, actor } = this.#engine;
    const ms = Math.max(Math.min(...ends) - clock.now(), 1_000);
    const { signal } = this.#waiting;
    clock.delay(ms, { signal }).then(
      () => this.#background(this.#step(actor.expireVerifications())),
      () => {},
    );
  }

  #background(work: Promise<unknown>): void {
    const done = work.catch((error) => {
      if (this.#isStopped || error instanceof ActorStoppedError) return;
      this.#engine.log.warn("A step of a verification has failed", { error: String(error) });
    }).finally(() => this.#underway.delete(done));
    this.#underway.add(done);
  }
}

function inRoom(
  { type, sender, content, room_id, event_id, origin_server_ts: at }: MessageEvent,
): VerificationEvent {
  return { type, sender, content, place: { roomId: room_id, eventId: event_id, at } };
}
