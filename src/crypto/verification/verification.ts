/**
 * All verifications of this device: which message belongs to which, how many there may be, and what
 * they send. Over 300 lines because each way in which one begins or ends is here.
 *
 * They are in memory only, since their private keys are: a process that ends ends them. Which ones
 * the other side may wait for is durable, so that the next process calls them off.
 *
 * @module
 */

import type { VerificationEnd } from "../../errors/encryption_error.ts";
import { VERIFICATION_PREFIX, type VerificationEvent } from "../../types/content/encryption_content.ts";
import type { DeviceID, EventID, RoomID, UserID } from "../../types/ids.ts";
import type { VerificationWay } from "../../types/verification.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import type { Transaction } from "../records/mod.ts";
import { type Outbox, RateLimit } from "../requests/requests.ts";
import {
  flowKey,
  type FlowName,
  flowOf,
  type FrozenKeys,
  methodsOf,
  PROMPT_TIMEOUT,
  SAS,
  stepOf,
  TIMEOUT,
  type VerificationState,
  type VerifiedKeys,
} from "./protocol.ts";
import { VerificationFlow } from "./verification_flow.ts";
import {
  judgePrompt,
  readRequest,
  RoomAsking,
  trustVerified,
  VerificationPost,
  type VerificationSend,
  type Verified,
  type VerifiedTrustParts,
} from "./verification_post.ts";

export type { FrozenKeys, VerificationState } from "./protocol.ts";
export { VerificationFlow } from "./verification_flow.ts";
export type { VerificationSend } from "./verification_post.ts";

/** How many verifications that have ended are remembered: what still comes of them is ignored. */
const MAX_ENDED = 1_000;
/** How often a user is told within a minute that a verification is not known. */
const UNKNOWN_ANSWERS = { times: 5, periodMs: 60_000 };

/** What a step has led to. */
export interface VerificationNews {
  /** The verifications that have changed. */
  readonly states: readonly VerificationState[];
  /** What is to be sent to rooms, in order. */
  readonly sends: readonly VerificationSend[];
}

/** Keeps the verifications. */
export class Verifications {
  readonly #options;
  readonly #flows = new Map<string, VerificationFlow>();
  readonly #ended = new Set<string>();
  readonly #asking: RoomAsking;
  readonly #post: VerificationPost;
  readonly #unknown: RateLimit;
  #changed = new Set<VerificationFlow>();

  /** @param options The parts that it needs. */
  constructor(
    options: VerifiedTrustParts & {
      /** Sends to devices. */
      readonly outbox: Outbox;
    },
  ) {
    this.#options = options;
    this.#post = new VerificationPost(options);
    this.#asking = new RoomAsking(options.context);
    this.#unknown = new RateLimit(options.context.clock, UNKNOWN_ANSWERS);
  }

  /** See {@link VerificationPost.load}. */
  async load(tx: Transaction, restored: Promise<void>): Promise<void> {
    await this.#post.load(tx, restored);
  }

  /** Ends everything: vodozemac has failed, and its objects with it. */
  clear(): void {
    for (const flow of this.#flows.values()) {
      flow.end("m.unknown_transaction", "The cryptographic library has failed", "us");
      this.#changed.add(flow);
    }
  }

  /** Takes what has changed since the last time. Messages to devices are in the outbox. */
  take(tx: Transaction): VerificationNews {
    for (const flow of this.#changed) this.#settle(tx, flow);
    const states = [...this.#changed].map((flow) => flow.state());
    this.#changed = new Set();
    return { states, sends: this.#post.takeSends() };
  }

  /** A verification that has not ended. */
  get(id: string): VerificationFlow | undefined {
    return this.#flows.get(id);
  }

  /** Notes that a verification was changed from outside. */
  changed(flow: VerificationFlow): void {
    this.#changed.add(flow);
  }

  /** Receives a message. */
  receive(tx: Transaction, event: VerificationEvent): void {
    const [step, name] = [stepOf(event), flowOf(event)];
    if (step === undefined) return;
    if (event.sender === this.#options.context.own.userId && event.place !== undefined) {
      return this.#receiveOwn(name, event);
    }
    if (name === undefined) return;
    const flow = this.#flows.get(flowKey(name));
    if (step === "request") return flow === undefined ? this.#requested(name, event) : undefined;
    if (flow !== undefined) {
      flow.receive({ step, content: event.content, senderDevice: event.senderDevice });
      this.#changed.add(flow);
      return;
    }
    if (this.#ended.has(flowKey(name))) return;
    if (event.place !== undefined) return this.#asking.keep(event, event.place.roomId);
    if (step === "start" && event.content.method === SAS) return this.#startedAtOnce(name, event);
    if (step === "cancel" || step === "done") return;
    this.#answerUnknown(tx, name, event);
  }

  /** Asks devices of a user. */
  request(userId: UserID, devices: readonly DeviceID[], ways: readonly VerificationWay[]): VerificationFlow {
    const { own, uniqueId, clock } = this.#options.context;
    const theirs = this.#promptOf(userId, undefined);
    if (theirs !== undefined && devices.includes(theirs.deviceId ?? "")) { // they have asked already
      theirs.join(methodsOf(ways));
      this.#changed.add(theirs);
      return theirs;
    }
    const name = { userId, roomId: undefined, flowId: uniqueId() };
    const expiresAt = clock.now() + TIMEOUT;
    const flow = new VerificationFlow({
      name,
      own,
      isIncoming: false,
      devices,
      methods: methodsOf(ways),
      expiresAt,
    });
    this.#add(flow);
    flow.request(clock.now());
    return flow;
  }

  /** Begins to ask a user in a room: what to send, whose event ID {@link asked} gets. */
  ask(roomId: RoomID, userId: UserID, ways: readonly VerificationWay[]): VerificationSend {
    return this.#asking.begin(roomId, userId, methodsOf(ways));
  }

  /** The request in a room was sent, as an event; undefined: it was not. */
  asked(tx: Transaction, id: string, eventId: EventID | undefined): VerificationFlow | undefined {
    const asking = this.#asking.end(id);
    if (asking === undefined || eventId === undefined) return undefined;
    const { own, clock } = this.#options.context;
    const { roomId, userId, methods, early } = asking;
    const name = { userId, roomId, flowId: eventId };
    const expiresAt = clock.now() + TIMEOUT;
    const flow = new VerificationFlow({ name, own, isIncoming: false, devices: [], methods, expiresAt });
    this.#add(flow);
    for (const event of early) this.receive(tx, event);
    const theirs = flow.isAsking ? this.#promptOf(userId, roomId) : undefined;
    if (theirs === undefined) return flow;
    if (flow.countsBeside(theirs.deviceId ?? "")) {
      this.#end(theirs, "Both have asked at the same time, and the own request goes on", "us");
      return flow;
    }
    this.#giveWay(flow, theirs);
    return theirs;
  }

  /** The request of a user that waits for an answer. */
  #promptOf(userId: UserID, roomId: RoomID | undefined): VerificationFlow | undefined {
    return [...this.#flows.values()].find(({ isPrompt, name }) =>
      isPrompt && name.userId === userId && name.roomId === roomId
    );
  }

  /** The keys of both sides, as they are now; undefined: the other device is not known. */
  async keysOf(tx: Transaction, flow: VerificationFlow): Promise<FrozenKeys | undefined> {
    const { devices, context: { own } } = this.#options;
    const { userId } = flow.name;
    const device = await this.#deviceOf(tx, flow);
    if (device === undefined) return undefined;
    const ofOwn = await devices.identityOf(tx, own.userId);
    const master = userId === own.userId ? ofOwn?.master : (await devices.identityOf(tx, userId))?.master;
    const isOwnVerified = ofOwn?.isVerified === true;
    return { device: device.ed25519, master, ownMaster: ofOwn?.master, isOwnVerified };
  }

  /** Stores what was verified, if both sides have confirmed it, unless the keys are others by now. */
  async complete(tx: Transaction, flow: VerificationFlow): Promise<VerifiedKeys | undefined> {
    const { vouched, keys, name: { userId } } = flow;
    const isDue = flow.state().needs === "completion";
    if (!isDue || vouched === undefined || keys === undefined) return undefined;
    this.#changed.add(flow);
    const device = await this.#deviceOf(tx, flow);
    const now = await this.keysOf(tx, flow);
    if (device?.ed25519 !== keys.device || (vouched.identity && now?.master !== keys.master)) {
      flow.cancel("m.key_mismatch", "The keys have changed in the meantime");
      return undefined;
    }
    const verified: Verified = { userId, device, keys, vouched };
    await trustVerified(tx, this.#options, verified);
    flow.complete(vouched);
    return vouched;
  }

  /** Calls off what has taken too long. */
  expire(): void {
    const now = this.#options.context.clock.now();
    for (const flow of this.#flows.values()) {
      if (flow.expiresAt > now) continue;
      // Another device of the user may still answer a request.
      if (flow.isPrompt) flow.end("m.timeout", "The request was not answered in time", "us");
      else flow.cancel("m.timeout", "It has taken too long");
      this.#changed.add(flow);
    }
  }

  async #deviceOf(tx: Transaction, flow: VerificationFlow): Promise<CryptoDevice | undefined> {
    return await this.#options.devices.device(tx, flow.name.userId, flow.deviceId ?? "");
  }

  #add(flow: VerificationFlow): void {
    this.#flows.set(flow.id, flow);
    this.#changed.add(flow);
  }

  /** A request of another device. */
  #requested(name: FlowName, event: VerificationEvent): void {
    const { own, clock, log } = this.#options.context;
    if (this.#ended.has(flowKey(name))) return;
    const now = clock.now();
    const { request, problem } = readRequest(event, { own, now });
    if (request === undefined) {
      return log.debug("Ignored a request to verify", { sender: event.sender, reason: problem });
    }
    const ours = [...this.#flows.values()].find((flow) => crosses(flow, name, request.from_device));
    if (ours?.countsBeside(request.from_device)) return this.#remember(flowKey(name));
    if (ours === undefined && !this.#hasRoomFor(event.sender)) return;
    const limits = { promptUntil: now + PROMPT_TIMEOUT, expiresAt: request.timestamp + TIMEOUT };
    const setup = { name, own, isIncoming: true, devices: [request.from_device], methods: request.methods };
    const theirs = new VerificationFlow({ ...setup, ...limits });
    if (ours !== undefined) this.#giveWay(ours, theirs);
    this.#add(theirs);
  }

  /** Of two requests at once one goes on: of whom both sides know that it does. */
  #giveWay(ours: VerificationFlow, theirs: VerificationFlow): void {
    ours.giveWayTo(theirs);
    this.#changed.delete(theirs);
    this.#changed.add(ours).add(theirs); // in this order
  }

  /** A start without a request before it, as older clients begin. */
  #startedAtOnce(name: FlowName, { content, sender }: VerificationEvent): void {
    const { own, clock } = this.#options.context;
    const { from_device } = content;
    if (typeof from_device !== "string" || !this.#unknown.take(sender) || !this.#hasRoomFor(sender)) return;
    const limits = { promptUntil: clock.now() + PROMPT_TIMEOUT, expiresAt: clock.now() + TIMEOUT };
    const setup = { name, own, isIncoming: true, devices: [from_device], methods: [SAS] };
    this.#add(new VerificationFlow({ ...setup, ...limits, start: content }));
  }

  /** An own device that accepts a request of a room takes it over. */
  #receiveOwn(name: FlowName | undefined, { type, content }: VerificationEvent): void {
    const { own } = this.#options.context;
    if (name === undefined) return;
    if (type !== `${VERIFICATION_PREFIX}ready` || content.from_device === own.deviceId) return;
    for (const flow of this.#flows.values()) {
      const { roomId, flowId } = flow.name;
      if (roomId !== name.roomId || flowId !== name.flowId || !flow.isPrompt) continue;
      this.#end(flow, "Another of the user's devices has accepted", "other-device");
    }
  }

  #end(flow: VerificationFlow, reason: string, by: VerificationEnd): void {
    flow.end(by === "other-device" ? "m.accepted" : "m.timeout", reason, by);
    this.#changed.add(flow);
  }

  /** Returns whether one more request of a user may wait; another may have to give way. */
  #hasRoomFor(userId: UserID): boolean {
    const { mayWait, instead } = judgePrompt(this.#flows.values(), userId, this.#options.context.own);
    if (instead !== undefined) this.#end(instead, "There are too many requests", "us");
    return mayWait;
  }

  #answerUnknown(tx: Transaction, name: FlowName, { content }: VerificationEvent): void {
    if (!this.#unknown.take(name.userId)) return;
    const { from_device } = content;
    const devices = [typeof from_device === "string" && from_device !== "" ? from_device : "*"];
    const record = { ...name, devices };
    this.#post.refuse(tx, flowKey(name), record, "This device knows no such verification");
  }

  #settle(tx: Transaction, flow: VerificationFlow): void {
    this.#post.settle(tx, flow);
    if (!flow.isOver) return;
    this.#flows.delete(flow.id);
    this.#remember(flow.id);
  }

  /** Has what still comes of a verification ignored. */
  #remember(id: string): void {
    this.#ended.add(id);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= MAX_ENDED) break;
      this.#ended.delete(oldest);
    }
  }
}

/** Returns whether the own request asks the device that has sent one at the same time, in the same place. */
function crosses({ isAsking, devices, name }: VerificationFlow, of: FlowName, deviceId: DeviceID): boolean {
  if (!isAsking || name.userId !== of.userId || name.roomId !== of.roomId) return false;
  return of.roomId !== undefined || devices.includes(deviceId);
}
