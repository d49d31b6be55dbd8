/**
 * matrix-sdk-crypto-wasm: two machines with stores in memory, driven as its clients drive them.
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
import { readCrowd } from "./crowd.ts";
import { option, serveJobs, timed } from "./job.ts";
import { CONTENT, encryptedEvent, ENCRYPTION, EVENT_TYPE, ROOM } from "./message.ts";
import { Switchboard } from "./switchboard.ts";

const DEVICE_ID = "BENCH";

await initAsync();
const crowd = await readCrowd(option("crowd", ""));
const settings = new EncryptionSettings();
settings.rotationPeriodMessages = BigInt(ENCRYPTION.rotation_period_msgs);
/** Who is given it frees it. */
const anyTrust = (): DecryptionSettings => new DecryptionSettings(TrustRequirement.Untrusted);

/** A machine and what carries its requests. */
class Device {
  readonly machine: OlmMachine;
  readonly userId: string;
  readonly #switchboard: Switchboard;

  private constructor(machine: OlmMachine, userId: string, switchboard: Switchboard) {
    this.machine = machine;
    this.userId = userId;
    this.#switchboard = switchboard;
  }

  static async make(userId: string, switchboard: Switchboard): Promise<Device> {
    const machine = await OlmMachine.initialize(new UserId(userId), new DeviceId(DEVICE_ID));
    const device = new Device(machine, userId, switchboard);
    await device.carry();
    return device;
  }

  /** Makes the requests that the machine wants made. */
  async carry(): Promise<void> {
    for (const request of await this.machine.outgoingRequests()) {
      const body = JSON.parse(request.body);
      const { id = "", type } = request;
      if (type === RequestType.KeysUpload) {
        await this.#done(id, type, this.#switchboard.upload(this.userId, DEVICE_ID, body));
      } else if (type === RequestType.KeysQuery) {
        await this.#done(id, type, this.#switchboard.query(Object.keys(body.device_keys)));
      } else {
        throw new Error(`Cannot carry a request of type ${type}: it is not supported`);
      }
    }
  }

  /** Looks up users' devices. */
  async lookUp(users: readonly string[]): Promise<void> {
    await this.machine.updateTrackedUsers(users.map((user) => new UserId(user)));
    await this.carry();
  }

  /** Makes a room ready for an event. */
  async share(roomId: string, users: readonly string[]): Promise<void> {
    const claim = await this.machine.getMissingSessions(users.map((user) => new UserId(user)));
    if (claim !== null && claim !== undefined) {
      const { one_time_keys: wanted } = JSON.parse(claim.body);
      await this.#done(claim.id, claim.type, this.#switchboard.claim(wanted));
    }
    const members = users.map((user) => new UserId(user));
    for (const request of await this.machine.shareRoomKey(new RoomId(roomId), members, settings)) {
      const { messages } = JSON.parse(request.body);
      const answer = this.#switchboard.send(this.userId, request.event_type, messages);
      await this.#done(request.id, request.type, answer);
    }
  }

  async encrypt(roomId: string): Promise<object> {
    const content = JSON.stringify(CONTENT);
    return JSON.parse(await this.machine.encryptRoomEvent(new RoomId(roomId), EVENT_TYPE, content));
  }

  /** Receives a sync. */
  async sync(events: readonly string[]): Promise<void> {
    const toDevice = JSON.stringify(this.#switchboard.collect(this.userId, DEVICE_ID));
    const counts = new Map([["signed_curve25519", this.#switchboard.count(this.userId, DEVICE_ID)]]);
    const fallback = new Set(["signed_curve25519"]);
    await this.machine.receiveSyncChanges(toDevice, new DeviceLists(), counts, fallback, anyTrust());
    for (const event of events) await this.decrypt(event);
  }

  async decrypt(event: string): Promise<unknown> {
    return JSON.parse((await this.machine.decryptRoomEvent(event, new RoomId(ROOM), anyTrust())).event);
  }

  #done(id: string, type: RequestType, answer: object): Promise<boolean> {
    return this.machine.markRequestAsSent(id, type, JSON.stringify(answer));
  }
}

const switchboard = new Switchboard();
const [alice, bob] = [
  await Device.make("@alice:example.org", switchboard),
  await Device.make("@bob:example.org", switchboard),
];
await alice.lookUp([alice.userId, bob.userId]);
await bob.lookUp([alice.userId, bob.userId]);

async function ready(): Promise<void> {
  await alice.machine.invalidateGroupSession(new RoomId(ROOM));
  await alice.share(ROOM, [alice.userId, bob.userId]);
  await bob.sync([]);
  await bob.carry();
}

async function received(count: number): Promise<string[]> {
  await ready();
  const events: string[] = [];
  for (let index = 0; index < count; index++) {
    const content = await alice.encrypt(ROOM);
    events.push(JSON.stringify(encryptedEvent(content, { sender: alice.userId })));
  }
  return events;
}

await serveJobs({
  async encrypt(count) {
    await ready();
    return await timed(async () => {
      for (let index = 0; index < count; index++) await alice.encrypt(ROOM);
    });
  },
  async decrypt_one(count) {
    const events = await received(count);
    return await timed(async () => {
      for (const event of events) await bob.sync([event]);
    });
  },
  async decrypt_event(count) {
    const events = await received(count);
    return await timed(async () => {
      for (const event of events) await bob.decrypt(event);
    });
  },
  async decrypt_sync(count) {
    const events = await received(count);
    return await timed(() => bob.sync(events));
  },
  async first_message() {
    const users = Object.keys(crowd.deviceKeys);
    const device = await Device.make("@dave:example.org", new Switchboard(crowd));
    await device.lookUp([device.userId, ...users]);
    const took = await timed(async () => {
      await device.share("!crowd:example.org", [device.userId, ...users]);
      await device.encrypt("!crowd:example.org");
    });
    device.machine.close();
    return took;
  },
});
