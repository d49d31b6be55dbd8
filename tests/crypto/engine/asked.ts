/** An engine without a server: the test answers its requests. */

import { assertEquals } from "@std/assert";
import { type CryptoInput, Engine, type EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type { RoomStateInput } from "../../../src/crypto/sharing/mod.ts";
import { type CryptoPolicy, DEFAULT_POLICY } from "../../../src/crypto/context/context.ts";
import type { Logger } from "@greenroom/matrix";
import type { JsonObject, StateEvent, UserID } from "@greenroom/matrix/types";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { FakeUser, queryResponse } from "../support/fake_user.ts";
import { memoryVault } from "../support/vault.ts";
import { ENCRYPTION, ROOM, stateEvent } from "./homeserver.ts";
import { EVERYBODY } from "../../support/everybody.ts";

export const ME: UserID = "@me:example.org";
export const BOB: UserID = "@bob:example.org";
const COUNTS = { one_time_key_counts: { signed_curve25519: 50 } };

/** What of a sync response is not as usual. */
export interface SyncChange extends Partial<CryptoInput> {
  readonly changed?: readonly UserID[];
  readonly oneTimeKeys?: number;
}

/** An engine whose requests the test answers. */
export class Asked {
  readonly clock = new TestClock(1_700_000_000_000);
  readonly store = new MemoryStore();
  readonly warnings: string[] = [];
  engine!: Engine;

  static async open(policy: Partial<CryptoPolicy> = {}): Promise<Asked> {
    const asked = new Asked();
    await asked.restart(policy);
    return asked;
  }

  async restart(policy: Partial<CryptoPolicy> = {}): Promise<void> {
    const warn = (text: string) => void this.warnings.push(text);
    const log: Logger = { debug() {}, info() {}, warn, error: warn };
    this.engine = await Engine.open({
      account: { userId: ME, deviceId: "MINE" },
      vault: memoryVault(this.store),
      clock: this.clock,
      log,
      policy: { ...DEFAULT_POLICY, ...EVERYBODY, ...policy },
    });
  }

  /** The only request that there is. */
  async one<Kind extends EngineRequest["kind"]>(kind: Kind): Promise<Extract<EngineRequest, { kind: Kind }>> {
    const [request, ...others] = await this.engine.requests();
    assertEquals([request?.kind, others], [kind, []]);
    return request as Extract<EngineRequest, { kind: Kind }>;
  }

  async kinds(): Promise<string[]> {
    return (await this.engine.requests()).map(({ kind }) => kind);
  }

  answer({ id }: EngineRequest, response: JsonObject) {
    return this.engine.answer({ id, response });
  }

  fail({ id }: EngineRequest, status: number, message = "") {
    return this.engine.fail({ id, failure: { status, errcode: undefined, message } });
  }

  /** What the server says of users who have shown nothing, and of the own device once it has it. */
  shown(): JsonObject {
    return { device_keys: { [ME]: { MINE: { ...this.engine.identity().deviceKeys } } } };
  }

  /** Has the server take the keys. */
  async publish(): Promise<this> {
    await this.answer(await this.one("keysQuery"), { device_keys: { [ME]: {} } });
    await this.answer(await this.one("keysUpload"), COUNTS);
    return this;
  }

  sync({ changed = [], oneTimeKeys = 50, ...others }: SyncChange = {}) {
    return this.engine.receiveSync({
      nextBatch: "s1",
      initial: false,
      handledBefore: true,
      toDevice: [],
      deviceLists: { changed, left: [] },
      oneTimeKeyCounts: { signed_curve25519: oneTimeKeys },
      unusedFallbackTypes: ["signed_curve25519"],
      state: [],
      encrypted: [],
      ...others,
    });
  }
}

/** An engine that has made all requests that there were, whose room Bob is in. */
export async function quiet(): Promise<Asked> {
  const asked = await (await Asked.open()).publish();
  await asked.sync({ state: [inRoom(stateEvent("m.room.encryption", ENCRYPTION), joined(BOB))] });
  await asked.answer(await asked.one("keysQuery"), queryResponse(new FakeUser(BOB, "B")));
  assertEquals(await asked.kinds(), []);
  return asked;
}

/** State of the room that comes with a sync. */
export function inRoom(...events: StateEvent[]): RoomStateInput {
  return { roomId: ROOM, events, limited: false, lossy: false };
}

/** Says that a user is in the room. */
export function joined(userId: UserID): StateEvent {
  return stateEvent("m.room.member", { membership: "join" }, userId);
}
