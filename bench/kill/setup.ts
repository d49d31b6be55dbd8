/**
 * The setup of a run: encrypted rooms and others, the bot's account, an observer and peers.
 *
 * @module
 */

import { Client, encryptionOf, type Logger } from "@greenroom/matrix";
import type { Registration } from "@greenroom/matrix/appservice";
import type { RoomID } from "@greenroom/matrix/types";
import { Peer } from "../../tests/e2e/support/peer/peer.ts";
import { newDevice } from "../../tests/e2e/support/peer/peer_device.ts";
import { newUser, type SynapseServer, type TestUser } from "../../tests/e2e/support/synapse.ts";
import { encryptedRoom, history, joinAll, plainRoom, request, type ServerEvent } from "./homeserver.ts";
import { LedgerReader } from "./ledger_reader.ts";
import { type StoreKind, StorePlace } from "./store_place.ts";
import type { BotOrders } from "./bot.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** An event of the bot, as an observer of ours decrypted it. */
export interface Observed {
  readonly eventId: string;
  readonly roomId: string;
  readonly body: string;
  readonly sessionId: string;
  readonly messageIndex: number;
}

/** An encrypted room, and the peers that are in it. */
export interface SetupRoom {
  readonly roomId: RoomID;
  readonly peers: readonly Peer[];
}

/** After how many messages sessions rotate in one of the rooms. */
const ROTATION = 3;
/** How many rooms are not encrypted, and how many users send there. */
const PLAIN = { rooms: 2, guests: 2 };

interface SetupParts {
  readonly server: SynapseServer;
  readonly folder: string;
  readonly place: StorePlace;
  readonly stack: AsyncDisposableStack;
  readonly users: {
    readonly bot: BotUser;
    readonly observer: TestUser;
    readonly visitor: TestUser;
    readonly guests: readonly TestUser[];
  };
  readonly rooms: readonly SetupRoom[];
  readonly plainRooms: readonly RoomID[];
  readonly way: Way;
}

/** How the bot gets what is new. */
export interface Way {
  /** Where the homeserver wakes it, or sends transactions; undefined: it polls. */
  readonly port?: number;
  /** What the homeserver has of the application service that it is. */
  readonly registration?: Registration;
  /** How it syncs, if it does. Default: by the classic sync. */
  readonly sync?: "sliding";
}

/** A bot's account; `asUserId` is that of an application service's user. */
export type BotUser = TestUser & { readonly asUserId?: string };

/** Everything except the bot's process. */
export class Setup implements AsyncDisposable {
  readonly server: SynapseServer;
  readonly bot: BotUser;
  readonly folder: string;
  /** Where the bot's store is. */
  readonly place: StorePlace;
  /** The bot's ledger. */
  readonly ledger: LedgerReader;
  /** The observer of ours. */
  readonly observer: Client;
  /** The encrypted rooms. */
  readonly rooms: readonly SetupRoom[];
  /** The others. */
  readonly plainRooms: readonly RoomID[];
  /** The users who send there. */
  readonly guests: readonly TestUser[];
  /** The observers of others. */
  readonly peers: readonly Peer[];
  /** The bot's events that the observer decrypted. */
  readonly observed: Observed[] = [];
  /** The events that it could not decrypt at first, by event ID, with the reason. */
  readonly undecryptable = new Map<string, string>();
  /** Its log. */
  readonly log: string[] = [];
  /** The user who visits the first room with a new device each time. */
  readonly visitor: TestUser;
  readonly #user: TestUser;
  readonly #stack: AsyncDisposableStack;
  readonly #way: Way;
  #kept = false;

  private constructor(
    { server, folder, place, stack, users, rooms, plainRooms, way }: SetupParts,
  ) {
    this.server = server;
    this.#way = way;
    this.folder = folder;
    this.place = place;
    this.bot = users.bot;
    this.visitor = users.visitor;
    this.guests = users.guests;
    this.#user = users.observer;
    this.#stack = stack;
    this.rooms = rooms;
    this.plainRooms = plainRooms;
    this.peers = [...new Set(rooms.flatMap(({ peers }) => peers))];
    this.ledger = stack.use(new LedgerReader(this.#ledgerPath));
    this.observer = stack.use(
      new Client({
        baseUrl: server.baseUrl,
        accessToken: users.observer.accessToken,
        encryption: EVERYBODY,
        log: this.#logger(),
      }),
    );
    this.#watch();
  }

  /**
   * Builds it: all users have joined, and no message was sent.
   *
   * @param server The server.
   * @param options `store`: the kind of the bot's store; `peers`: who is in the encrypted rooms
   * beside the observer: devices of nio in three rooms, or no others in one; `way`: how the bot gets
   * what is new, if it does not poll.
   */
  static async build(
    server: SynapseServer,
    { store, peers, way = {} }: { store: StoreKind; peers: "nio" | "none"; way?: Way },
  ): Promise<Setup> {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "greenroom-kill-" });
    const place = stack.use(await StorePlace.make(store, folder));
    const [bot, observer, visitor] = [
      await botUser(server, way),
      await newUser(server, "observer", { unlimited: "people" }),
      await newUser(server, "visitor", { unlimited: "people" }),
    ];
    const guests: TestUser[] = [];
    for (let i = 0; i < PLAIN.guests; i++) {
      guests.push(await newUser(server, "guest", { unlimited: "people" }));
    }
    const rooms = peers === "nio"
      ? await nioRooms(stack, server, { bot, observer, visitor })
      : [{ roomId: await encryptedRoom(server, observer, [bot]), peers: [] }];
    const plainRooms: RoomID[] = [];
    for (let i = 0; i < PLAIN.rooms; i++) {
      plainRooms.push(await plainRoom(server, observer, [bot, ...guests]));
    }
    const users = { bot, observer, visitor, guests };
    const made = { server, folder, place, users, rooms, plainRooms, way };
    const setup = new Setup({ ...made, stack: stack.move() });
    setup.#start();
    return setup;
  }

  /**
   * The orders of a process of the bot.
   *
   * @param options `talks`: whether it sends messages of its own; `patience`: how long it waits
   * for a store's server that is down, in milliseconds; `stays`: whether an application service is
   * started, or handles each transaction with its request.
   */
  orders({ talks, patience, stays = true }: OrderOptions): BotOrders {
    return {
      baseUrl: this.server.baseUrl,
      token: this.bot.accessToken,
      userId: this.bot.userId,
      store: this.place.orders(patience),
      ledger: this.#ledgerPath,
      rooms: this.rooms.map(({ roomId }) => roomId),
      unknown: [...this.ledger.unknown],
      next: this.ledger.next,
      quiet: !talks,
      port: this.#way.port,
      registration: this.#way.registration,
      sync: this.#way.sync,
      stays,
    };
  }

  /** Records in the bot's ledger that its store's server is about to be killed. */
  noteOutage(): void {
    const line = JSON.stringify({ kind: "outage" });
    Deno.writeTextFileSync(this.#ledgerPath, `\n${line}\n`, { append: true });
  }

  /** Whether the bot's device has published its keys. */
  async botIsPublished(): Promise<boolean> {
    const { userId, deviceId } = this.bot;
    const query = { device_keys: { [userId]: [] } };
    const answer = await request(this.server, this.#user, ["POST", "keys/query"], query);
    const devices = answer.device_keys as Record<string, Record<string, unknown>>;
    return devices[userId]?.[deviceId] !== undefined;
  }

  /** Claims one-time keys of the bot, so that it has to make more. */
  async claimKeys(count: number): Promise<void> {
    const { userId, deviceId } = this.bot;
    for (let i = 0; i < count; i++) {
      const body = { one_time_keys: { [userId]: { [deviceId]: "signed_curve25519" } } };
      await request(this.server, this.#user, ["POST", "keys/claim"], body);
    }
  }

  /** All events of a room, as the server has them. */
  history(roomId: RoomID): Promise<ServerEvent[]> {
    return history(this.server, this.#user, roomId);
  }

  /** Keeps the bot's files, and returns the folder. */
  keep(): string {
    this.#kept = true;
    return this.folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.observer.stop();
    await this.#stack.disposeAsync();
    if (!this.#kept) await Deno.remove(this.folder, { recursive: true });
  }

  get #ledgerPath(): string {
    return `${this.folder}/ledger.jsonl`;
  }

  #watch(): void {
    this.observer.on("m.room.message", (event) => {
      const { sender, event_id: eventId, room_id: roomId, content: { body } } = event;
      const encryption = encryptionOf(event);
      if (sender !== this.bot.userId || encryption === undefined) return;
      const { sessionId, messageIndex } = encryption;
      this.observed.push({ eventId, roomId, body, sessionId, messageIndex });
    });
    this.observer.on("UNDECRYPTABLE", ({ event: { event_id: eventId, sender }, code, reason }) => {
      if (sender === this.bot.userId) this.undecryptable.set(eventId, `${code}: ${reason.message}`);
    });
  }

  #start(): void {
    this.observer.start({ fillGaps: true }).catch((error) => this.log.push(`syncing ended: ${error}`));
  }

  #logger(): Logger {
    const at = (level: string) => (message: string, data: unknown = {}): void => {
      this.log.push(`${level}: ${message} ${Deno.inspect(data).slice(0, 300)}`);
    };
    return { debug: () => {}, info: () => {}, warn: at("warn"), error: at("error") };
  }
}

/** What of the orders is not always the same. */
interface OrderOptions {
  readonly talks: boolean;
  readonly patience?: number;
  readonly stays?: boolean;
}

/** A new user, or the own user of an application service. */
async function botUser(server: SynapseServer, { registration }: Way): Promise<BotUser> {
  if (registration === undefined) return await newUser(server, "bot", { unlimited: "measured" });
  const { as_token: accessToken, "greenroom.bot": localpart = "" } = registration;
  const body = { type: "m.login.application_service", username: localpart, inhibit_login: true };
  await request(server, { accessToken }, ["POST", "register"], body);
  const userId = `@${localpart}:${server.serverName}` as const;
  return { userId, asUserId: userId, accessToken, localpart, deviceId: "GREENROOM", password: "" };
}

/** Three rooms with devices of nio: one in all of them, two more in the last. */
async function nioRooms(
  stack: AsyncDisposableStack,
  server: SynapseServer,
  { bot, observer, visitor }: Record<"bot" | "observer" | "visitor", BotUser>,
): Promise<SetupRoom[]> {
  const nio = stack.use(await Peer.start("nio", server, "nio"));
  const first = stack.use(await Peer.start("nio", server, "pair"));
  const user = await newDevice(server, first.user);
  const second = stack.use(await Peer.start("nio", server, "pair", { user }));
  const rooms: SetupRoom[] = [];
  const peersOfRooms = [[nio], [nio], [nio, first, second]];
  for (const [index, peers] of peersOfRooms.entries()) {
    const members = [bot, observer, ...[[visitor], [], [first.user]][index] ?? []];
    const invite = members.map(({ userId }) => userId);
    const rotationPeriodMsgs = index === 1 ? ROTATION : undefined;
    const roomId = await nio.createRoom({ invite, rotationPeriodMsgs }) as RoomID;
    await joinAll(server, members, roomId);
    for (const peer of peers) await peer.call("awaitRoom", { roomId, encrypted: true });
    rooms.push({ roomId, peers });
  }
  return rooms;
}
