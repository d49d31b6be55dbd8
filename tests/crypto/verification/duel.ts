/**
 * Two sides of one verification, with nothing but a wire between them, on which a test can sit.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { OwnDevice } from "../../../src/crypto/context/context.ts";
import type { JsonObject, RoomID, UserID, VerificationPhase, VerificationWay } from "@greenroom/matrix/types";
import { methodsOf, type VerificationStep } from "../../../src/crypto/verification/protocol.ts";
import {
  type FrozenKeys,
  VerificationFlow,
  type VerificationState,
} from "../../../src/crypto/verification/verification.ts";
import { signingKey } from "../support/fake_user.ts";

const vodozemac = await Vodozemac.create();

/** A step on its way, which a test may change, drop (`undefined`) or replace. */
export type Wire = (from: Side, step: VerificationStep, content: JsonObject) => JsonObject | undefined;

/** One side. */
export class Side {
  readonly own: OwnDevice;
  /** The own master key. */
  readonly master: string;
  /** Whether this side knows that the own master key is its user's. */
  isOwnVerified = true;
  /** Whether there is a master key. */
  hasMaster = true;
  flow!: VerificationFlow;
  /** The steps that this side has sent. */
  readonly sent: string[] = [];

  constructor(userId: UserID, deviceId: string, master = signingKey().publicKey) {
    this.own = { userId, deviceId, curve25519: signingKey().publicKey, ed25519: signingKey().publicKey };
    this.master = master;
  }

  /** What it knows of the keys of both. */
  keys(other: Side): FrozenKeys {
    return {
      device: other.own.ed25519,
      master: other.hasMaster ? other.master : undefined,
      ownMaster: this.hasMaster ? this.master : undefined,
      isOwnVerified: this.hasMaster && this.isOwnVerified,
    };
  }

  get state(): VerificationState {
    return this.flow.state();
  }

  get phase(): VerificationPhase {
    return this.state.phase;
  }

  /** The code it was called off with, and by whom. */
  get cancelled(): readonly [string, string] | undefined {
    const { cancellation } = this.state;
    return cancellation && [cancellation.code, cancellation.by];
  }
}

/** What differs from two users who compare emoji from device to device. */
export interface DuelOptions {
  /** Whether both are devices of one user. */
  readonly isSelf?: boolean;
  readonly ways?: readonly VerificationWay[];
  readonly roomId?: RoomID;
  /** Whether the other side has accepted already. Default: true. */
  readonly isReady?: boolean;
  /** The other device's ID. Default: `BOB`. */
  readonly bobsDevice?: string;
}

/** A verification that Alice has asked Bob for. */
export class Duel {
  readonly alice: Side;
  readonly bob: Side;
  /** What sits on the wire. */
  wire: Wire = (_from, _step, content) => content;
  /** Messages that are held back. */
  isHeld = false;

  constructor(
    { isSelf = false, ways = ["sas"], roomId, isReady = true, bobsDevice = "BOB" }: DuelOptions = {},
  ) {
    this.alice = new Side("@alice:example.org", "ALICE");
    this.bob = isSelf
      ? new Side("@alice:example.org", bobsDevice, this.alice.master)
      : new Side("@bob:example.org", bobsDevice);
    const expiresAt = 600_000;
    const flow = (mine: Side, theirs: Side, isIncoming: boolean) =>
      new VerificationFlow({
        name: { userId: theirs.own.userId, roomId, flowId: roomId === undefined ? "flow" : "$flow" },
        own: mine.own,
        isIncoming,
        devices: [theirs.own.deviceId],
        methods: methodsOf(ways),
        expiresAt,
      });
    const [incoming, outgoing] = [true, false];
    this.alice.flow = flow(this.alice, this.bob, outgoing);
    this.bob.flow = flow(this.bob, this.alice, incoming);
    if (!isReady) return;
    this.bob.flow.accept(ways);
    this.run();
  }

  other(side: Side): Side {
    return side === this.alice ? this.bob : this.alice;
  }

  /** Delivers until nothing is said any more, and answers starts. */
  run(): this {
    for (let quiet = false; !quiet;) {
      quiet = true;
      for (const side of [this.alice, this.bob]) {
        if (this.deliver(side)) quiet = false;
        if (side.state.needs !== "start") continue;
        side.flow.answerStart(vodozemac, side.keys(this.other(side)));
        quiet = false;
      }
    }
    return this;
  }

  /** Delivers what a side has to say. */
  deliver(side: Side): boolean {
    const outgoing = side.flow.takeOutgoing();
    for (const { type, content } of outgoing) {
      const step = type.slice("m.key.verification.".length) as VerificationStep;
      side.sent.push(step);
      const arrived = this.wire(side, step, JSON.parse(JSON.stringify(content)));
      if (arrived !== undefined) this.other(side).flow.receive({ step, content: arrived });
    }
    return outgoing.length > 0;
  }

  /** Begins to compare strings. */
  startSas(side = this.alice): this {
    side.flow.startSas(vodozemac, side.keys(this.other(side)));
    return this;
  }

  /** Both confirm. */
  confirm(): this {
    for (const side of [this.alice, this.bob]) {
      if (side.phase === "comparing" || side.phase === "scanned") side.flow.confirm();
      this.run();
    }
    return this;
  }

  /** The codes of both sides. */
  get cancelled() {
    return [this.alice.cancelled, this.bob.cancelled];
  }

  /** What the sides have vouched for to each other. */
  get vouched() {
    return [this.alice.flow.vouched, this.bob.flow.vouched];
  }
}
