/**
 * A verification as the application holds it.
 *
 * @module
 */

import type { VerificationAct } from "../../crypto/engine/engine.ts";
import { emojiOf } from "./verification_crypto.ts";
import type { VerificationState } from "../../crypto/verification/verification.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { VerificationError } from "../../errors/encryption_error.ts";
import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
import type {
  VerificationComparison,
  VerificationOptions,
  VerificationPhase,
  VerificationRequest,
  VerificationResult,
  VerificationWay,
  VerificationWayOptions,
} from "../../types/verification.ts";

/** Does what the user decides in a verification; resolves to the bytes of a QR code, if there are some. */
export type Act = (id: string, act: VerificationAct) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** How a device can verify by default. */
const WAYS: readonly VerificationWay[] = ["sas"];
const KNOWN_WAYS: readonly string[] = Object.keys(
  { "sas": true, "show-qr": true, "scan-qr": true } satisfies Record<VerificationWay, true>,
);

export class LiveVerification implements VerificationRequest {
  readonly #act: Act;
  readonly #done = Promise.withResolvers<VerificationResult>();
  #state: VerificationState;
  #next = Promise.withResolvers<void>();

  /**
   * @param state What is known of it.
   * @param act Does what the user decides.
   */
  constructor(state: VerificationState, act: Act) {
    this.#state = state;
    this.#act = act;
    this.#done.promise.catch(() => {});
    this.#settle();
  }

  /** Takes its new state. */
  update(state: VerificationState): void {
    const hasChanged = state.phase !== this.#state.phase;
    this.#state = state;
    if (!hasChanged) return;
    this.#settle();
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** The client is closed before the verification has ended. */
  abandon(): void {
    const cancellation = { code: "m.user", reason: "The client was closed", by: "us" } as const;
    this.update({ ...this.#state, phase: "cancelled", cancellation });
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.phase === "done" || this.phase === "cancelled";
  }

  /** When it is called off, in milliseconds since the epoch. */
  get expiresAt(): number {
    return this.#state.expiresAt;
  }

  get userId(): UserID {
    return this.#state.userId;
  }

  get deviceId(): DeviceID | undefined {
    return this.#state.deviceId;
  }

  get roomId(): RoomID | undefined {
    return this.#state.roomId;
  }

  get isIncoming(): boolean {
    return this.#state.isIncoming;
  }

  get phase(): VerificationPhase {
    return this.#state.phase;
  }

  get ways(): readonly VerificationWay[] {
    return this.#state.ways;
  }

  get comparison(): VerificationComparison | undefined {
    const { shortString } = this.#state;
    if (shortString === undefined) return undefined;
    const { emojiIndices, decimals } = shortString;
    return { emoji: emojiIndices && emojiOf(emojiIndices), decimals };
  }

  get cancellation(): VerificationRequest["cancellation"] {
    return this.#state.cancellation;
  }

  get done(): Promise<VerificationResult> {
    return this.#done.promise;
  }

  async changed(options: VerificationOptions = {}): Promise<VerificationPhase> {
    const { signal } = checked(options);
    await aborting(this.#next.promise, signal);
    return this.phase;
  }

  async compare(options: VerificationOptions = {}): Promise<VerificationComparison> {
    checked(options);
    for (;;) {
      if (this.comparison !== undefined) return this.comparison;
      if (this.isOver) {
        await this.done; // rejects, if it was called off
        throw new ValueError("Cannot compare anything: the verification is done; begin another");
      }
      await this.changed(options);
    }
  }

  async accept(options: VerificationWayOptions = {}): Promise<void> {
    const { ways, signal } = checked(options, { ways: true });
    await this.#decide({ act: "accept", ways: checkedWays(ways) }, signal);
  }

  async startSas(options: VerificationOptions = {}): Promise<VerificationComparison> {
    const { signal } = checked(options);
    while (this.phase === "requested" && !this.isIncoming) await this.changed(options);
    await this.#decide({ act: "startSas" }, signal);
    return await this.compare(options);
  }

  async showQr(options: VerificationOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const { signal } = checked(options);
    return await this.#decide({ act: "showQr" }, signal) ?? new Uint8Array();
  }

  async scanQr(bytes: Uint8Array, options: VerificationOptions = {}): Promise<void> {
    const { signal } = checked(options);
    if (!(bytes instanceof Uint8Array)) {
      throw new ValueError("Cannot scan a QR code: what it holds must be a Uint8Array; read it in byte mode");
    }
    await this.#decide({ act: "scanQr", bytes }, signal);
  }

  async confirm(options: VerificationOptions = {}): Promise<void> {
    const { signal } = checked(options);
    await this.#decide({ act: "confirm" }, signal);
  }

  async mismatch(options: VerificationOptions = {}): Promise<void> {
    const { signal } = checked(options);
    await aborting(this.#act(this.#state.id, { act: "mismatch" }), signal);
  }

  async cancel(options: VerificationOptions = {}): Promise<void> {
    const { signal } = checked(options);
    const act = { act: "cancel", code: "m.user", reason: "The user has called it off" } as const;
    await aborting(this.#act(this.#state.id, act), signal);
  }

  /** A decision that wants the verification to go on. */
  async #decide(act: VerificationAct, signal: AbortSignal | undefined) {
    if (this.cancellation !== undefined) await this.done;
    const bytes = await aborting(this.#act(this.#state.id, act), signal);
    if (this.cancellation !== undefined) await this.done; // for what this has shown
    return bytes;
  }

  #settle(): void {
    const { userId, deviceId = "", verified, cancellation } = this.#state;
    if (verified !== undefined) {
      const { device: isDeviceVerified, identity: isIdentityVerified } = verified;
      this.#done.resolve({ userId, deviceId, isDeviceVerified, isIdentityVerified });
    }
    if (cancellation === undefined) return;
    const { code: problem, by, reason } = cancellation;
    const who =
      { us: "this device", them: "the other device", "other-device": "another device of the user" }[by];
    const said = reason === "" ? "" : `: ${reason}`;
    const message = `Cannot verify ${userId}: ${who} has called it off with ${problem}${said}; ask again`;
    this.#done.reject(new VerificationError(message, { problem, by, reason }));
  }
}

/** The options of a call, if it has no others than it may. */
function checked<Options extends VerificationOptions>(
  options: Options,
  names: Readonly<Record<string, true>> = {},
): Options {
  checkOptions(options, { signal: true, ...names }, "go on with a verification");
  return options;
}

/** Checks how this device can verify. */
export function checkedWays(ways: readonly VerificationWay[] = WAYS): readonly VerificationWay[] {
  const unknown = ways.find((way) => !KNOWN_WAYS.includes(way));
  if (ways.length > 0 && unknown === undefined) return ways;
  const given = unknown === undefined ? "no way" : JSON.stringify(unknown);
  throw new ValueError(`Cannot verify by ${given}: ways must be some of ${KNOWN_WAYS.join(", ")}`);
}

/** Waits for some work until a signal aborts; the work goes on. */
export async function aborting<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return await work;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  work.catch(() => {}); // if the signal was faster
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** One iteration. */
interface Reader {
  queue: LiveVerification[];
  wake: () => void;
}

/** Hands each request to each who iterates. */
export class RequestStream implements AsyncIterable<VerificationRequest> {
  readonly #readers = new Set<Reader>();
  readonly #waiting: () => readonly LiveVerification[];
  #isClosed = false;

  /** @param waiting The requests that wait for an answer now. */
  constructor(waiting: () => readonly LiveVerification[]) {
    this.#waiting = waiting;
  }

  /** A request has come. */
  add(request: LiveVerification): void {
    for (const reader of this.#readers) {
      // Nobody can answer those that have ended while nobody read.
      reader.queue = reader.queue.filter(({ isOver }) => !isOver).concat(request);
      reader.wake();
    }
  }

  /** Ends all iterations. */
  close(): void {
    this.#isClosed = true;
    for (const { wake } of this.#readers) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<VerificationRequest, undefined> {
    const reader: Reader = { queue: [...this.#waiting()], wake: () => {} };
    this.#readers.add(reader);
    try {
      while (!this.#isClosed) {
        const next = reader.queue.shift();
        if (next?.isOver === false) yield next;
        else if (next === undefined) await new Promise<void>((resolve) => reader.wake = resolve);
      }
      return undefined;
    } finally {
      this.#readers.delete(reader);
    }
  }
}
