/**
 * An engine that verifies with a device of the own user, or of another, which a test plays.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { EngineRequest, VerificationAct, VerificationReply } from "../../../src/crypto/engine/engine.ts";
import { SAS, type VerificationStep } from "../../../src/crypto/verification/protocol.ts";
import { VerificationFlow, type VerificationState } from "../../../src/crypto/verification/verification.ts";
import type { VerificationEvent } from "../../../src/types/content/encryption_content.ts";
import type { DeviceID, JsonObject, UserID } from "@greenroom/matrix/types";
import type { Bot } from "../engine/bot.ts";
import type { EngineServer } from "../engine/homeserver.ts";
import { RawDevice } from "../engine/raw_device.ts";
import { ME, ownScene } from "../identity/own_scene.ts";
import { FakeUser } from "../support/fake_user.ts";

const vodozemac = await Vodozemac.create();

/** Another user. */
export const OTHER: UserID = "@other:example.org";

/** What differs from an engine that has the own keys and verifies with another user. */
export interface EngineSceneOptions {
  /** Whether the other device is one of the own user. */
  readonly isSelf?: boolean;
  /** Whether the engine has the private keys of the own identity. Default: true. */
  readonly hasKeys?: boolean;
}

/** The engine and the other device. */
export class EngineScene {
  readonly bot: Bot;
  readonly server: EngineServer;
  /** The own identity. */
  readonly identity: FakeUser;
  /** The other user, as the server shows them. */
  readonly them: FakeUser;
  readonly peer: RawDevice;
  flow: VerificationFlow | undefined;
  /** The name of the next verification. */
  flowId = "flow";
  /** The last states of all verifications, by their names. */
  readonly states = new Map<string, VerificationState>();
  /** What the engine has sent to devices: the step, the devices, the content. */
  readonly sent: [step: string, devices: readonly DeviceID[], content: JsonObject][] = [];
  /** The signatures that were uploaded. */
  readonly uploaded: Extract<EngineRequest, { kind: "signaturesUpload" }>["signatures"][] = [];
  /** How the server answers uploads of signatures. */
  onUpload: () => JsonObject = () => ({ failures: {} });

  private constructor(bot: Bot, identity: FakeUser, peer: RawDevice, them: FakeUser) {
    this.bot = bot;
    this.server = bot.server;
    this.identity = identity;
    this.peer = peer;
    this.them = them;
    const answer = this.server.answer.bind(this.server);
    this.server.answer = (from, request) => {
      if (request.kind === "signaturesUpload") {
        this.uploaded.push(structuredClone(request.signatures));
        const response = this.onUpload();
        if (Object.keys(response.failures ?? {}).length === 0) answer(from, request);
        return response;
      }
      if (request.kind === "toDevice") this.#note(request);
      return answer(from, request);
    };
  }

  static async open({ isSelf = false, hasKeys = true }: EngineSceneOptions = {}): Promise<EngineScene> {
    const { bot, server, identity } = await ownScene({ release: true });
    await bot.engine.steps.askForIdentity();
    await bot.flush();
    if (hasKeys) await bot.engine.steps.offerIdentity(identity.seeds);
    await bot.flush();
    const userId = isSelf ? ME : OTHER;
    const them = isSelf ? identity : new FakeUser(OTHER).crossSign();
    if (!isSelf) server.identities.set(OTHER, them);
    if (isSelf) identity.unsigned.add("PEER");
    const peer = new RawDevice(server, userId, "PEER").publish();
    const scene = new EngineScene(bot, identity, peer, them);
    await scene.lookUp();
    return scene;
  }

  get userId(): UserID {
    return this.peer.own.userId;
  }

  /** Has the server asked of the other user. */
  async lookUp(): Promise<void> {
    await this.bot.engine.areDevicesStale({ users: [this.userId], since: this.server.clock.now() + 1 });
    await this.bot.sync({ deviceLists: { changed: [this.userId], left: [] } });
  }

  /** The other side asks, and the engine's user accepts. */
  async asked(): Promise<string> {
    const { bot: { userId, deviceId }, server: { clock } } = this;
    const name = { userId, roomId: undefined, flowId: this.flowId };
    const setup = { own: this.peer.own, isIncoming: false, devices: [deviceId], methods: [SAS] };
    this.flow = new VerificationFlow({ ...setup, name, expiresAt: clock.now() + 600_000 });
    this.flow.request(clock.now());
    await this.deliver();
    const id = [...this.states.keys()].at(-1) ?? "";
    await this.act(id, { act: "accept", ways: ["sas"] });
    return id;
  }

  /** The two come as far as comparing. */
  async comparing(): Promise<string> {
    const id = await this.asked();
    this.flow?.startSas(vodozemac, this.peerKeys());
    await this.deliver();
    return id;
  }

  /** Both have confirmed; what was verified is not stored yet. */
  async confirmed(): Promise<string> {
    const id = await this.comparing();
    await this.act(id, { act: "confirm" });
    this.flow?.confirm();
    await this.deliver();
    return id;
  }

  /** What the other side knows of the keys. */
  peerKeys() {
    const { them, identity, bot } = this;
    const master = identity.master?.publicKey;
    const { ed25519: device } = bot.engine.identity();
    return { device, master, ownMaster: them.master?.publicKey, isOwnVerified: true };
  }

  /** A decision of the engine's user. */
  async act(id: string, act: VerificationAct): Promise<VerificationReply> {
    const reply = await this.take(await this.bot.engine.steps.actInVerification({ id, ...act }));
    await this.bot.flush();
    await this.deliver();
    return reply;
  }

  /** Delivers what the other side has to say. */
  async deliver(): Promise<void> {
    for (
      let outgoing = this.flow?.takeOutgoing() ?? [];
      outgoing.length > 0;
      outgoing = this.flow?.takeOutgoing() ?? []
    ) {
      await this.receive(...outgoing.map(({ type, content }) => ({ type, content })));
    }
  }

  /** The engine receives messages of the other side. */
  async receive(...messages: Partial<VerificationEvent>[]): Promise<VerificationReply> {
    const events = messages.map((message) => ({ type: "", sender: this.userId, content: {}, ...message }));
    const reply = await this.take(
      await this.bot.engine.steps.receiveVerification(JSON.parse(JSON.stringify(events))),
    );
    await this.bot.flush();
    for (const { id, needs } of reply.states) {
      if (needs === "start") await this.act(id, { act: "answerStart" });
    }
    return reply;
  }

  take(reply: VerificationReply): VerificationReply {
    for (const state of reply.states) this.states.set(state.id, state);
    return reply;
  }

  /** The steps that the engine has sent. */
  get steps(): string[] {
    return this.sent.map(([step]) => step);
  }

  /** The trust of the other device. */
  async trust(): Promise<string | undefined> {
    const devices = await this.bot.engine.devicesOf([this.userId]);
    return devices.find(({ deviceId }) => deviceId === "PEER")?.trust;
  }

  #note({ eventType, messages }: Extract<EngineRequest, { kind: "toDevice" }>): void {
    if (!eventType.startsWith("m.key.verification.")) return;
    const step = eventType.slice("m.key.verification.".length) as VerificationStep;
    const devices = messages[this.userId] ?? {};
    const [content = {}] = Object.values(devices);
    this.sent.push([step, Object.keys(devices), content]);
    if (Object.hasOwn(devices, "PEER") || Object.hasOwn(devices, "*")) this.flow?.receive({ step, content });
  }
}

/** A request of the other device. */
export function request(
  scene: EngineScene,
  flowId: string,
  { age = 0, ...other }: { readonly age?: number; readonly from_device?: string } = {},
): Partial<VerificationEvent> {
  const timestamp = scene.server.clock.now() - age;
  const content = { from_device: "PEER", methods: ["m.sas.v1"], transaction_id: flowId, timestamp };
  return { type: "m.key.verification.request", content: { ...content, ...other } };
}
