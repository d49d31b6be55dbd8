/** A whole engine on a store of its own, and what drives it. */

import { assertEquals } from "@std/assert";
import {
  type CryptoInput,
  type CryptoOutput,
  Engine,
  type EngineRequest,
} from "../../../src/crypto/engine/engine.ts";
import type { JsonObject, MessageEvent, ShareReport, UserID } from "@greenroom/matrix/types";
import type { Logger } from "@greenroom/matrix";
import type { RecoveredEvent } from "../../../src/crypto/megolm/mod.ts";
import { type CryptoPolicy, DEFAULT_POLICY } from "../../../src/crypto/context/context.ts";
import type { Vault } from "../../../src/crypto/records/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import type { RawSession } from "./raw_device.ts";
import { memoryVault } from "../support/vault.ts";
import { ENCRYPTION, EngineServer, Refusal, ROOM, stateEvent } from "./homeserver.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** Whose engine it is, and what it goes by. */
export interface BotOptions {
  readonly userId: UserID;
  readonly deviceId: string;
  readonly policy?: Partial<CryptoPolicy>;
  readonly log?: Logger;
}

/** The text of an event that was decrypted, or why it was not. */
export type Outcome = string;

/** Discards everything. */
export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A client reduced to what concerns the engine. */
export class Bot {
  readonly server: EngineServer;
  readonly userId: UserID;
  readonly deviceId: string;
  readonly store = new MemoryStore();
  engine!: Engine;
  /** What became of each event, by its ID; what was recovered later counts as well. */
  readonly outcomes = new Map<string, Outcome[]>();
  /** Has all commits of the engine fail but the next few, before or after they are done. */
  failing: { readonly when: "before" | "after"; commits: number } | undefined;
  /** Is called once, when the engine reads next, or writes. */
  onRead: (() => Promise<void>) | undefined;
  /** Is waited for before each commit. */
  onCommit: (() => Promise<void>) | undefined;
  /** Is waited for when deferred changes are to become durable. */
  onFlush: (() => Promise<void>) | undefined;
  /** Called with the recipients of a session, whenever a room is ready. */
  onShare: (share: ShareReport) => void = () => {};
  readonly #options: BotOptions;
  #syncs = 0;
  #sent = 0;

  private constructor(server: EngineServer, options: BotOptions) {
    this.server = server;
    this.userId = options.userId;
    this.deviceId = options.deviceId;
    this.#options = options;
  }

  /** Opens an engine, publishes its keys and joins the room. */
  static async open(server: EngineServer, options: BotOptions): Promise<Bot> {
    const bot = new Bot(server, options);
    server.mailbox(bot).state.push(stateEvent("m.room.encryption", ENCRYPTION));
    await bot.restart();
    server.member(bot.userId, "join");
    await bot.sync();
    return bot;
  }

  /** Ends the process and begins another, on what is in the store. */
  async restart(): Promise<void> {
    this.failing = undefined;
    this.engine?.close();
    const { userId, deviceId, policy, log = silent } = this.#options;
    this.engine = await Engine.open({
      account: { userId, deviceId },
      vault: this.#vault(),
      clock: this.server.clock,
      log,
      policy: { ...DEFAULT_POLICY, ...EVERYBODY, ...policy },
    });
    await this.flush();
  }

  /** Makes all requests. */
  async flush(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      const requests = await this.engine.requests();
      if (requests.length === 0) return;
      for (const request of requests) await this.carry(request);
    }
    throw new TypeError("The requests never end");
  }

  /** Makes one request. */
  async carry(request: EngineRequest): Promise<void> {
    const { id } = request;
    try {
      const response = this.server.answer(this, request);
      const { recovered } = await this.engine.answer({ id, response });
      await this.#recovered(recovered);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await this.engine.fail({ id, failure: error.failure });
    }
  }

  /** Receives what waits, or what is given in its place. */
  async sync(change: Partial<CryptoInput> = {}): Promise<CryptoOutput> {
    return await this.take({ ...this.collect(), ...change });
  }

  /** Takes what waits out of the mailbox. */
  collect(): CryptoInput {
    const { toDevice, state, encrypted, changed } = this.server.mailbox(this);
    const input: CryptoInput = {
      nextBatch: `s${++this.#syncs}`,
      initial: false,
      handledBefore: true,
      toDevice: toDevice.splice(0),
      deviceLists: { changed: [...changed], left: [] },
      oneTimeKeyCounts: { signed_curve25519: this.server.oneTimeKeys(this) },
      unusedFallbackTypes: ["signed_curve25519"],
      state: [{ roomId: ROOM, events: state.splice(0), limited: false, lossy: false }],
      encrypted: encrypted.splice(0),
    };
    changed.clear();
    return input;
  }

  /** Receives a sync response, and makes the requests that it leads to. */
  async take(input: CryptoInput): Promise<CryptoOutput> {
    const output = await this.engine.receiveSync(structuredClone(input));
    if (!output.mayRequest) assertEquals(await this.engine.requests(), [], "mayRequest was wrong");
    for (const [index, event] of input.encrypted.entries()) {
      const result = output.decrypted[index];
      if (result !== undefined) {
        this.#note(event.event_id, "event" in result ? textOf(result.event) : result.code);
      }
    }
    await this.#recovered(output.recovered);
    await this.flush();
    return output;
  }

  /** Gets the room ready. */
  async ready(): Promise<ShareReport> {
    for (let round = 0; round < 50; round++) {
      const tolerate = { keysQuery: false, keysClaim: round > 20 };
      const readiness = await this.engine.prepare({ roomId: ROOM, tolerate });
      if (readiness.needs === "nothing") {
        this.onShare(readiness.share);
        return readiness.share;
      }
      if (readiness.needs === "room") await this.describe();
      await this.flush();
    }
    throw new TypeError("The room never gets ready");
  }

  /** Tells the engine what the server says of the room. */
  async describe(): Promise<void> {
    await this.engine.describeRoom({
      roomId: ROOM,
      encryption: ENCRYPTION,
      historyVisibility: { history_visibility: "joined" },
      members: [...this.server.members].map((userId) => ({ userId, membership: "join" })),
    });
  }

  /** Encrypts a text, getting the room ready if need be; nothing is published. */
  async encrypt(body: string, txnId = this.nextTxnId()): Promise<{ content: JsonObject; txnId: string }> {
    const content = JSON.stringify({ msgtype: "m.text", body });
    const input = { roomId: ROOM, eventType: "m.room.message", content, txnId };
    for (let round = 0; round < 5; round++) {
      const encrypted = await (await this.engine.encrypt(input)).reply;
      if (encrypted !== undefined) return { content: encrypted.content, txnId };
      await this.ready();
    }
    throw new TypeError("The room is never ready");
  }

  /** Says something in the room. */
  async send(body: string): Promise<MessageEvent> {
    const { content, txnId } = await this.encrypt(body);
    const event = this.server.publish(this, content, txnId);
    await this.engine.roomEventSent({ roomId: ROOM, txnId, hasArrived: true });
    return event;
  }

  /** An unused transaction ID. */
  nextTxnId(): string {
    return `txn${++this.#sent}`;
  }

  /** What became of an event last. */
  outcome({ event_id }: Pick<MessageEvent, "event_id">): Outcome | undefined {
    return this.outcomes.get(event_id)?.at(-1);
  }

  #vault(): Vault {
    const vault = memoryVault(this.store);
    const commit: Vault["commit"] = async (mutations) => {
      await this.#interrupted();
      await this.onCommit?.();
      const failing = this.failing !== undefined && this.failing.commits-- <= 0;
      if (failing && this.failing?.when === "before") throw new TypeError("The disk is gone");
      await vault.commit(mutations);
      if (failing) throw new TypeError("The disk is gone");
    };
    return {
      ...vault,
      getMany: async (keys) => {
        await this.#interrupted();
        return await vault.getMany(keys);
      },
      commit,
      defer: commit,
      flush: async () => await this.onFlush?.(),
    };
  }

  async #interrupted(): Promise<void> {
    const { onRead } = this;
    this.onRead = undefined;
    await onRead?.();
  }

  async #recovered(events: readonly RecoveredEvent[]): Promise<void> {
    for (const { event } of events) this.#note(event.event_id, textOf(event));
    if (events.length > 0) await this.engine.settle(events.map(({ ref }) => ref));
  }

  #note(eventId: string, outcome: Outcome): void {
    this.outcomes.getOrInsertComputed(eventId, () => []).push(outcome);
  }
}

/** Two engines in a room, which know each other's devices. */
export async function aliceAndBob(
  options: Partial<BotOptions> = {},
): Promise<{ server: EngineServer; alice: Bot; bob: Bot }> {
  const server = new EngineServer();
  const alice = await Bot.open(server, { userId: "@alice:example.org", deviceId: "ALICE", ...options });
  const bob = await Bot.open(server, { userId: "@bob:example.org", deviceId: "BOB", ...options });
  await alice.sync();
  return { server, alice, bob };
}

/** What an engine makes of an event of a session, which Alice has sent. */
export async function read(
  { server, bot }: { readonly server: EngineServer; readonly bot: Bot },
  session: RawSession,
): Promise<string> {
  const sender = { userId: "@alice:example.org", deviceId: "PHONE" } as const;
  const event = server.publish(sender, session.event(ROOM, "hello"), crypto.randomUUID());
  const decryption = await bot.engine.decrypt(event);
  return "event" in decryption ? String(decryption.event.content.body) : decryption.code;
}

function textOf({ content }: MessageEvent): string {
  return `text: ${String(content.body)}`;
}
