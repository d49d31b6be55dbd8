/** An engine whose user has an identity, made by another client, and another device. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type { CryptoPolicy } from "../../../src/crypto/context/context.ts";
import type { Logger } from "@greenroom/matrix";
import type { MessageEvent, UserID } from "@greenroom/matrix/types";
import { Bot } from "../engine/bot.ts";
import { EngineServer, ROOM } from "../engine/homeserver.ts";
import { RawDevice, RawSession } from "../engine/raw_device.ts";
import { FakeUser, type SigningKey } from "../support/fake_user.ts";
import type { NewIdentity } from "../../../src/crypto/identity/identity.ts";

/** The own user. */
export const ME: UserID = "@me:example.org";

const vodozemac = await Vodozemac.create();

/** What differs from an account with an identity, and a device that is published without its signature. */
export interface OwnSceneOptions {
  /** Whether the account has no identity yet. */
  readonly bare?: boolean;
  readonly policy?: Partial<CryptoPolicy>;
  /** Whether the first upload need not wait for an identity. */
  readonly release?: boolean;
  readonly log?: Logger;
}

/** An engine, and what is around it. */
export interface OwnScene {
  readonly server: EngineServer;
  readonly bot: Bot;
  /** The identity that the server shows. */
  readonly identity: FakeUser;
  /** Another identity of the same user. */
  readonly other: FakeUser;
  /** The kinds of the engine's requests so far. */
  readonly requests: EngineRequest["kind"][];
  /** What the user's other device has said. */
  readonly event: MessageEvent;
  /** Has the server take the public keys of a new identity. */
  publish(made: NewIdentity): void;
}

/** Sets it up. */
export async function ownScene(options: OwnSceneOptions = {}): Promise<OwnScene> {
  const { bare = false, release = false, policy, log } = options;
  const server = new EngineServer();
  const identity = newIdentity();
  if (!bare) server.identities.set(ME, identity);
  const requests: EngineRequest["kind"][] = [];
  const answer = server.answer.bind(server);
  server.answer = (from, request) => {
    if (from.deviceId === "MINE") requests.push(request.kind);
    return answer(from, request);
  };
  const bot = await Bot.open(server, { userId: ME, deviceId: "MINE", policy, log });
  if (release) {
    await bot.engine.steps.releaseUpload();
    await bot.flush();
  }
  const phone = new RawDevice(server, ME, "PHONE").publish();
  await bot.sync();
  const session = new RawSession();
  const key = session.roomKey(ROOM);
  const event = server.publish({ userId: ME, deviceId: "PHONE" }, session.event(ROOM, "hello"), "txn");
  const toDevice = server.oneTimeKeys(bot) === 0 ? [] : [phone.message(bot, "m.room_key", key)];
  await bot.sync({ toDevice });
  return {
    server,
    bot,
    identity,
    other: newIdentity(),
    requests,
    event,
    publish({ seeds }) {
      const shown = newIdentity();
      shown.master = signingKeyOf(seeds.master);
      shown.selfSigning = signingKeyOf(seeds.selfSigning);
      shown.userSigning = signingKeyOf(seeds.userSigning);
      server.identities.set(ME, shown);
    },
  };
}

/** A new identity, which has signed all devices but the engine's own. */
function newIdentity(): FakeUser {
  const identity = new FakeUser(ME).crossSign();
  identity.unsigned.add("MINE");
  return identity;
}

function signingKeyOf(secret: Uint8Array): SigningKey {
  using key = vodozemac.keys.importEd25519(secret);
  return { publicKey: key.publicKey, secret: secret.slice() };
}

/** The name and the public half of an engine's signing key. */
export function deviceOf({ engine, deviceId }: Bot): { keyId: string; publicKey: string } {
  return { keyId: `ed25519:${deviceId}`, publicKey: engine.identity().ed25519 };
}

/** The signature of the identity that the server has of the own device. */
export function shownSignature({ server, identity }: OwnScene): string | undefined {
  return server.keys.get(ME)?.get("MINE")?.signatures[ME]?.[`ed25519:${identity.selfSigning?.publicKey}`];
}
