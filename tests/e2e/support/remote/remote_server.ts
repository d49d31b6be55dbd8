/**
 * A homeserver that an attacker runs: as much of one as it takes to invite users of Synapse, to have them
 * join, and to send what it likes.
 *
 * @see {@link https://spec.matrix.org/v1.19/server-server-api/ | Server-server API}
 * @module
 */

import type { JsonObject } from "@greenroom/matrix/types";
import type { SynapseServer } from "../synapse.ts";
import { CERTIFICATE } from "./certificate.ts";
import { eventIdOf, type Pdu, ROOM_VERSION, ServerKey } from "./pdu.ts";

/** What is sent of an event. */
export interface RemoteEvent {
  readonly type: string;
  readonly sender: string;
  readonly content: JsonObject;
  readonly state_key?: string;
}

/** A room of it. */
interface RemoteRoom {
  readonly id: string;
  /** Its state, by type and state key. */
  readonly state: Map<string, Pdu>;
  /** The last event, and how many there are. */
  last: string | undefined;
  depth: number;
}

const API = "/_matrix/federation";
const AUTHORISING = ["m.room.create", "m.room.power_levels"];

/** The homeserver. */
export class RemoteServer implements AsyncDisposable {
  /** Its name, which says where it is. */
  readonly name: string;
  readonly #synapse: SynapseServer;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #key: Promise<ServerKey>;
  readonly #rooms = new Map<string, RemoteRoom>();
  readonly #profiles = new Map<string, JsonObject>();
  readonly #ids = new WeakMap<object, string>();
  readonly #received: Pdu[] = [];
  #changed = Promise.withResolvers<void>();
  #count = 0;

  /**
   * Begins to listen.
   *
   * @param synapse The Synapse that it talks with, which federates.
   */
  constructor(synapse: SynapseServer) {
    this.#synapse = synapse;
    const listening = { hostname: "127.0.0.1", port: 0, onListen() {}, ...CERTIFICATE };
    this.#server = Deno.serve(listening, async (request) => {
      const answer = await this.#answer(request);
      return answer === undefined
        ? Response.json({ errcode: "M_NOT_FOUND", error: "Not here" }, { status: 404 })
        : Response.json(answer);
    });
    this.name = `127.0.0.1:${this.#server.addr.port}`;
    this.#key = ServerKey.of(this.name);
  }

  /** A user of it. */
  user(localpart: string, profile?: JsonObject): string {
    const userId = `@${localpart}:${this.name}`;
    if (profile !== undefined) this.#profiles.set(userId, profile);
    return userId;
  }

  /** Makes a room into which its creator invites. */
  async createRoom(creator: string): Promise<string> {
    const id = `!room${++this.#count}:${this.name}`;
    this.#rooms.set(id, { id, state: new Map(), last: undefined, depth: 0 });
    const state = (type: string, content: JsonObject, state_key = "") =>
      this.add(id, { type, sender: creator, state_key, content });
    await state("m.room.create", { creator, room_version: ROOM_VERSION });
    await state("m.room.member", { membership: "join" }, creator);
    await state("m.room.power_levels", { users: { [creator]: 100 } });
    await state("m.room.join_rules", { join_rule: "invite" });
    return id;
  }

  /** Makes an event, and takes it into the room. */
  async add(roomId: string, event: RemoteEvent): Promise<Pdu> {
    const made = await this.sign(roomId, event);
    await this.#take(roomId, made);
    return made;
  }

  /**
   * Invites a user of Synapse.
   *
   * @param sentAlong The state that is said to be the room's.
   */
  async invite(
    roomId: string,
    { by, user, sentAlong }: {
      readonly by: string;
      readonly user: string;
      readonly sentAlong: readonly JsonObject[];
    },
  ): Promise<void> {
    const content = { membership: "invite" };
    const event = await this.sign(roomId, { type: "m.room.member", sender: by, state_key: user, content });
    const path = `${API}/v2/invite/${encodeURIComponent(roomId)}/${
      encodeURIComponent(await eventIdOf(event))
    }`;
    await this.#request("PUT", path, { event, invite_room_state: sentAlong, room_version: ROOM_VERSION });
    await this.#take(roomId, event);
  }

  /** Sends events to Synapse, and returns what it says of each. */
  async send(...pdus: readonly Pdu[]): Promise<JsonObject> {
    const transaction = { origin: this.name, origin_server_ts: Date.now(), pdus };
    const { pdus: said } = await this.#request("PUT", `${API}/v1/send/txn${++this.#count}`, transaction);
    return said as JsonObject;
  }

  /** Waits until a user of Synapse has joined, and returns the event. */
  async joined(roomId: string, user: string): Promise<Pdu> {
    while (true) {
      const member = this.#rooms.get(roomId)?.state.get(stateKey("m.room.member", user));
      if (member?.content.membership === "join") return member;
      await this.#changed.promise;
    }
  }

  /** Waits for an event of Synapse. */
  async receive(fits: (pdu: Pdu) => boolean): Promise<Pdu> {
    while (true) {
      const found = this.#received.find(fits);
      if (found !== undefined) return found;
      await this.#changed.promise;
    }
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<object | undefined> {
    const { pathname, searchParams } = new URL(request.url);
    const [, action, roomId = "", last = ""] =
      pathname.match(/^\/_matrix\/(?:federation\/v\d|key\/v2)\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/) ?? [];
    const room = this.#rooms.get(decodeURIComponent(roomId));
    switch (action) {
      case "server":
        return await this.#keys();
      case "query":
        return this.#profiles.get(searchParams.get("user_id") ?? "") ?? {};
      case "send": {
        const { pdus }: { pdus: Pdu[] } = await request.json();
        for (const pdu of pdus) {
          await this.#take(pdu.room_id, pdu);
          this.#received.push(pdu);
        }
        this.#tell();
        return { pdus: {} };
      }
      case "make_join":
        return room && { room_version: ROOM_VERSION, event: this.#joinOf(room, decodeURIComponent(last)) };
      case "send_join": {
        const event: Pdu = await request.json();
        const state = [...room?.state.values() ?? []];
        if (room === undefined) return undefined;
        await this.#take(room.id, event);
        this.#tell();
        return { origin: this.name, members_omitted: false, state, auth_chain: state, event };
      }
    }
    return undefined;
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #keys(): Promise<JsonObject> {
    const key = await this.#key;
    return await key.signed({
      server_name: this.name,
      verify_keys: { [key.id]: { key: key.public } },
      old_verify_keys: {},
      valid_until_ts: Date.now() + 86_400_000,
    });
  }

  #joinOf(room: RemoteRoom, user: string): JsonObject {
    return this.#placed(room, {
      type: "m.room.member",
      sender: user,
      state_key: user,
      content: { membership: "join" },
    });
  }

  /** An event at the end of a room. */
  #placed(room: RemoteRoom, event: RemoteEvent): Pdu {
    const isMember = event.type === "m.room.member";
    const members = isMember ? [event.sender, event.state_key ?? ""] : [event.sender];
    const authorising = [
      ...[...AUTHORISING, ...(isMember ? ["m.room.join_rules"] : [])].map((type) => stateKey(type, "")),
      ...members.map((member) => stateKey("m.room.member", member)),
    ];
    return {
      ...event,
      room_id: room.id,
      depth: room.depth + 1,
      prev_events: room.last === undefined ? [] : [room.last],
      auth_events: [...new Set(authorising.flatMap((key) => this.#ids.get(room.state.get(key) ?? {}) ?? []))],
      origin_server_ts: Date.now(),
      origin: this.name,
    };
  }

  /** Makes an event that stands in no room, as if its sender were a user here. */
  async sign(roomId: string, event: RemoteEvent): Promise<Pdu> {
    const room = this.#rooms.get(roomId);
    if (room === undefined) throw new Error(`There is no room ${roomId}`);
    return await (await this.#key).signedEvent(this.#placed(room, event));
  }

  async #take(roomId: string, event: Pdu): Promise<void> {
    const room = this.#rooms.get(roomId);
    if (room === undefined) return;
    const id = await eventIdOf(event);
    this.#ids.set(event, id);
    room.last = id;
    room.depth++;
    if (event.state_key !== undefined) room.state.set(stateKey(event.type, event.state_key), event);
  }

  /** Requests something of Synapse. */
  async #request(method: string, uri: string, content: JsonObject): Promise<JsonObject> {
    const key = await this.#key;
    const { baseUrl, serverName: destination } = this.#synapse;
    const signature = await key.signatureOf({ method, uri, origin: this.name, destination, content });
    const authorization =
      `X-Matrix origin="${this.name}",destination="${destination}",key="${key.id}",sig="${signature}"`;
    const response = await fetch(`${baseUrl}${uri}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(content),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`Synapse refuses ${uri}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }
}

function stateKey(type: string, key: string): string {
  return JSON.stringify([type, key]);
}
