/**
 * What a room and a user are called where a function is called.
 *
 * A file of its own because no update needs it before a function is called.
 *
 * @module
 */

import type { Client } from "../../../mod.ts";
import type { RoomID, UserID } from "../../../types.ts";
import { memberOf } from "../text/mod.ts";
import type { Scene } from "./run_record.ts";
import type { Update } from "./update.ts";

/**
 * Reads what a room is called, and a user in it.
 *
 * @param sender The user. Default: none.
 */
export async function sceneOf(client: Client, room: RoomID, sender?: UserID): Promise<Scene> {
  const { stateStore } = client;
  const [name, topic, encrypted, member] = await Promise.all([
    stateStore.getState(room, "m.room.name"),
    stateStore.getState(room, "m.room.topic"),
    stateStore.isEncrypted(room),
    sender && stateStore.getMember(room, sender),
  ]);
  return {
    name: shownText(memberOf(name?.content, "name")),
    topic: shownText(memberOf(topic?.content, "topic")),
    isEncrypted: encrypted === true,
    displayName: shownText(memberOf(member, "displayname")),
  };
}

/** An update as functions get it: with what its room and its sender are called, as it was kept or else is now. */
export async function withScene(client: Client, update: Update): Promise<Update> {
  if (update.scene !== undefined) return update;
  const scene = await sceneOf(client, update.room, update.sender);
  const displayName = scene.displayName ?? nameBefore(update);
  return { ...update, scene: { ...scene, displayName } };
}

/** What a user was called who has left: the event of that has no name any more, but says what was before it. */
function nameBefore({ event, sender }: Update): string | undefined {
  if (memberOf(event, "state_key") !== sender) return undefined;
  return shownText(memberOf(memberOf(memberOf(event, "unsigned"), "prev_content"), "displayname"));
}

/** A text that shows something; undefined: it does not. */
function shownText(text: unknown): string | undefined {
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}
