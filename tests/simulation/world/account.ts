/**
 * A user of a simulated world, with their devices.
 *
 * @module
 */

import type { DeviceID, UserID } from "@greenroom/matrix/types";
import type { Device } from "./device.ts";

/** Sends a request without a client. */
export type Ask = (
  token: string,
  method: string,
  path: string,
  body?: unknown,
) => Promise<Record<string, unknown>>;

/** A user. */
export class Account {
  readonly userId: UserID;
  readonly password: string;
  /** Whether a bot runs it: its devices answer. */
  readonly isBot: boolean;
  readonly devices: Device[] = [];
  readonly #ask: Ask;

  constructor(options: { userId: UserID; password: string; isBot: boolean; ask: Ask }) {
    this.userId = options.userId;
    this.password = options.password;
    this.isBot = options.isBot;
    this.#ask = options.ask;
  }

  /** A login; with an ID, of that device. */
  async login(deviceId?: DeviceID): Promise<{ token: string; deviceId: DeviceID }> {
    const { access_token, device_id } = await this.#ask("", "POST", "v3/login", {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: this.userId },
      password: this.password,
      device_id: deviceId,
    });
    return { token: access_token as string, deviceId: device_id as DeviceID };
  }

  /** Gives a device a new token, as its author does when the old one has expired. */
  async logIn(device: Device): Promise<void> {
    device.token = (await this.login(device.deviceId)).token;
  }
}
