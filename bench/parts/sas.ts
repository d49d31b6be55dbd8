/**
 * What a verification by emoji takes, both sides together, from the request until both are done: two
 * engines with stores in memory, beside two machines of matrix-sdk-crypto-wasm.
 * `deno run -A bench/parts/sas.ts [100]` makes as many, after a tenth that does not count.
 */

import {
  DecryptionSettings,
  DeviceId,
  DeviceLists,
  initAsync,
  OlmMachine,
  RequestType,
  type Sas,
  type ToDeviceRequest,
  TrustRequirement,
  UserId,
  VerificationMethod,
} from "@matrix-org/matrix-sdk-crypto-wasm";
import type { VerificationAct, VerificationReply } from "../../src/crypto/engine/engine.ts";
import type { VerificationState } from "../../src/crypto/verification/verification.ts";
import { aliceAndBob, type Bot } from "../../tests/crypto/engine/bot.ts";
import { Switchboard } from "../crypto/switchboard.ts";

const COUNT = Number(Deno.args[0] ?? 100);
const WAYS = ["sas"] as const;

/** Makes one verification. */
type Verify = () => Promise<void>;

async function greenroom(): Promise<Verify> {
  const { alice, bob } = await aliceAndBob();
  for (const bot of [alice, bob]) await bot.ready(); // each knows the other's device
  const latest = new Map<Bot, VerificationState>();
  const take = async (bot: Bot, reply: Promise<VerificationReply>): Promise<void> => {
    const { states } = await reply;
    for (const state of states) {
      latest.set(bot, state);
      if (state.needs === "start") await act(bot, { act: "answerStart" });
      if (state.needs === "completion") {
        await take(bot, bot.engine.steps.completeVerification(state.id));
      }
    }
    await bot.flush();
  };
  const act = (bot: Bot, what: VerificationAct): Promise<void> =>
    take(bot, bot.engine.steps.actInVerification({ ...what, id: latest.get(bot)?.id ?? "" }));
  const deliver = async (): Promise<void> => {
    for (let quiet = 0; quiet < 2;) {
      for (const bot of [alice, bob]) {
        const { toDevice } = await bot.sync();
        quiet = toDevice.length === 0 ? quiet + 1 : 0;
        const events = toDevice.map(({ event }) => event);
        if (events.length > 0) await take(bot, bot.engine.steps.receiveVerification(events));
      }
    }
  };
  return async () => {
    const target = { userId: bob.userId, devices: [bob.deviceId], ways: WAYS };
    await take(alice, alice.engine.steps.requestVerification(target));
    await deliver();
    await act(bob, { act: "accept", ways: WAYS });
    await deliver();
    await act(alice, { act: "startSas" });
    await deliver();
    await act(alice, { act: "confirm" });
    await act(bob, { act: "confirm" });
    await deliver();
    const phases = [latest.get(alice)?.phase, latest.get(bob)?.phase];
    if (phases.join() !== "done,done") throw new TypeError(`The verification is ${phases}`);
  };
}

/** A machine, and what carries its requests. */
class Machine {
  readonly userId: string;
  readonly machine: OlmMachine;
  readonly #switchboard: Switchboard;

  constructor(userId: string, machine: OlmMachine, switchboard: Switchboard) {
    [this.userId, this.machine, this.#switchboard] = [userId, machine, switchboard];
  }

  static async make(userId: string, switchboard: Switchboard): Promise<Machine> {
    const machine = await OlmMachine.initialize(new UserId(userId), new DeviceId("BENCH"));
    const made = new Machine(userId, machine, switchboard);
    await made.carry();
    return made;
  }

  async carry(): Promise<void> {
    for (const { id = "", type, body } of await this.machine.outgoingRequests()) {
      const parsed = JSON.parse(body);
      const answer = type === RequestType.KeysUpload
        ? this.#switchboard.upload(this.userId, "BENCH", parsed)
        : type === RequestType.KeysQuery
        ? this.#switchboard.query(Object.keys(parsed.device_keys))
        : {};
      await this.machine.markRequestAsSent(id, type, JSON.stringify(answer));
    }
  }

  async say(request: unknown): Promise<void> {
    if (request === undefined) return;
    const { id = "", type, event_type, body } = request as ToDeviceRequest;
    this.#switchboard.send(this.userId, event_type, JSON.parse(body).messages);
    await this.machine.markRequestAsSent(id, type, "{}");
  }

  /** Receives what waits; returns whether there was something. */
  async sync(): Promise<boolean> {
    const events = this.#switchboard.collect(this.userId, "BENCH");
    const settings = new DecryptionSettings(TrustRequirement.Untrusted);
    const counts = new Map([["signed_curve25519", 50]]);
    const text = JSON.stringify(events);
    await this.machine.receiveSyncChanges(text, new DeviceLists(), counts, new Set(), settings);
    for (const request of await this.machine.outgoingRequests()) {
      if (request.type === RequestType.ToDevice) await this.say(request);
    }
    return events.length > 0;
  }
}

async function olmMachines(): Promise<Verify> {
  await initAsync();
  const switchboard = new Switchboard();
  const [alice, bob] = [
    await Machine.make("@alice:example.org", switchboard),
    await Machine.make("@bob:example.org", switchboard),
  ];
  for (const each of [alice, bob]) {
    await each.machine.updateTrackedUsers([alice, bob].map(({ userId }) => new UserId(userId)));
    await each.carry();
  }
  const deliver = async (): Promise<void> => {
    for (let quiet = 0; quiet < 2;) {
      for (const each of [alice, bob]) quiet = await each.sync() ? 0 : quiet + 1;
    }
  };
  return async () => {
    const device = await alice.machine.getDevice(new UserId(bob.userId), new DeviceId("BENCH"));
    if (device === undefined) throw new TypeError("Bob has no device");
    const [mine, request] = device.requestVerification([VerificationMethod.SasV1]);
    await alice.say(request);
    await deliver();
    const flow = mine.flowId;
    const theirs = bob.machine.getVerificationRequest(new UserId(alice.userId), flow);
    await bob.say(theirs?.acceptWithMethods([VerificationMethod.SasV1]));
    await deliver();
    const [sas, start] = await mine.startSas() ?? [];
    await alice.say(start);
    await deliver();
    const other = bob.machine.getVerification(new UserId(alice.userId), flow) as Sas;
    await bob.say(other.accept());
    await deliver();
    for (const request of await sas?.confirm() ?? []) await alice.say(request);
    for (const request of await other.confirm()) await bob.say(request);
    await deliver();
    if (sas?.isDone() !== true || !other.isDone()) throw new TypeError("The verification is not done");
  };
}

for (const [name, make] of [["Greenroom", greenroom], ["matrix-sdk-crypto-wasm", olmMachines]] as const) {
  const verify = await make();
  for (let count = 0; count < COUNT / 10; count++) await verify();
  const times: number[] = [];
  for (let count = 0; count < COUNT; count++) {
    const start = performance.now();
    await verify();
    times.push(performance.now() - start);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor(times.length * share)]?.toFixed(1);
  console.log(`${name}: median ${at(0.5)} ms, 90 % ${at(0.9)} ms`);
}
