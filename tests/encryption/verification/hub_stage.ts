/**
 * A hub of verifications, with an engine that says what a test wants.
 *
 * @module
 */

import { TestClock } from "@greenroom/matrix/testing";
import type { EventID, MessageEvent, VerificationRequest } from "@greenroom/matrix/types";
import type { EngineRunner } from "../../../src/actors/crypto/crypto.ts";
import type { VerificationReply } from "../../../src/crypto/engine/engine.ts";
import type { VerificationState } from "../../../src/crypto/verification/verification.ts";
import { VerificationHub } from "../../../src/encryption/verification/verification.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { ALICE, BOB } from "./pair.ts";

/** A room of both. */
export const ROOM = "!room:localhost";
/** What a step comes to that changes nothing. */
export const NOTHING: VerificationReply = { states: [], sends: [] };

/** What Bob says in it. */
export function said(type: string): MessageEvent {
  const event = { type, sender: BOB, content: {}, room_id: ROOM, event_id: "$said", origin_server_ts: 0 };
  return event as unknown as MessageEvent;
}

/** Something of a verification. */
export const START = said("m.key.verification.start");

const IS_READ = true;

/** A request of Bob's that waits for an answer, but for what is given. */
export function verificationState(change: Partial<VerificationState> = {}): VerificationState {
  return {
    id: "one",
    userId: "@bob:localhost",
    deviceId: "THEIRS",
    roomId: undefined,
    isIncoming: true,
    phase: "requested",
    ways: [],
    shortString: undefined,
    cancellation: undefined,
    replacedBy: undefined,
    verified: undefined,
    expiresAt: 120_000,
    needs: undefined,
    ...change,
  };
}

/** A hub, and what it has asked of an engine. */
export class HubStage {
  readonly clock = new TestClock(0);
  readonly log = recordingLogger();
  readonly asked: string[] = [];
  /** The devices of each request. */
  readonly targets: (readonly string[])[] = [];
  /** What the next steps come to. */
  readonly replies: (VerificationReply | Promise<VerificationReply>)[] = [];
  readonly hub: VerificationHub;
  /** What handlers of requests get. */
  readonly announced: VerificationRequest[] = [];
  /** The devices that are found. */
  found: readonly { readonly deviceId: string; readonly isDehydrated: boolean }[] = [
    { deviceId: "THEIRS", isDehydrated: false },
  ];
  /** What a room says to a message. */
  sending: Promise<EventID> = Promise.resolve("$sent");

  constructor() {
    const step = (name: string) => async () => {
      this.asked.push(name);
      return await this.replies.shift() ?? NOTHING;
    };
    const engine = {
      actor: {
        receiveVerification: step("receive"),
        requestVerification: ({ devices }: { readonly devices: readonly string[] }) => {
          this.targets.push(devices);
          return step("request")();
        },
        expireVerifications: step("expire"),
        completeVerification: step("complete"),
        actInVerification: ({ act }: { readonly act: string }) => step(act)(),
        ownDevice: () => Promise.resolve({ deviceKeys: { user_id: ALICE } }),
        mayRead: () => Promise.resolve(IS_READ),
      },
      requests: { wake: () => {} },
      deliver: () => {},
      ...{ clock: this.clock, log: this.log, signal: new AbortController().signal },
    };
    const users = {
      getDevices: () => {
        this.asked.push("devices");
        return Promise.resolve(this.found);
      },
    };
    const identity = { requestSecrets: () => Promise.resolve(void this.asked.push("secrets")) };
    this.hub = new VerificationHub(
      engine as unknown as EngineRunner,
      { sendMessageEvent: () => this.sending },
      users as never,
      identity as never,
      { internal: (_type, request) => (this.announced.push(request as VerificationRequest), []) },
    );
  }

  /** The engine says something of verifications, because of a message. */
  async shows(...states: readonly VerificationState[]): Promise<void> {
    await this.led({ states, sends: [] });
  }

  /** The same, with all that a step leads to. */
  async led(reply: VerificationReply | Promise<VerificationReply>): Promise<void> {
    this.replies.push(reply);
    this.hub.receive({ clear: [START] });
    await this.hub.idle();
  }

  /** What the engine was asked since the last time. */
  took(): string[] {
    return this.asked.splice(0).filter((name) => name !== "receive");
  }

  get warnings(): string[] {
    return this.log.lines.flatMap(([level, message]) => level === "warn" ? [message] : []);
  }

  /** All requests that are handed out. */
  read(): VerificationRequest[] {
    const requests: VerificationRequest[] = [];
    const read = async () => {
      for await (const request of this.hub.incoming) requests.push(request);
    };
    read();
    return requests;
  }
}
