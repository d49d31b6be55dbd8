/**
 * A user of a simulated world, with their devices.
 *
 * @module
 */

import type { Clock, Tokens } from "@greenroom/matrix";
import type { DeviceID, RoomID, UserID } from "@greenroom/matrix/types";
import type { Device } from "./device.ts";
import type { Dehydrated } from "./inheritance.ts";
import { StoredSecrets } from "./trust_faults.ts";

/** Sends a request without a client. */
export type Ask = (
  token: string,
  method: string,
  path: string,
  body?: unknown,
) => Promise<Record<string, unknown>>;

/** What a login gives; its tokens are replaced when they are refreshed. */
export interface Login {
  readonly deviceId: DeviceID;
  token: string;
  /** Buys the next token; undefined: this one does not expire by itself. */
  refreshToken: string | undefined;
  /** When it expires, in milliseconds since the epoch. */
  expiresAt: number;
}

/** How often devices that begin at once may fail by that. */
const MOST_COLLISIONS = 10;
/** How long it takes to store new tokens, in milliseconds. */
const TOKEN_FILE = 5;

/** The options of a client that acts with a login, and stores new tokens there. */
export function tokensOf(login: Login, clock: Clock, onStored: (token: string) => void) {
  return {
    accessToken: login.token,
    refreshToken: login.refreshToken,
    expiresIn: login.expiresAt === Infinity ? undefined : login.expiresAt - Date.now(),
    onTokensRefreshed: async ({ accessToken, refreshToken, expiresIn = Infinity }: Tokens) => {
      await clock.delay(TOKEN_FILE);
      Object.assign(login, { token: accessToken, refreshToken, expiresAt: Date.now() + expiresIn });
      onStored(accessToken);
    },
  };
}

/** A user. */
export class Account {
  readonly userId: UserID;
  readonly password: string;
  /** Whether a bot runs it: its devices answer. */
  readonly isBot: boolean;
  /** Whether that bot is one of the kit. */
  readonly hasKit: boolean;
  /** Whether its devices encrypt. */
  readonly encrypts: boolean;
  /** The key of its secret storage, which its clients are started with; undefined: it has none. */
  readonly recoveryKey: string | undefined;
  /** The master key of its identity, as the server has it; undefined: it has none. */
  master: string | undefined;
  /** The device that has published it. */
  madeBy: Device | undefined;
  /** Whether several of its devices begin at once, before it has an identity. */
  beginsAtOnce = false;
  /** Which device has stored what belongs to that identity, and which has looked since. */
  readonly secrets = new StoredSecrets();
  /** Whether the server has shown somebody another identity than that. */
  isMisshown = false;
  /** Whether a server that was set back has forgotten its identity. */
  isForgotten = false;
  /** The dehydrated device that the homeserver has; undefined: none. */
  dehydrated: Dehydrated | undefined;
  /** A version of the backup that somebody else has made; undefined: nobody has. */
  planted: string | undefined;
  /**
   * Whether its backup was gone for a time, of which nothing told its clients: those that were in use notice
   * with the next key that they put into it, and a start makes a new one, or uses it.
   */
  isBackupDeleted = false;
  /** The version of the backup that a server which was set back has forgotten, if it had one. */
  forgottenBackup: unknown;
  /** Whether its user was about to replace the backup, and does not know that it was done. */
  hasToReplaceBackup = false;
  /** Whether its user has said that room keys are not to be backed up. */
  isUnbacked = false;
  /** Whether its user is about to replace the identity. */
  isResetting = false;
  readonly devices: Device[] = [];
  /** Rooms that one of its devices could not join when it was invited, or was shown as joined already. */
  readonly unjoined = new Set<RoomID>();
  /** How often its user has begun to replace the backup. */
  #replacements = 0;
  /** How often its devices have found that another was about to make an identity. */
  #collisions = 0;
  readonly #refreshes: boolean;
  readonly #ask: Ask;

  /** @param options.refreshes Whether its tokens expire, and are refreshed. */
  constructor(
    options: {
      userId: UserID;
      password: string;
      isBot: boolean;
      hasKit: boolean;
      encrypts: boolean;
      recoveryKey: string | undefined;
      refreshes: boolean;
      ask: Ask;
    },
  ) {
    this.userId = options.userId;
    this.password = options.password;
    this.isBot = options.isBot;
    this.hasKit = options.hasKit;
    this.encrypts = options.encrypts;
    this.recoveryKey = options.encrypts ? options.recoveryKey : undefined;
    this.#refreshes = options.refreshes;
    this.#ask = options.ask;
  }

  /** Its user begins to replace the backup. Returns what {@link hasReplaced} is told. */
  replaces(): number {
    this.hasToReplaceBackup = true;
    return ++this.#replacements;
  }

  /** Its user knows that the backup was replaced; not by what began last, if another device does it, too. */
  hasReplaced(begun: number): void {
    if (begun === this.#replacements) this.hasToReplaceBackup = false;
  }

  /** Whether a device may begin again that has found that another was about to make an identity. */
  mayBeginAgain(): boolean {
    return this.beginsAtOnce && ++this.#collisions <= MOST_COLLISIONS;
  }

  /** A login; with an ID, of that device. */
  async login({ deviceId, refreshes = this.#refreshes }: {
    readonly deviceId?: DeviceID;
    readonly refreshes?: boolean;
  } = {}): Promise<Login> {
    const { access_token, device_id, refresh_token, expires_in_ms } = await this.#ask(
      "",
      "POST",
      "v3/login",
      {
        type: "m.login.password",
        identifier: { type: "m.id.user", user: this.userId },
        password: this.password,
        device_id: deviceId,
        refresh_token: refreshes,
      },
    );
    return {
      token: access_token as string,
      deviceId: device_id as DeviceID,
      refreshToken: refresh_token as string | undefined,
      expiresAt: expires_in_ms === undefined ? Infinity : Date.now() + Number(expires_in_ms),
    };
  }

  /** Gives a device a new token, as its author does when the old one has expired. */
  async logIn(device: Device): Promise<void> {
    device.login = await this.login({ deviceId: device.deviceId });
  }

  /** A token of any session, for what another program of the user does. */
  async token(): Promise<string> {
    const device = this.devices.find(({ goneAt }) => goneAt === Infinity);
    return (await this.login({ deviceId: device?.deviceId, refreshes: false })).token;
  }
}
