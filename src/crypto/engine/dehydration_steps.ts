/**
 * The steps of the engine about dehydrated devices.
 *
 * @module
 */

import type {
  Dehydration,
  DehydrationState,
  ReadingOutcome,
  RehydratedOutput,
  RehydratedPage,
} from "../dehydration/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type { DehydratedDevice, DehydratedDeviceUpload } from "../../types/api/dehydrated_device.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { RunStep } from "./engine_parts.ts";

/** The steps, which do not overlap with other steps of the engine. */
export class DehydrationSteps {
  readonly #run: RunStep;

  /** @param run Runs a step. */
  constructor(run: RunStep) {
    this.#run = run;
  }

  /** How it is with dehydrated devices. */
  async dehydrationState(): Promise<DehydrationState> {
    return await this.#of((tx, dehydration) => dehydration.state(tx));
  }

  /** Keeps the key that secret storage has; returns whether it is one. */
  async keepPickleKey(secret: string): Promise<boolean> {
    return await this.#of((tx, dehydration) => dehydration.keepKey(tx, secret));
  }

  /** The key for secret storage, which has none. */
  async pickleKeyToStore(): Promise<string> {
    return await this.#of((tx, dehydration) => dehydration.keyToStore(tx));
  }

  /** Another key in place of the old one, for secret storage; {@link pickleKeyRenewed} once that has it. */
  async renewPickleKey(): Promise<string> {
    return await this.#of((tx, dehydration) => dehydration.renewKey(tx));
  }

  /** Learns that secret storage has the other key. */
  async pickleKeyRenewed(): Promise<void> {
    await this.#of((tx, dehydration) => dehydration.renewed(tx));
  }

  /** Makes a dehydrated device; undefined if there is no key to encrypt or to sign it with. */
  async createDehydrated(): Promise<DehydratedDeviceUpload | undefined> {
    return await this.#of((tx, dehydration) => dehydration.create(tx));
  }

  /** Learns that the server has the device that was made. */
  async dehydratedUploaded(deviceId: DeviceID): Promise<void> {
    await this.#of((tx, dehydration) => dehydration.uploaded(tx, deviceId));
  }

  /** Begins to read a dehydrated device, or goes on where it was left. */
  async beginRehydration(device: DehydratedDevice): Promise<ReadingOutcome> {
    return await this.#of((tx, dehydration) => dehydration.begin(tx, device));
  }

  /** Receives messages to it: some hundred, so that other steps need not wait long. */
  async receiveRehydrated(page: RehydratedPage): Promise<RehydratedOutput> {
    return await this.#of((tx, dehydration) => dehydration.receive(tx, page));
  }

  /** Clears some of what is left of it; returns whether nothing is. */
  async clearRehydration(): Promise<boolean> {
    return await this.#of((tx, dehydration) => dehydration.clear(tx));
  }

  async #of<Result>(
    work: (tx: Transaction, dehydration: Dehydration) => Promise<Result>,
  ): Promise<Result> {
    return await this.#run((tx, { dehydration }) => work(tx, dehydration));
  }
}
