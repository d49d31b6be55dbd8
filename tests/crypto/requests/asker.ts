/** A device that asks for keys and is asked. */

import type {
  CryptoDevice,
  DeviceTrust,
  JsonObject,
  MegolmSessionRef,
  MessageEvent,
} from "@greenroom/matrix/types";
import { KeyRequests, type KeyRequestsOptions } from "../../../src/crypto/key_requests/key_requests.ts";
import { Outbox, type OutboxEntry } from "../../../src/crypto/requests/requests.ts";
import type { TestContextOptions } from "../support/context.ts";
import { ME, MEGOLM, newDevice, Receiver, type Sender, toDevice } from "../megolm/support.ts";

/** A device that asks and answers. What it encrypts for devices is left as it is. */
export class Asker extends Receiver {
  outbox = new Outbox();
  requests: KeyRequests;
  /** From which index on devices have which session, by the Curve25519 key that they had then. */
  readonly shared = new Map<string, number>();
  sharedAt: KeyRequestsOptions["outbound"]["sharedAt"] = (_tx, _roomId, _sessionId, { curve25519 }) =>
    Promise.resolve(this.shared.get(curve25519));
  /** Devices with which there is no Olm session. */
  readonly unreachable = new Set<string>();
  readonly wanted: string[] = [];

  constructor(options: TestContextOptions = {}) {
    super(options);
    this.requests = this.#make();
  }

  async reopen(): Promise<void> {
    this.restart();
    this.outbox = new Outbox();
    this.requests = this.#make();
    await this.step(async (tx) => {
      await this.outbox.load(tx);
      await this.requests.load(tx);
    });
  }

  /** Another device of the own user. */
  ownDevice(deviceId: string, trust: DeviceTrust = "verified"): CryptoDevice {
    return this.devices.put(newDevice(this, ME, { deviceId, trust }));
  }

  want(event: MessageEvent): Promise<void> {
    return this.step((tx) => this.requests.want(tx, event));
  }

  /** What was sent since the last time, by device. */
  async sent(): Promise<[type: string, device: string, content: JsonObject][]> {
    const entries = this.outbox.pending() as Extract<OutboxEntry, { kind: "toDevice" }>[];
    await this.step((tx) => entries.forEach(({ id }) => this.outbox.remove(tx, id)));
    return entries.flatMap(({ eventType, messages }) =>
      Object.values(messages).flatMap((devices) =>
        Object.entries(devices).map(([id, content]) =>
          [eventType, id, content] as [string, string, JsonObject]
        )
      )
    );
  }

  forward(
    device: CryptoDevice | undefined,
    content: JsonObject,
    sender = device?.userId ?? ME,
  ): Promise<MegolmSessionRef | undefined> {
    return this.step((tx) => this.requests.receiveForward(tx, { sender, device, content }));
  }

  ask({ userId, deviceId }: CryptoDevice, session: Sender, change: JsonObject = {}): Promise<void> {
    const body = {
      algorithm: MEGOLM,
      room_id: session.roomId,
      session_id: session.sessionId,
      sender_key: "x",
    };
    const content = { action: "request", requesting_device_id: deviceId, request_id: "r1", body, ...change };
    return this.step((tx) =>
      this.requests.answers.receive(tx, toDevice(userId, "m.room_key_request", content))
    );
  }

  #make(): KeyRequests {
    return new KeyRequests({
      context: this.context,
      devices: this.devices,
      outbox: { add: (tx, entry, when) => this.outbox.add(tx, entry, when) },
      inbound: {
        import: (tx, key) => this.inbound.import(tx, key),
        exportSession: (tx, session, index) => this.inbound.exportSession(tx, session, index),
      },
      outbound: {
        sharedAt: (...asked) => this.sharedAt(...asked),
      },
      olm: {
        encrypt: (_tx, { curve25519 }, type, content) =>
          Promise.resolve(this.unreachable.has(curve25519) ? undefined : { type, content }),
        claims: {
          want: (_tx, devices) => {
            this.wanted.push(...devices.map(({ deviceId }) => deviceId));
            return Promise.resolve();
          },
        },
      },
    });
  }
}

/** The content of a forwarded key, as another device has it. */
export function forwarded({ context }: Receiver, sender: Sender): JsonObject {
  const { session_key, ...roomKey } = sender.roomKey;
  using session = context.vodozemac.megolm.createInbound(session_key);
  return {
    ...roomKey,
    session_key: session.exportAt(),
    sender_key: sender.device.curve25519,
    sender_claimed_ed25519_key: sender.device.ed25519,
    forwarding_curve25519_key_chain: [],
  };
}
