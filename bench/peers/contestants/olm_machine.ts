/**
 * matrix-sdk-crypto-wasm: a machine with its store in memory, fed by the least that a client can
 * be, as its clients feed it.
 *
 * @module
 */

import {
  DecryptionSettings,
  DeviceId,
  DeviceLists,
  EncryptionSettings,
  initAsync,
  OlmMachine,
  RequestType,
  RoomId,
  TrustRequirement,
  UserId,
} from "@matrix-org/matrix-sdk-crypto-wasm";
import { BareClient, type Response } from "./bare_client.ts";
import { count, drive } from "./drive.mjs";

const OWN_USER = "@me:example.org";
const PATHS = new Map([
  [RequestType.KeysUpload, "keys/upload"],
  [RequestType.KeysQuery, "keys/query"],
  [RequestType.KeysClaim, "keys/claim"],
]);

/** What a machine wants sent. */
interface Wanted {
  readonly id?: string;
  readonly type: RequestType;
  readonly body: string;
}

await initAsync();
const anyTrust = (): DecryptionSettings => new DecryptionSettings(TrustRequirement.Untrusted);

/** A client with a machine. */
class MachineClient {
  readonly #client: BareClient;
  readonly #machine: OlmMachine;
  /** Who is in which room. */
  readonly #members = new Map<string, Set<string>>();

  constructor(client: BareClient, machine: OlmMachine) {
    this.#client = client;
    this.#machine = machine;
  }

  /** Makes the requests that the machine wants made. */
  async carry(): Promise<void> {
    for (const request of await this.#machine.outgoingRequests()) await this.#make(request);
  }

  async send(roomId: string, body: string): Promise<unknown> {
    const users = [...this.#members.get(roomId) ?? []];
    await this.#machine.updateTrackedUsers(users.map((user) => new UserId(user)));
    await this.carry();
    const claim = await this.#machine.getMissingSessions(users.map((user) => new UserId(user)));
    if (claim !== null && claim !== undefined) await this.#make(claim);
    const members = users.map((user) => new UserId(user));
    const shared = await this.#machine.shareRoomKey(new RoomId(roomId), members, new EncryptionSettings());
    for (const { id, type, body, event_type: eventType, txn_id: transaction } of shared) {
      const answer = await this.#client.put(`sendToDevice/${eventType}/${transaction}`, JSON.parse(body));
      await this.#machine.markRequestAsSent(id, type, JSON.stringify(answer));
    }
    const content = JSON.stringify({ msgtype: "m.text", body });
    const encrypted = await this.#machine.encryptRoomEvent(new RoomId(roomId), "m.room.message", content);
    return await this.#client.send(roomId, "m.room.encrypted", JSON.parse(encrypted));
  }

  /** Takes a response. */
  async take({ to_device, rooms, device_one_time_keys_count: counts = {} }: Response): Promise<void> {
    await this.#machine.receiveSyncChanges(
      JSON.stringify(to_device?.events ?? []),
      new DeviceLists(),
      new Map(Object.entries(counts)),
      new Set(["signed_curve25519"]),
      anyTrust(),
    );
    for (const [roomId, { state, timeline }] of Object.entries(rooms?.join ?? {})) {
      if (state !== undefined) {
        const joined = state.events.filter(({ type }) => type === "m.room.member");
        this.#members.set(roomId, new Set(joined.map((event) => event.state_key ?? "")));
      }
      for (const event of timeline.events) {
        if (event.type === "m.room.encrypted") {
          const text = JSON.stringify({ ...event, room_id: roomId });
          const decrypted = await this.#machine.decryptRoomEvent(text, new RoomId(roomId), anyTrust());
          JSON.parse(decrypted.event);
        }
        count();
      }
    }
    await this.carry();
  }

  async #make({ id, type, body }: Wanted): Promise<void> {
    const path = PATHS.get(type);
    if (path === undefined) {
      throw new Error(`Cannot make a request of type ${type}: it is not supported`);
    }
    const answer = await this.#client.post(path, JSON.parse(body));
    if (id !== undefined) await this.#machine.markRequestAsSent(id, type, JSON.stringify(answer));
  }
}

await drive(async (token) => {
  const client = new BareClient(token);
  const machine = await OlmMachine.initialize(new UserId(OWN_USER), new DeviceId("BENCH"));
  const machineClient = new MachineClient(client, machine);
  await machineClient.carry();
  client.sync((response) => machineClient.take(response));
  return { send: (roomId, text) => machineClient.send(roomId, text) };
});
