/**
 * A bot in an encrypted room, with company.
 *
 * @module
 */

import { MemoryStore, type Store } from "@greenroom/matrix";
import { ENCRYPTED } from "./encrypted_room.ts";
import type { ClientStage } from "./stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A store that tells of each use. */
export class WatchedStore extends MemoryStore {
  readonly uses: string[] = [];
  isClosed = false;

  #use(name: string): void {
    if (this.isClosed) throw new TypeError(`The store is closed: ${name}`);
    this.uses.push(name);
  }

  override async commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
    this.#use("commit");
    return await super.commit(...args);
  }

  override async getMany(...args: Parameters<Store["getMany"]>) {
    this.#use("getMany");
    return await super.getMany(...args);
  }

  override list(...args: Parameters<Store["list"]>) {
    this.#use("list");
    return super.list(...args);
  }
}

/** A bot in an encrypted room, with another who has something to say. */
export async function company(stage: ClientStage) {
  const store = new WatchedStore();
  const bot = stage.client("bot", { store, encryption: EVERYBODY });
  const alice = stage.client("alice", { encryption: EVERYBODY });
  const roomId = await alice.createRoom({
    preset: "public_chat",
    initialState: ENCRYPTED,
  });
  await bot.joinRoom(roomId);
  await bot.syncOnce(); // its keys are there from then on
  await alice.syncOnce();
  return { store, bot, alice, roomId };
}
