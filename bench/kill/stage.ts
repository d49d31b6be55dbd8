/**
 * The stage: three encrypted rooms, the victim's account, and who watches it and talks to it.
 *
 * @module
 */

import { Client, type Logger, type RoomID } from "@greenroom/matrix";
import { Peer } from "../../tests/e2e/support/peer.ts";
import { newDevice } from "../../tests/e2e/support/peer_device.ts";
import { newUser, type SynapseServer, type TestUser } from "../../tests/e2e/support/synapse.ts";
import type { VictimOrders } from "./victim.ts";

/** An event of the victim, as an observer of ours decrypted it. */
export interface Observed {
  readonly eventId: string;
  readonly body: string;
  readonly sessionId: string;
  readonly messageIndex: number;
}

/** A room, and the peers that are in it. */
export interface StageRoom {
  readonly roomId: RoomID;
  readonly peers: readonly Peer[];
}

/** After how many messages sessions rotate in one of the rooms. */
const ROTATION = 3;

/** Everything but the victim's process. */
export class Stage implements AsyncDisposable {
  readonly server: SynapseServer;
  readonly victim: TestUser;
  readonly folder: string;
  /** The observer of ours. */
  readonly observer: Client;
  readonly rooms: readonly StageRoom[];
  /** The observers of others. */
  readonly peers: readonly Peer[];
  /** What the observer of ours decrypted of the victim's. */
  readonly observed: Observed[] = [];
  /** What it could not decrypt at once, by event ID, with the reason. */
  readonly undecryptable = new Map<string, string>();
  /** What it wrote into its log. */
  readonly log: string[] = [];
  /** Who comes to the first room with a new device each time. */
  readonly visitor: TestUser;
  readonly #user: TestUser;
  readonly #stack: AsyncDisposableStack;
  #kept = false;

  private constructor(parts: {
    server: SynapseServer;
    folder: string;
    stack: AsyncDisposableStack;
    users: { victim: TestUser; observer: TestUser; visitor: TestUser };
    rooms: readonly StageRoom[];
  }) {
    const { server, folder, stack, users, rooms } = parts;
    this.server = server;
    this.folder = folder;
    this.victim = users.victim;
    this.visitor = users.visitor;
    this.#user = users.observer;
    this.#stack = stack;
    this.rooms = rooms;
    this.peers = [...new Set(rooms.flatMap(({ peers }) => peers))];
    const { baseUrl } = server;
    this.observer = new Client({
      baseUrl,
      token: users.observer.accessToken,
      encryption: true,
      log: this.#logger(),
    });
    stack.use(this.observer);
    this.#watch();
  }

  /** Sets it up: all have joined, and nobody has said anything. */
  static async build(server: SynapseServer): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "greenroom-kill-" });
    const victim = await newUser(server, "victim");
    const observer = await newUser(server, "observer");
    const visitor = await newUser(server, "visitor");
    const nio = stack.use(await Peer.start("nio", server, "nio"));
    const first = stack.use(await Peer.start("nio", server, "pair"));
    const user = await newDevice(server, first.user);
    const second = stack.use(await Peer.start("nio", server, "pair", { user }));
    const rooms: StageRoom[] = [];
    const casts = [[nio], [nio], [nio, first, second]];
    for (const [index, peers] of casts.entries()) {
      const guests = [victim, observer, ...[[visitor], [], [first.user]][index] ?? []];
      const invite = guests.map(({ userId }) => userId);
      const rotationPeriodMsgs = index === 1 ? ROTATION : undefined;
      const roomId = await nio.createRoom({ invite, rotationPeriodMsgs }) as RoomID;
      for (const guest of guests) await post(server, guest, `join/${encodeURIComponent(roomId)}`, {});
      for (const peer of peers) await peer.call("awaitRoom", { roomId, encrypted: true });
      rooms.push({ roomId, peers });
    }
    const kept = stack.move();
    const stage = new Stage({ server, folder, stack: kept, users: { victim, observer, visitor }, rooms });
    stage.#start();
    return stage;
  }

  /** What the victim is told. */
  orders(options: { quiet?: boolean } = {}): VictimOrders {
    return {
      baseUrl: this.server.baseUrl,
      token: this.victim.accessToken,
      userId: this.victim.userId,
      store: `${this.folder}/victim.db`,
      ledger: this.ledger,
      rooms: this.rooms.map(({ roomId }) => roomId),
      quiet: options.quiet ?? false,
    };
  }

  /** The victim's ledger. */
  get ledger(): string {
    return `${this.folder}/ledger.jsonl`;
  }

  /** Whether the victim's device has published its keys. */
  async victimIsPublished(): Promise<boolean> {
    const { userId, deviceId } = this.victim;
    const answer = await post(this.server, this.#user, "keys/query", { device_keys: { [userId]: [] } });
    const devices = answer.device_keys as Record<string, Record<string, unknown>>;
    return devices[userId]?.[deviceId] !== undefined;
  }

  /** Takes one-time keys of the victim away, so that it has to make more. */
  async claimKeys(count: number): Promise<number> {
    const { userId, deviceId } = this.victim;
    let claimed = 0;
    for (let i = 0; i < count; i++) {
      const body = { one_time_keys: { [userId]: { [deviceId]: "signed_curve25519" } } };
      const answer = await post(this.server, this.#user, "keys/claim", body);
      claimed += Object.keys(answer.one_time_keys as object).length;
    }
    return claimed;
  }

  /** All encrypted events of a room, as the server has them. */
  async history(roomId: RoomID): Promise<{ eventId: string; sender: string; content: Content }[]> {
    const events = [];
    for (let from = "";;) {
      const query = new URLSearchParams({ dir: "f", limit: "1000", ...from && { from } });
      const path = `rooms/${encodeURIComponent(roomId)}/messages?${query}`;
      const page = await request(this.server, this.#user, "GET", path);
      for (const event of page.chunk as RawEvent[]) {
        if (event.type !== "m.room.encrypted") continue;
        events.push({ eventId: event.event_id, sender: event.sender, content: event.content });
      }
      if (typeof page.end !== "string") return events;
      from = page.end;
    }
  }

  /** Leaves the victim's files where they are, and returns the folder. */
  keep(): string {
    this.#kept = true;
    return this.folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.observer.stop();
    await this.#stack.disposeAsync();
    if (!this.#kept) await Deno.remove(this.folder, { recursive: true });
  }

  #watch(): void {
    this.observer.on("m.room.message", ({ sender, event_id: eventId, content: { body }, encryption }) => {
      if (sender !== this.victim.userId || encryption === undefined) return;
      const { sessionId, messageIndex } = encryption;
      this.observed.push({ eventId, body, sessionId, messageIndex });
    });
    this.observer.on("UNDECRYPTABLE", ({ event: { event_id: eventId, sender }, code, reason }) => {
      if (sender === this.victim.userId) this.undecryptable.set(eventId, `${code}: ${reason.message}`);
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

type Content = Record<string, unknown>;

interface RawEvent {
  readonly type: string;
  readonly event_id: string;
  readonly sender: string;
  readonly content: Content;
}

function post(server: SynapseServer, user: TestUser, path: string, body: Content): Promise<Content> {
  return request(server, user, "POST", path, body);
}

async function request(
  server: SynapseServer,
  user: TestUser,
  method: string,
  path: string,
  body?: Content,
): Promise<Content> {
  const response = await fetch(`${server.baseUrl}/_matrix/client/v3/${path}`, {
    method,
    headers: { authorization: `Bearer ${user.accessToken}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (response.ok) return await response.json();
  throw new Error(`Cannot ${method} ${path}: the server said ${response.status} ${await response.text()}`);
}
