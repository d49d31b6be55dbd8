/**
 * Our own client on Synapse, told of in the same words as the peers.
 *
 * @module
 */

import { Client, type ClientOptions, encryptionOf, type Store } from "@greenroom/matrix";
import type { LocalTrust, MessageEvent, RoomID, StateEvent } from "@greenroom/matrix/types";
import { within } from "./deadline.ts";
import type { Peer } from "./peer/peer.ts";
import { PeerWatch } from "./peer/peer_watch.ts";
import { newUser, type SynapseServer, type TestUser } from "./synapse.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** How our client is started. */
export interface OursOptions extends Partial<ClientOptions> {
  /** The user and device. Default: new ones. */
  user?: TestUser;
}

/** What of an event all of the peers tell. */
type RoomEvent = Pick<MessageEvent, "room_id" | "event_id" | "sender">;

/** Our client, syncing, with encryption. */
export class Ours extends PeerWatch implements AsyncDisposable {
  readonly user: TestUser;
  readonly #server: SynapseServer;
  readonly #options: Partial<ClientOptions>;
  readonly #failed = new Set<string>();
  #client: Client;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(server: SynapseServer, user: TestUser, options: Partial<ClientOptions>) {
    super();
    this.#server = server;
    this.user = user;
    this.#options = options;
    this.#client = this.#begin();
  }

  /** Starts one, and waits until it has synced and its keys are on the server. */
  static async start(server: SynapseServer, name: string, options: OursOptions = {}): Promise<Ours> {
    const { user = await newUser(server, name), ...rest } = options;
    const ours = new Ours(server, user, rest);
    await ours.#synced();
    return ours;
  }

  /**
   * Starts one that may not come far: it is not waited for, and `running` says how it ends.
   */
  static async launch(server: SynapseServer, name: string, options: OursOptions = {}): Promise<Ours> {
    const { user = await newUser(server, name), ...rest } = options;
    const ours = new Ours(server, user, rest);
    ours.#running = ours.#client.start({ timeout: 1_000 }).then(() => undefined, (error: unknown) => error);
    return ours;
  }

  /** Why a client ended that was launched; undefined if it was closed. */
  get running(): Promise<unknown> {
    return this.#running;
  }

  /** The client itself. */
  get client(): Client {
    return this.#client;
  }

  /** Its encryption. */
  get crypto(): NonNullable<Client["crypto"]> {
    const { crypto } = this.#client;
    if (crypto === undefined) throw new Error("The client has no encryption");
    return crypto;
  }

  /** Its user ID. */
  get userId(): TestUser["userId"] {
    return this.user.userId;
  }

  /** The ID of its device. */
  get deviceId(): string {
    return this.user.deviceId;
  }

  /** Closes the client. */
  async stop(): Promise<void> {
    await this.#client.close();
  }

  /**
   * Begins again, as a new process would: with the store that the options name, and with different
   * options if given.
   */
  async resume(options: Partial<ClientOptions> = {}): Promise<void> {
    Object.assign(this.#options, options);
    this.#client = this.#begin();
    await this.#synced();
  }

  /** Creates a room that is encrypted. */
  async createRoom(
    { invite = [], encryption = {}, historyVisibility, preset = "private_chat" }: {
      invite?: string[];
      encryption?: Record<string, unknown>;
      historyVisibility?: string;
      preset?: "private_chat" | "public_chat";
    } = {},
  ): Promise<RoomID> {
    const state = (type: string, content: Record<string, unknown>) => ({ type, state_key: "", content });
    return await this.#client.createRoom({
      preset,
      invitees: invite as TestUser["userId"][],
      initialState: [
        state("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2", ...encryption }),
        ...historyVisibility === undefined
          ? []
          : [state("m.room.history_visibility", { history_visibility: historyVisibility })],
      ],
    });
  }

  /** Joins a room. */
  async join(roomId: string): Promise<void> {
    await this.#client.joinRoom(roomId as RoomID);
    await this.member(roomId, this.userId);
  }

  /** Joins a room once it has the invitation. */
  async joinInvited(roomId: string): Promise<void> {
    await this.invitation(roomId);
    await this.join(roomId);
  }

  /** Says how far a peer's device is to be trusted, by the key that the peer itself names. */
  async setDeviceTrust(peer: Peer, trust: LocalTrust | undefined): Promise<void> {
    const { ed25519 } = await peer.deviceKeys();
    await this.crypto.setDeviceTrust({ userId: peer.user.userId, deviceId: peer.deviceId, ed25519 }, trust);
  }

  /** Waits until a condition holds, which is looked at now and after each sync. */
  async until(condition: () => Promise<boolean>): Promise<void> {
    const client = this.#client;
    let synced = Promise.withResolvers<void>();
    const handler = client.on("SYNC_SUCCESSFUL", () => {
      synced.resolve();
      synced = Promise.withResolvers();
    });
    try {
      for (;;) {
        const { promise } = synced;
        if (await condition()) return;
        await within(promise, "a sync");
      }
    } finally {
      client.removeEventHandler("SYNC_SUCCESSFUL", handler);
    }
  }

  /** Sends text. */
  async sendText(roomId: string, body: string): Promise<string> {
    return await this.#client.sendText(roomId as RoomID, body);
  }

  /** Closes the client and, if it is in memory, forgets its keys. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #begin(): Client {
    const { baseUrl } = this.#server;
    const { encryption = true } = this.#options;
    const { accessToken: token, userId: mxid, deviceId } = this.user;
    const lease = { duration: 1_000 }; // the successor of one that has ended does not wait long
    const client = new Client({
      baseUrl,
      accessToken: token,
      mxid,
      deviceId,
      lease,
      ...this.#options,
      encryption: encryption !== false && { ...EVERYBODY, ...encryption === true ? {} : encryption },
    });
    client.on("UNDECRYPTABLE", ({ event, code, reason, withheld = null }) => {
      this.#failed.add(event.event_id);
      const sessionId = String(event.content.session_id);
      this.tell({
        event: "undecryptable",
        ...ids(event),
        sessionId,
        reason: `${code}: ${reason.message}`,
        withheld,
      });
    }, { history: true });
    client.on(
      "INVITE",
      (event) => this.tell({ event: "invite", roomId: event.room_id, sender: event.sender }),
    );
    client.addEventHandler((event) => {
      if ("event_id" in event && event.state_key === undefined && event.type !== "m.room.encrypted") {
        this.#tellMessage(event as MessageEvent);
      } else if ("state_key" in event && event.state_key !== undefined && "room_id" in event) {
        this.#tellState(event as StateEvent);
      }
    }, { history: true });
    return client;
  }

  #tellMessage(event: MessageEvent): void {
    const { type, content, event_id } = event;
    const encryption = encryptionOf(event);
    if (event.sender === this.userId) return;
    const text = (value: unknown) => typeof value === "string" ? value : null;
    this.tell({
      event: "message",
      ...ids(event),
      type,
      content,
      msgtype: text(content.msgtype),
      body: text(content.body),
      encrypted: encryption !== undefined,
      trust: encryption?.senderTrust ?? null,
      late: this.#failed.has(event_id),
      sessionId: encryption?.sessionId ?? null,
    });
  }

  #tellState({ room_id, type, state_key: stateKey, content, sender }: StateEvent): void {
    const roomId = String(room_id);
    this.tell({ event: "state", roomId, type, stateKey, content });
    if (type !== "m.room.member") return;
    this.tell({ event: "member", roomId, userId: stateKey, membership: String(content.membership), sender });
  }

  async #synced(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let syncs = 0;
    this.#client.on("SYNC_SUCCESSFUL", () => {
      if (++syncs === 2) resolve();
    });
    const running = this.#client.start({ timeout: 1_000, fillGaps: false });
    await within(Promise.race([promise, running.then(() => promise)]), "to begin");
  }
}

function ids({ room_id, event_id, sender }: RoomEvent) {
  return { roomId: room_id, eventId: event_id, sender };
}

/** A store that the test closes. */
export type { Store };
