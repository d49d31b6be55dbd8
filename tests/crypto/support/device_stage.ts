/** Device lists on a vault of their own. */

import { acceptedIdentity, DeviceLists, provenIdentity } from "../../../src/crypto/devices/mod.ts";
import type { DeviceListChanges } from "../../../src/crypto/devices/user_answer.ts";
import type { Transaction, Vault } from "../../../src/crypto/records/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import type { JsonObject, LocalTrust, UserID } from "@greenroom/matrix/types";
import { testContext, type TestContextOptions } from "./context.ts";
import { type FakeUser, queryResponse } from "./fake_user.ts";
import { memoryVault, step } from "./vault.ts";

/** Device lists, and what is needed to use them. */
export class DeviceStage {
  readonly clock = new TestClock();
  readonly vault: Vault = memoryVault();
  readonly #options: TestContextOptions;
  lists: DeviceLists;

  constructor(options: TestContextOptions = {}) {
    this.#options = { clock: this.clock, ...options };
    this.lists = new DeviceLists(testContext(this.#options));
  }

  /** Runs a step. */
  run<Result>(work: (tx: Transaction) => Promise<Result> | Result): Promise<Result> {
    return step(this.vault, work);
  }

  /** Restarts with what is stored. */
  async restart(): Promise<void> {
    this.lists = new DeviceLists(testContext(this.#options));
    await this.run((tx) => this.lists.load(tx));
  }

  /** Tracks users, or marks tracked ones. */
  async mark(...users: UserID[]): Promise<void> {
    await this.run(async (tx) => {
      await this.lists.tracked.changed(tx, users);
      await this.lists.tracked.track(tx, users);
    });
  }

  /** Asks the server, who answers as given. */
  async ask(response: JsonObject): Promise<DeviceListChanges> {
    const query = this.lists.tracked.nextQuery(this.clock.now());
    if (query === undefined) throw new RangeError("There is no query to make");
    return await this.run((tx) => this.lists.receiveQuery(tx, query, response));
  }

  /** Has the server asked of users, whom it shows as they are. */
  async learn(...users: FakeUser[]): Promise<DeviceListChanges> {
    await this.mark(...users.map(({ userId }) => userId));
    return await this.ask(queryResponse(...users));
  }

  /** The application says something of a device that is there. */
  async say(userId: UserID, deviceId: string, trust: LocalTrust | undefined): Promise<void> {
    await this.run(async (tx) => {
      const { ed25519 } = await this.lists.device(tx, userId, deviceId) ?? { ed25519: "" };
      await this.lists.setTrust(tx, { userId, deviceId, ed25519 }, trust);
    });
  }

  /** The application accepts the identity that a user has now. */
  async acknowledge(userId: UserID): Promise<void> {
    await this.run(async (tx) => {
      const { master } = await this.lists.identityOf(tx, userId) ?? { master: "" };
      await this.lists.changeIdentity(tx, userId, (before) => acceptedIdentity(before, { userId, master }));
    });
  }

  /** The own identity that the server shows is proven by its private keys. */
  async prove(userId: UserID): Promise<void> {
    await this.run((tx) => this.lists.changeIdentity(tx, userId, (shown) => shown && provenIdentity(shown)));
  }

  /** The trust of a user's devices, by device ID. */
  async trust(userId: UserID): Promise<Record<string, string>> {
    const devices = await this.run((tx) => this.lists.devicesOf(tx, [userId]));
    return Object.fromEntries((devices.get(userId) ?? []).map(({ deviceId, trust }) => [deviceId, trust]));
  }
}
