/**
 * Other people's clients as peers in tests: each is a process of its own, and does what a test asks for.
 *
 * @module
 */

import type { PeerKind } from "./peer_kind.ts";
import type { PeerDevice, PeerFile, PeerImage, PeerOptions, PeerRoomOptions } from "./peer_options.ts";
import { PeerProcess } from "./peer_process.ts";
import { roomBody } from "./peer_room.ts";
import { PeerWatch } from "./peer_watch.ts";
import { newUser, type SynapseServer, type TestUser } from "../synapse.ts";

type Content = Record<string, unknown>;

/**
 * A client that is not ours. `await using` ends it. It accepts, and sends to, all devices, verified or not.
 */
export class Peer extends PeerWatch implements AsyncDisposable {
  readonly kind: PeerKind;
  readonly user: TestUser;
  readonly #homeserver: string;
  readonly #folder: string;
  #process: PeerProcess;

  private constructor(
    process: PeerProcess,
    parts: { kind: PeerKind; user: TestUser; homeserver: string; folder: string },
  ) {
    super();
    this.#process = process;
    this.kind = parts.kind;
    this.user = parts.user;
    this.#homeserver = parts.homeserver;
    this.#folder = parts.folder;
  }

  /**
   * Starts one, with a store of its own, and waits until it has synced and its keys are on the server.
   *
   * @param name The start of the localpart of the user that is registered for it.
   */
  static async start(
    kind: PeerKind,
    server: SynapseServer,
    name: string,
    options: PeerOptions = {},
  ): Promise<Peer> {
    const user = options.user ?? await newUser(server, name, { unlimited: "people" });
    const folder = await Deno.makeTempDir({ prefix: `greenroom-peer-${kind}-` });
    const { homeserver = server.baseUrl } = options;
    const peer = new Peer(await PeerProcess.start(kind), { kind, user, homeserver, folder });
    try {
      await peer.#login();
      await peer.resume();
    } catch (error) {
      await peer[Symbol.asyncDispose]();
      throw error;
    }
    return peer;
  }

  /** Its user ID. */
  get userId(): string {
    return this.user.userId;
  }

  /** The ID of its device. */
  get deviceId(): string {
    return this.user.deviceId;
  }

  /** Stops syncing and closes the store; `resume()` opens it again. js_sdk forgets its keys. */
  async stop(): Promise<void> {
    await this.#process.request("stop");
  }

  /** Starts again after {@linkcode Peer.prototype.stop}. */
  async resume(): Promise<void> {
    await this.#process.request("start");
  }

  /** Kills the process, and starts another with the store as it is; js_sdk has none, and can't. */
  async crash(): Promise<void> {
    await this.#process.end({ kill: true });
    this.#process = await PeerProcess.start(this.kind);
    await this.#login();
    await this.resume();
  }

  /** Keeps a copy of the store under a name, stopping it meanwhile. Not js_sdk. */
  saveStore(name: string): Promise<void> {
    return this.#whileStopped("saveStore", { name });
  }

  /**
   * Goes back to a copy of the store, as one does who restores a backup. Events since then are told again.
   * Not js_sdk.
   */
  restoreStore(name: string): Promise<void> {
    return this.#whileStopped("restoreStore", { name });
  }

  /** Loses all Olm sessions, and keeps the account. Not js_sdk. */
  forgetOlmSessions(): Promise<void> {
    return this.#whileStopped("forgetOlmSessions", {});
  }

  /** Invalidates its access token, with which the server removes the device; then it can do no more. */
  async logout(): Promise<void> {
    await this.stop();
    await this.#api("POST", "logout", {});
  }

  /** Creates a room and waits until the peer has it, with the invitations. */
  async createRoom(options: PeerRoomOptions = {}): Promise<string> {
    const { encrypted = true, invite = [] } = options;
    const { room_id: roomId } = await this.#api("POST", "createRoom", roomBody(options));
    await this.#process.request("awaitRoom", { roomId, encrypted });
    for (const userId of invite) await this.member(String(roomId), userId, "invite");
    return String(roomId);
  }

  /** Joins a room and waits until the peer has it, and its encryption. */
  async join(roomId: string, options: { encrypted?: boolean } = {}): Promise<void> {
    await this.#api("POST", `join/${encodeURIComponent(roomId)}`, {});
    await this.#process.request("awaitRoom", { roomId, encrypted: options.encrypted ?? true });
  }

  /** Waits for an invitation, and joins. */
  async joinInvited(roomId: string): Promise<void> {
    await this.invitation(roomId);
    await this.join(roomId);
  }

  async invite(roomId: string, userId: string): Promise<void> {
    await this.#membership(roomId, "invite", { user_id: userId });
  }

  async leave(roomId: string): Promise<void> {
    await this.#membership(roomId, "leave", {});
  }

  async kick(roomId: string, userId: string): Promise<void> {
    await this.#membership(roomId, "kick", { user_id: userId });
  }

  async ban(roomId: string, userId: string): Promise<void> {
    await this.#membership(roomId, "ban", { user_id: userId });
  }

  /** Sends a state event and returns its ID. */
  async setState(roomId: string, type: string, content: Content, stateKey = ""): Promise<string> {
    const path = `rooms/${encodeURIComponent(roomId)}/state/${type}/${encodeURIComponent(stateKey)}`;
    return String((await this.#api("PUT", path, content)).event_id);
  }

  /** Sends an event as the library sends it, that is encrypted, and returns its ID. */
  async sendRaw(roomId: string, type: string, content: Content): Promise<string> {
    return String(await this.#process.request("sendRaw", { roomId, type, content }));
  }

  /** Sends an event in clear into a room, encrypted or not. */
  async sendClear(roomId: string, type: string, content: Content): Promise<string> {
    const path = `rooms/${encodeURIComponent(roomId)}/send/${type}/${crypto.randomUUID()}`;
    return String((await this.#api("PUT", path, content)).event_id);
  }

  sendText(roomId: string, body: string): Promise<string> {
    return this.sendRaw(roomId, "m.room.message", { msgtype: "m.text", body });
  }

  sendReply(roomId: string, eventId: string, body: string): Promise<string> {
    const relation = { "m.in_reply_to": { event_id: eventId } };
    return this.sendRaw(roomId, "m.room.message", { msgtype: "m.text", body, "m.relates_to": relation });
  }

  sendEdit(roomId: string, eventId: string, body: string): Promise<string> {
    const content = { msgtype: "m.text", body: `* ${body}`, "m.new_content": { msgtype: "m.text", body } };
    const relation = { rel_type: "m.replace", event_id: eventId };
    return this.sendRaw(roomId, "m.room.message", { ...content, "m.relates_to": relation });
  }

  /** All of them send reactions in clear. */
  sendReaction(roomId: string, eventId: string, key: string): Promise<string> {
    const relation = { rel_type: "m.annotation", event_id: eventId, key };
    return this.sendRaw(roomId, "m.reaction", { "m.relates_to": relation });
  }

  /** Encrypts an image and its thumbnail, uploads and sends them. */
  async sendImage(roomId: string, image: PeerImage): Promise<string> {
    const { bytes, thumbnail, name, mimetype = "image/png" } = image;
    const upload = (data: Uint8Array) =>
      this.#process.request("upload", { bytes: data.toBase64(), mimetype });
    const thumbnailInfo = thumbnail && {
      thumbnail_file: await upload(thumbnail),
      thumbnail_info: { mimetype, size: thumbnail.length },
    };
    const info = { mimetype, size: bytes.length, ...thumbnailInfo };
    return await this.sendRaw(roomId, "m.room.message", {
      msgtype: "m.image",
      body: name,
      file: await upload(bytes),
      info,
    });
  }

  /** Downloads and decrypts a file: the `file`, or the `thumbnail_file`, of a decrypted content. */
  async download(file: unknown): Promise<PeerFile> {
    const answer = await this.#process.request("download", { file }) as { bytes: string; sha256: string };
    return { bytes: Uint8Array.fromBase64(answer.bytes), sha256: answer.sha256 };
  }

  /** The public identity keys of its device. */
  async deviceKeys(): Promise<{ ed25519: string; curve25519: string }> {
    return await this.#process.request("deviceKeys") as { ed25519: string; curve25519: string };
  }

  /** The devices of a user, as it has them now. */
  async devices(userId: string): Promise<PeerDevice[]> {
    return await this.#process.request("devices", { userId }) as PeerDevice[];
  }

  /** Waits until it has a device. */
  async awaitDevice(userId: string, deviceId: string): Promise<void> {
    await this.#process.request("awaitDevice", { userId, deviceId });
  }

  /** Trusts a device, or withholds keys from it. */
  async setDeviceTrust(
    device: { userId: string; deviceId: string },
    trust: "verified" | "blacklisted" | "unset",
  ): Promise<void> {
    const { userId, deviceId } = device;
    await this.#process.request("setDeviceTrust", { userId, deviceId, trust });
  }

  /** Discards the room's outbound Megolm session. */
  async rotate(roomId: string): Promise<void> {
    await this.#process.request("rotate", { roomId });
  }

  /** How long to wait until a wedged session is replaced once more, in place of an hour. Not js_sdk. */
  async setUnwedgeInterval(ms: number): Promise<void> {
    await this.#process.request("setUnwedgeInterval", { ms });
  }

  /** Requests the key of an event that it could not decrypt. js_sdk has no such requests. */
  async requestKey(eventId: string): Promise<void> {
    await this.#process.request("requestKey", { eventId });
  }

  /** Does what only one kind can; see the programs in `tests/e2e/peers`. */
  call(verb: string, args: Content): Promise<unknown> {
    return this.#process.request(verb, args);
  }

  /** Ends the process and removes its store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end();
    await Deno.remove(this.#folder, { recursive: true });
  }

  async #login(): Promise<void> {
    this.#process.listen((event) => this.tell(event));
    const { userId, deviceId, accessToken } = this.user;
    const store = `${this.#folder}/store`;
    await this.#process.request("login", {
      homeserver: this.#homeserver,
      userId,
      deviceId,
      accessToken,
      store,
    });
  }

  async #whileStopped(verb: string, args: Content): Promise<void> {
    await this.stop();
    await this.#process.request(verb, args);
    await this.resume();
  }

  async #membership(roomId: string, action: string, body: Content): Promise<void> {
    await this.#api("POST", `rooms/${encodeURIComponent(roomId)}/${action}`, body);
  }

  /**
   * What makes no difference to the library's cryptography goes to the server directly; the library gets it
   * by sync.
   */
  async #api(method: string, path: string, body: Content): Promise<Content> {
    const response = await fetch(`${this.#homeserver}/_matrix/client/v3/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.user.accessToken}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.ok) return await response.json();
    throw new Error(`Cannot ${method} ${path}: the server said ${response.status} ${await response.text()}`);
  }
}
