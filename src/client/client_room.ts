/**
 * One room, with a client's operations on it.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import type { ClientAPI } from "../api/api.ts";
import type { StateStore } from "../actors/store/mod.ts";
import { hintAt, type Hints } from "../errors/hints.ts";
import type { EncryptingAPI } from "./encrypting_api.ts";
import type { QueueAPI } from "./queue/queue.ts";

/** What other libraries call members of a room, and what to write here. */
const CLIENT_ROOM_HINTS = {
  roomId: "room.id",
  name: "await room.getName()",
  topic: "await room.getTopic()",
  members: "await room.getMembers()",
  member: 'await room.getStateEvent("m.room.member", { stateKey: userId })',
  getMember: 'await room.getStateEvent("m.room.member", { stateKey: userId })',
  memberCount: "Object.keys(await room.getJoinedMembers()).length",
  encrypted: "await room.isEncrypted()",
  send: "room.sendText(text)",
  sendMarkdown: "room.sendText(text, { html })",
  sendHtml: "room.sendText(text, { html })",
  sendEvent: "room.sendMessageEvent(type, content)",
  markRead: "room.sendReceipt(eventId)",
  markAsRead: "room.sendReceipt(eventId)",
  setReadMarker: "room.setFullyReadMarker(eventId)",
  pin: "bot.in(room.id).pin(eventId), of the kit for bots",
  permalink: "eventUrl(room.id, eventId), of the kit for bots",
  sendReaction: "room.react(eventId, key)",
  reply: "room.sendText(text, { replyTo })",
  editMessage: "room.edit(eventId, text)",
  history: 'room.iterateMessages("b")',
  setName: 'room.sendStateEvent("m.room.name", { name })',
  setTopic: 'room.sendStateEvent("m.room.topic", { topic })',
} as const;

/** What a room needs of its client. */
interface RoomClient extends ClientAPI, EncryptingAPI, QueueAPI {
  readonly stateStore: StateStore;
}

/** Whether rooms have the operations: they get them with the first one. */
let isEquipped = false;

/**
 * A room, with the client's operations on it, which take no room ID here. Their names are the client's,
 * without "Room", and without "User" at the end: `room.leave()` is `client.leaveRoom(roomId)`, and
 * `room.invite(userId)` is `client.inviteUser(roomId, userId)`. Made by {@linkcode Client.room}; it holds
 * nothing but the ID.
 */
export class ClientRoom {
  /** What the homeserver calls the room. */
  readonly id: RoomID;
  readonly #client: RoomClient;

  /** @internal Made by clients. */
  constructor(client: RoomClient, id: RoomID) {
    this.#client = client;
    this.id = id;
    if (!isEquipped) ClientRoom.#equip();
  }

  static #equip(): void {
    isEquipped = true;
    for (const operation of OPERATIONS.trim().split(/\s+/)) {
      const [name = "", full = name] = operation.split(":");
      Object.defineProperty(this.prototype, name, {
        configurable: true,
        writable: true,
        value(this: ClientRoom, ...given: readonly unknown[]): unknown {
          const client = this.#client as unknown as Record<string, (...given: readonly unknown[]) => unknown>;
          return client[full]?.(this.id, ...given);
        },
      });
    }
  }

  /**
   * Reads the name of the room, as the client's store has it.
   *
   * @returns The name; undefined if it has none, as direct chats, or the client has not seen it.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function title(client: Client, roomId: RoomID): Promise<string> {
   *   return await client.room(roomId).getName() ?? roomId;
   * }
   * ```
   */
  async getName(): Promise<string | undefined> {
    return await this.#textOf("m.room.name", "name");
  }

  /**
   * Reads what the room is about, as the client's store has it.
   *
   * @returns The topic; undefined if it has none, or the client has not seen it.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function about(client: Client, roomId: RoomID): Promise<string> {
   *   return await client.room(roomId).getTopic() ?? "anything";
   * }
   * ```
   */
  async getTopic(): Promise<string | undefined> {
    return await this.#textOf("m.room.topic", "topic");
  }

  /**
   * Reads what a user may do in the room, as the client's store has it.
   *
   * @param userId The ID of the user.
   * @returns The power level: mostly 100 of admins, 50 of moderators, 0 of others; 0 if it is not known.
   *   Creators of a room of version 12 have `Infinity`.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function isModerator(client: Client, roomId: RoomID, userId: UserID): Promise<boolean> {
   *   return await client.room(roomId).getPowerLevel(userId) >= 50;
   * }
   * ```
   */
  async getPowerLevel(userId: UserID): Promise<number> {
    return await this.#client.stateStore.getPowerLevel(this.id, userId) ?? 0;
  }

  async #textOf(type: string, member: string): Promise<string | undefined> {
    const state = await this.#client.stateStore.getState(this.id, type);
    const text = (state?.content as Readonly<Record<string, unknown>> | undefined)?.[member];
    return typeof text === "string" && text !== "" ? text : undefined;
  }

  /** Returns the ID of the room, so that it can stand in a template string. */
  toString(): RoomID {
    return this.id;
  }

  /** Returns the ID of the room, as JSON has it. */
  toJSON(): RoomID {
    return this.id;
  }
}

hintAt(ClientRoom.prototype, "a room", CLIENT_ROOM_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface ClientRoomHints extends Hints<typeof CLIENT_ROOM_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface ClientRoom extends ClientRoomHints {}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { SetRoomTagOptions } from "../api/account/account.ts";
import type { ContentAs, MediaData, RequestOptions, SendableContent } from "../api/http/mod.ts";
import type {
  CreateDelayedEventOptions,
  EditOptions,
  GetMessagesOptions,
  GetRelationsOptions,
  GetThreadsOptions,
  IterateMessagesOptions,
  RedactOptions,
  ReportOptions,
  SendFileOptions,
  SendImageOptions,
  SendOptions,
  SendReceiptOptions,
  SendStickerOptions,
  SendTextOptions,
  SendTypedTextOptions,
  SetFullyReadMarkerOptions,
  SetThreadSubscriptionOptions,
  SetTypingOptions,
  ThreadSubscription,
} from "../api/messages/mod.ts";
import type {
  AddRoomAliasOptions,
  GetEventContextOptions,
  GetMembersOptions,
  GetRoomSummaryOptions,
  GetSpaceHierarchyOptions,
  GetStateEventOptions,
  JoinRoomOptions,
  KnockRoomOptions,
  MembershipOptions,
  SendMemberEventOptions,
  SendStateEventOptions,
  StateEventAnswer,
  UpgradeRoomOptions,
} from "../api/rooms/rooms.ts";
import type { ShareReport } from "../crypto/sharing/mod.ts";
import type { RoomSummary, SpaceHierarchyResponse, SpaceHierarchyRoom } from "../types/api/public_rooms.ts";
import type { RoomTagInfo, TagContent } from "../types/content/account_data_content.ts";
import type { RoomEncryptedContent } from "../types/content/encryption_content.ts";
import type { EncryptedFile, ImageInfo } from "../types/content/file_info.ts";
import type { RoomMessageContent } from "../types/content/message_content.ts";
import type { RoomMemberContent } from "../types/content/room_state_content.ts";
import type {
  Membership,
  PaginationDirection,
  RoomDirectoryVisibility,
  StateEventFormat,
} from "../types/enums.ts";
import type { ClientEvent, ClientStateEvent } from "../types/events/event.ts";
import type { EventType } from "../types/events/event_type.ts";
import type {
  EventContextResponse,
  JoinedMember,
  MessagesResponse,
  RelationsResponse,
  ThreadsResponse,
  TimestampToEventResponse,
} from "../types/events/room_records.ts";
import type { ContentURI, EventID, RoomAlias, RoomID, SyncToken, UserID } from "../types/ids.ts";
import type { QueueOptions, SendQueue } from "./queue/queue.ts";

/** What a room has of its client, by its name here, and there if it is another. */
const OPERATIONS = `
  getMembers getJoinedMembers getState getStateEvent sendStateEvent sendMessageEvent
  getTags:getRoomTags getTag:getRoomTag setTag:setRoomTag removeTag:removeRoomTag
  addAlias:addRoomAlias getAliases:getRoomAliases getDirectoryVisibility:getRoomDirectoryVisibility
  setDirectoryVisibility:setRoomDirectoryVisibility join:joinRoom knock:knockRoom leave:leaveRoom
  forget:forgetRoom invite:inviteUser kick:kickUser ban:banUser unban:unbanUser sendMemberEvent redact
  getEvent getMessages sendReceipt setFullyReadMarker setTyping getRelations getThreads
  getSpaceHierarchy upgrade:upgradeRoom getEventContext timestampToEvent getSummary:getRoomSummary
  reportEvent report:reportRoom iterateMessages iterateRelations iterateThreads iterateSpaceRooms
  createDelayedEvent getThreadSubscription setThreadSubscription removeThreadSubscription sendMessage
  sendText edit sendNotice sendEmote sendSticker react sendFile sendImage encrypt shareGroupSession
  isEncrypted:isRoomEncrypted queue
`;

/** The homeserver's operations on the room, as of {@linkcode Client}. */
export interface ClientRoom {
  /**
   * Lists the members of a room, of the past too.
   *
   * @param options Which members, at which point, and request options.
   * @returns The latest member event of each user.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmembers | GET /rooms/{roomId}/members}
   */
  getMembers(options?: GetMembersOptions): Promise<ClientStateEvent<"m.room.member", RoomMemberContent>[]>;

  /**
   * Lists who is in a room. Quicker than `getMembers()`.
   *
   * @param options Request options.
   * @returns Display name and avatar of each joined user.
   * @throws {ForbiddenError} If the caller is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidjoined_members | GET /rooms/{roomId}/joined_members}
   */
  getJoinedMembers(options?: RequestOptions): Promise<Record<UserID, JoinedMember>>;

  /**
   * Lists the state of a room.
   *
   * @param options Request options.
   * @returns The latest event of each type and state key, with contents as they were sent; as they
   *   were when the user left, if so.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidstate | GET /rooms/{roomId}/state}
   */
  getState(options?: RequestOptions): Promise<ClientStateEvent[]>;

  /**
   * Gets a state event of a room, by its type and state key.
   *
   * @param eventType The type.
   * @param options The state key, what to answer with, and request options.
   * @returns The content, without what may be absent and is not what its type says; the whole event
   *   if `format` asks for it. State may have been cleared: then nothing is in it. As it was when
   *   the user left, if so.
   * @throws {MalformedContentError} If the content is not what its type says. As it was sent it is
   *   answered for a definition without a schema.
   * @throws {NotFoundError} If the room has no such state.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @throws {ServiceResponseError} If the whole event was asked for and the server is too old to
   *   give it.
   * @throws {ValueError} If the type is empty or not of state, or the state key can't be part of a
   *   path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidstateeventtypestatekey | GET /rooms/{roomId}/state/{eventType}/{stateKey}}
   */
  getStateEvent<const T extends EventType, Format extends StateEventFormat = "content">(
    eventType: T,
    options?: GetStateEventOptions<Format>,
  ): Promise<StateEventAnswer<T, Format>>;

  /**
   * Sends a state event, which replaces that of the same type and state key.
   * To set the same once more, as a handler does that runs again after a crash, changes nothing.
   *
   * A room that is sent `m.room.encryption` is encrypted from then on: what is sent to it meanwhile
   * waits for the answer, and only if the server refuses is the room as it was before.
   *
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content. Empty content is how state is taken away.
   * @param options The state key and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @throws {ValueError} If the type is empty or not of state, the content is refused, or the state
   * key can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidstateeventtypestatekey | PUT /rooms/{roomId}/state/{eventType}/{stateKey}}
   */
  sendStateEvent<const T extends EventType>(
    eventType: T,
    content: SendableContent<T, "state"> | Record<string, never>,
    options?: SendStateEventOptions,
  ): Promise<EventID>;

  /**
   * Sends a message event: any event of a room that is not state.
   *
   * The send is repeated, as the retry policy says, under one transaction ID: what arrives twice counts once.
   * A redaction is never encrypted. It is sent as it is if the homeserver takes it so in rooms of all
   * versions (v1.18, or `com.beeper.msc4169`), and else as by {@link MessagesAPI.redact}.
   *
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller is not in the room, or lacks the power.
   * @throws {TooLargeError} If the event would exceed 64 KiB.
   * @throws {AcceptedError} If the homeserver accepts the event and does
   *   not say its ID: do not send it again.
   * @throws {ValueError} If the type is empty or not of messages, the content is refused, or a `query` asks
   *   for a delay.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid | PUT /rooms/{roomId}/send/{eventType}/{txnId}}
   */
  sendMessageEvent<const T extends EventType>(
    eventType: T,
    content: SendableContent<T, "message">,
    options?: SendOptions,
  ): Promise<EventID>;

  /**
   * Sends a message event: any event of a room that is not state.
   *
   * The send is repeated, as the retry policy says, under one transaction ID: what arrives twice counts once.
   * A redaction is never encrypted. It is sent as it is if the homeserver takes it so in rooms of all
   * versions (v1.18, or `com.beeper.msc4169`), and else as by {@link MessagesAPI.redact}.
   *
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller is not in the room, or lacks the power.
   * @throws {TooLargeError} If the event would exceed 64 KiB.
   * @throws {AcceptedError} If the homeserver accepts the event and does
   *   not say its ID: do not send it again.
   * @throws {ValueError} If the type is empty or not of messages, the content is refused, or a `query` asks
   *   for a delay.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid | PUT /rooms/{roomId}/send/{eventType}/{txnId}}
   */
  sendMessageEvent<const T extends EventType>(
    eventType: T,
    content: SendableContent<T, "message">,
    options?: SendOptions,
  ): Promise<EventID>;

  /**
   * Lists the tags that the user put on a room.
   *
   * @param options Request options.
   * @returns The tags by name, in `tags`, as the room's `m.tag` has them; none if the room has no
   *   tags.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridroomsroomidtags | GET /user/{userId}/rooms/{roomId}/tags}
   */
  getTags(options?: RequestOptions): Promise<TagContent>;

  /**
   * Gets a tag that the user put on a room.
   *
   * @param tag The tag, such as `m.favourite`.
   * @param options Request options.
   * @returns What is known of the room under the tag; undefined if the room does not have it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridroomsroomidtags | GET /user/{userId}/rooms/{roomId}/tags}
   */
  getTag(tag: string, options?: RequestOptions): Promise<RoomTagInfo | undefined>;

  /**
   * Puts a tag on a room.
   *
   * @param tag The tag: `m.favourite`, `m.lowpriority`, or the user's own behind `u.`.
   * @param options Where the room stands among those of the tag, and request options.
   * @throws {ValueError} If the tag is empty, or can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3useruseridroomsroomidtagstag | PUT /user/{userId}/rooms/{roomId}/tags/{tag}}
   */
  setTag(tag: string, options?: SetRoomTagOptions): Promise<void>;

  /**
   * Takes a tag off a room.
   *
   * @param tag The tag.
   * @param options Request options.
   * @throws {ValueError} If the tag is empty, or can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3useruseridroomsroomidtagstag | DELETE /user/{userId}/rooms/{roomId}/tags/{tag}}
   */
  removeTag(tag: string, options?: RequestOptions): Promise<void>;

  /**
   * Gives a room an alias on the user's own server.
   *
   * @param aliasLocalpart The local part of the alias: `stage` for `#stage:example.org`.
   * @param options Whether to take it from another room, and request options.
   * @throws {MatrixRequestError} With status 409 if a room has the alias already, without `override`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3directoryroomroomalias | PUT /directory/room/{roomAlias}}
   */
  addAlias(aliasLocalpart: string, options?: AddRoomAliasOptions): Promise<void>;

  /**
   * Lists the aliases that a room has on the user's own server.
   *
   * @param options Request options.
   * @returns The aliases; they may not be in the room's state.
   * @throws {ForbiddenError} If the user is not in the room, and its history is not public.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidaliases | GET /rooms/{roomId}/aliases}
   */
  getAliases(options?: RequestOptions): Promise<RoomAlias[]>;

  /**
   * Asks whether the room directory lists a room.
   *
   * @param options Request options.
   * @returns `public` if it does.
   * @throws {NotFoundError} If the server does not know the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3directorylistroomroomid | GET /directory/list/room/{roomId}}
   */
  getDirectoryVisibility(options?: RequestOptions): Promise<RoomDirectoryVisibility>;

  /**
   * Sets whether the room directory lists a room.
   *
   * @param visibility `public` if it is to.
   * @param options Request options.
   * @throws {ForbiddenError} If the server does not let the user.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3directorylistroomroomid | PUT /directory/list/room/{roomId}}
   */
  setDirectoryVisibility(visibility: RoomDirectoryVisibility, options?: RequestOptions): Promise<void>;

  /**
   * Joins a room, or takes an invitation to it.
   *
   * Joining a room of other servers may take long and fail for reasons that pass. Lost connections,
   * timeouts and the statuses 429 and 500 to 599 are therefore tried again: after about 5, 10, 20
   * and 40 seconds, or when the server says. Any other refusal is final.
   *
   * @param options Servers to join through, number of tries, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the user is not invited and the room is not public, or the user is
   * banned: then Synapse gives its subclass `BadStateError`.
   * @throws {NotFoundError} If there is no such alias.
   * @throws {ValueError} If it is neither a room ID nor an alias, or `maxRetries` is negative or no
   *   integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3joinroomidoralias | POST /join/{roomIdOrAlias}}
   */
  join(options?: JoinRoomOptions): Promise<RoomID>;

  /**
   * Asks to be invited to a room.
   *
   * @param options Reason, servers to knock through, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the room takes no knocks, or the user is banned: then Synapse gives
   *   its subclass `BadStateError`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3knockroomidoralias | POST /knock/{roomIdOrAlias}}
   */
  knock(options?: KnockRoomOptions): Promise<RoomID>;

  /**
   * Leaves a room, rejects an invitation to it, or takes a knock back.
   *
   * The user sees no new events from then on; what was visible before stays so until
   * `forgetRoom()`.
   *
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the user is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidleave | POST /rooms/{roomId}/leave}
   */
  leave(options?: MembershipOptions): Promise<void>;

  /**
   * Forgets a room that was left: its history is out of reach from then on.
   *
   * @param options Request options.
   * @throws {MatrixRequestError} If the user is still in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidforget | POST /rooms/{roomId}/forget}
   */
  forget(options?: RequestOptions): Promise<void>;

  /**
   * Invites a user, who takes part only after joining.
   *
   * @param userId The user to invite.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller may not invite, or the user is banned or in the room.
   * @throws {InviteBlockedError} If the user takes no invitations from the caller.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidinvite | POST /rooms/{roomId}/invite}
   */
  invite(userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Removes a user from a room, or takes an invitation back. The user may come again, if the room's
   * join rules let them.
   *
   * @param userId The user to remove.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller lacks the power, or the user is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidkick | POST /rooms/{roomId}/kick}
   */
  kick(userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Bans a user, who leaves the room if in it, and can neither join nor be invited until
   * `unbanUser()`.
   *
   * @param userId The user to ban, in the room or not.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidban | POST /rooms/{roomId}/ban}
   */
  ban(userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Lifts a ban: the user may be invited again, or join, if the room's join rules let them.
   *
   * @param userId The banned user.
   * @param options Reason, extra content, and request options.
   * @throws {MatrixRequestError} If the caller lacks the power (`ForbiddenError`), or the user is
   *   not banned.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidunban | POST /rooms/{roomId}/unban}
   */
  unban(userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Sends a member event, completed by `fillMemberEvent()`: any change of membership, with any
   * content.
   *
   * @param userId The user whom the event is about.
   * @param membership What the user is to be to the room.
   * @param options More members of the content, and request options.
   * @returns The ID of the new member event.
   * @throws {ForbiddenError} If the change is not allowed.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommember | m.room.member}
   */
  sendMemberEvent(userId: UserID, membership: Membership, options?: SendMemberEventOptions): Promise<EventID>;

  /**
   * Redacts an event: takes everything out of it that the server does not need. It can't be undone.
   *
   * Everyone may redact their own events; others' take the room's power level for redactions. It is
   * never encrypted.
   *
   * @param eventId The event to redact.
   * @param options Reason, transaction ID, and request options.
   * @returns The ID of the redaction.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidredacteventidtxnid | PUT /rooms/{roomId}/redact/{eventId}/{txnId}}
   */
  redact(eventId: EventID, options?: RedactOptions): Promise<EventID>;

  /**
   * Gets an event.
   *
   * @param eventId The event.
   * @param options Request options.
   * @returns The event, encrypted if it is.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomideventeventid | GET /rooms/{roomId}/event/{eventId}}
   */
  getEvent(eventId: EventID, options?: RequestOptions): Promise<ClientEvent>;

  /**
   * Reads a page of a room's history.
   *
   * @param direction `b` from new to old, `f` from old to new.
   * @param fromToken Where to begin: a room's `prev_batch`, or `start` or `end` of another page;
   * undefined for the newest end (`b`) or the oldest (`f`), which is looked up first on servers
   * before version 1.3.
   * @param options Where to stop, how many and which events, and request options.
   * @returns The events in order of reading, and the tokens of both ends; without `end` there is
   *   nothing more to read.
   * @throws {ForbiddenError} If the caller may not see the history.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmessages | GET /rooms/{roomId}/messages}
   */
  getMessages(
    direction: PaginationDirection,
    fromToken: SyncToken | undefined,
    options?: GetMessagesOptions,
  ): Promise<MessagesResponse>;

  /**
   * Marks a room as read up to an event.
   *
   * @param eventId The event.
   * @param options Kind of receipt, thread, and request options.
   * @throws {ValueError} If a thread is given for the read marker, which has none.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreceiptreceipttypeeventid | POST /rooms/{roomId}/receipt/{receiptType}/{eventId}}
   */
  sendReceipt(eventId: EventID, options?: SendReceiptOptions): Promise<void>;

  /**
   * Sets the user's read marker, and receipts along with it.
   *
   * @param fullyRead The event at which the marker is to stand.
   * @param options Receipts to send along, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidread_markers | POST /rooms/{roomId}/read_markers}
   */
  setFullyReadMarker(fullyRead: EventID, options?: SetFullyReadMarkerOptions): Promise<void>;

  /**
   * Sets whether the user is typing in a room, for some time: without a `timeout`, that the user
   * has stopped.
   *
   * @param options For how many milliseconds, and request options.
   * @throws {ForbiddenError} If the user is not in the room.
   * @throws {ValueError} If the timeout is no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidtypinguserid | PUT /rooms/{roomId}/typing/{userId}}
   */
  setTyping(options?: SetTypingOptions): Promise<void>;

  /**
   * Reads a page of the events that relate to an event.
   *
   * @param eventId The event that is related to.
   * @param options Which events, where to begin, and request options.
   * @returns The events, and the token of the next page if there is one.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @throws {ValueError} If there is an `eventType` and no `relType`, or `limit` is no integer of
   *   at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidrelationseventid | GET /rooms/{roomId}/relations/{eventId}}
   */
  getRelations(eventId: EventID, options?: GetRelationsOptions): Promise<RelationsResponse>;

  /**
   * Reads a page of a room's threads.
   *
   * @param options Which threads, where to begin, and request options.
   * @returns The roots of the threads, and the token of the next page if there is one.
   * @throws {ForbiddenError} If the caller may not see the room.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidthreads | GET /rooms/{roomId}/threads}
   */
  getThreads(options?: GetThreadsOptions): Promise<ThreadsResponse>;

  /**
   * Reads a page of a space's rooms, those of its spaces included.
   *
   * @param options Which rooms, where to begin, and request options.
   * @returns The rooms, each space before the rooms in it, and the token of the next page if there
   *   is one.
   * @throws {ForbiddenError} If the caller may not see the space.
   * @throws {ValueError} If `limit` or `maxDepth` is too small or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidhierarchy | GET /rooms/{roomId}/hierarchy}
   */
  getSpaceHierarchy(options?: GetSpaceHierarchyOptions): Promise<SpaceHierarchyResponse>;

  /**
   * Upgrades a room: makes a new one of another version, moves what can be moved, and closes the
   * old one.
   *
   * @param newVersion The version of the new room.
   * @param options Request options.
   * @returns The new room.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @throws {UnsupportedRoomVersionError} If the server does not know the version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidupgrade | POST /rooms/{roomId}/upgrade}
   */
  upgrade(newVersion: string, options?: UpgradeRoomOptions): Promise<RoomID>;

  /**
   * Gets an event, and the events before and after it.
   *
   * @param eventId The event.
   * @param options How many and which events, and request options.
   * @returns The event, what is around it, and tokens to read on with `getMessages()`.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @throws {ValueError} If `limit` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidcontexteventid | GET /rooms/{roomId}/context/{eventId}}
   */
  getEventContext(eventId: EventID, options?: GetEventContextOptions): Promise<EventContextResponse>;

  /**
   * Finds the event that is closest to a time.
   *
   * @param time The time, in milliseconds since the epoch.
   * @param direction Where to look: `f` at and after the time, `b` at and before it.
   * @param options Request options.
   * @returns The event and its time.
   * @throws {NotFoundError} If there is no event on that side.
   * @throws {ValueError} If the time is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidtimestamp_to_event | GET /rooms/{roomId}/timestamp_to_event}
   */
  timestampToEvent(
    time: number,
    direction: PaginationDirection,
    options?: RequestOptions,
  ): Promise<TimestampToEventResponse>;

  /**
   * Gets the summary of a room that the user may join, such as its name and topic. Servers before version
   * 1.15 do not know this operation.
   *
   * @param options Servers to ask, and request options.
   * @returns The summary.
   * @throws {NotFoundError} If there is no such room, or the caller may not know it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1room_summaryroomidoralias | GET /room_summary/{roomIdOrAlias}}
   */
  getSummary(options?: GetRoomSummaryOptions): Promise<RoomSummary>;

  /**
   * Reports an event.
   *
   * @param eventId The event.
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such event, or the caller is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreporteventid | POST /rooms/{roomId}/report/{eventId}}
   */
  reportEvent(eventId: EventID, options?: ReportOptions): Promise<void>;

  /**
   * Reports a room.
   *
   * @param options Reason, and request options.
   * @throws {NotFoundError} If there is no such room; some servers do not say.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreport | POST /rooms/{roomId}/report}
   */
  report(options?: ReportOptions): Promise<void>;

  /**
   * Reads a room's history.
   *
   * @param direction `b` from new to old, `f` from old to new.
   * @param options Those of `getMessages()`, and where to begin.
   * @returns The events one by one.
   */
  iterateMessages(
    direction: PaginationDirection,
    options?: IterateMessagesOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads the events that relate to an event.
   *
   * @param eventId The event that is related to.
   * @param options Those of `getRelations()`.
   * @returns The events one by one.
   */
  iterateRelations(
    eventId: EventID,
    options?: GetRelationsOptions,
  ): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads a room's threads.
   *
   * @param options Those of `getThreads()`.
   * @returns The roots of the threads one by one.
   */
  iterateThreads(options?: GetThreadsOptions): AsyncGenerator<ClientEvent, void, undefined>;

  /**
   * Reads the rooms of a space.
   *
   * @param options Those of `getSpaceHierarchy()`.
   * @returns The rooms one by one.
   */
  iterateSpaceRooms(options?: GetSpaceHierarchyOptions): AsyncGenerator<SpaceHierarchyRoom, void, undefined>;

  /**
   * Has the homeserver send an event later.
   *
   * @param eventType The type.
   * @param content The content.
   * @param options The delay, the state key of state, and request options.
   * @returns The ID of the delay, which is no event's.
   * @throws {ForbiddenError} If the homeserver sends nothing later.
   * @throws {EncryptionError} If the room is encrypted, and the event is no state: a message is
   *   encrypted when it leaves. Use a reminder, or give the content of `client.encrypt()` as
   *   `m.room.encrypted`. Redactions, and what `client.encryptionBlacklist` names (reactions, by
   *   default), are not encrypted, and can be sent later.
   * @throws {UnsupportedFeatureError} If it is a redaction in a room before version 11,
   *   and the homeserver takes none there as an event.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   */
  createDelayedEvent<T extends EventType>(
    eventType: T,
    content: SendableContent<T, "message"> | ContentAs<T, "state">,
    options: CreateDelayedEventOptions,
  ): Promise<string>;

  /**
   * Says whether the user follows a thread.
   *
   * @param threadId The event that the thread begins with.
   * @param options Request options.
   * @returns How the user came to follow it; undefined if the user does not.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   */
  getThreadSubscription(threadId: EventID, options?: RequestOptions): Promise<ThreadSubscription | undefined>;

  /**
   * Follows a thread.
   *
   * @param threadId The event that the thread begins with.
   * @param options Whether a client does so by itself, and request options.
   * @throws {NotFoundError} If there is no such thread.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   */
  setThreadSubscription(threadId: EventID, options?: SetThreadSubscriptionOptions): Promise<void>;

  /**
   * Follows a thread no more.
   *
   * @param threadId The event that the thread begins with.
   * @param options Request options.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   */
  removeThreadSubscription(threadId: EventID, options?: RequestOptions): Promise<void>;

  /**
   * Sends a message with any content.
   *
   * @param content The content: text, media, a location or anything else with a `msgtype`.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommessage | m.room.message}
   */
  sendMessage(content: RoomMessageContent, options?: SendOptions): Promise<EventID>;

  /**
   * Sends text, as {@linkcode SendHelpersAPI.sendText} does.
   *
   * @param text The text.
   * @param options Formatting, kind, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   */
  sendMessage(text: string, options?: SendTypedTextOptions): Promise<EventID>;

  /**
   * Sends text.
   *
   * @param text The plain text; `null` or undefined to make it from `html`.
   * @param options Formatting, kind, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mtext | m.text}
   */
  sendText(text: string | null | undefined, options?: SendTypedTextOptions): Promise<EventID>;

  /**
   * Replaces what a message of the user's says. Clients that know no edits show the new text
   * as a message, with a `* ` in front.
   *
   * @param eventId The message; of one that was edited before, the first.
   * @param text The plain text that it says from now on; `null` or undefined to make it from `html`.
   * @param options Formatting, kind, transaction ID, encryption, and request options.
   * @returns The ID of the edit.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#event-replacements | Event replacements}
   */
  edit(eventId: EventID, text: string | null | undefined, options?: EditOptions): Promise<EventID>;

  /**
   * Sends text that other bots do not answer; the right kind for what a bot says.
   *
   * @param text The plain text; `null` or undefined to make it from `html`.
   * @param options Formatting, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mnotice | m.notice}
   */
  sendNotice(text: string | null | undefined, options?: SendTextOptions): Promise<EventID>;

  /**
   * Sends an action of the user, as `/me` writes it.
   *
   * @param text What the user does; `null` or undefined to make it from `html`.
   * @param options Formatting, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If there is neither text nor HTML.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#memote | m.emote}
   */
  sendEmote(text: string | null | undefined, options?: SendTextOptions): Promise<EventID>;

  /**
   * Sends a sticker.
   *
   * @param url The `mxc://` URL of the image.
   * @param info What is known of the image.
   * @param options What it shows, relation, transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ValueError} If `url` is no `mxc://` URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#msticker | m.sticker}
   */
  sendSticker(url: ContentURI, info: ImageInfo, options?: SendStickerOptions): Promise<EventID>;

  /**
   * Reacts to an event.
   *
   * @param eventId The event.
   * @param key The reaction, mostly an emoji.
   * @param options Transaction ID and request options. Reactions are not encrypted by default.
   * @returns The ID of the reaction; redact it to take the reaction back.
   * @throws {DuplicateAnnotationError} If the user has reacted to the event with this key before.
   * @throws {ValueError} If `key` is empty.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mreaction | m.reaction}
   */
  react(eventId: EventID, key: string, options?: SendOptions): Promise<EventID>;

  /**
   * Sends a file: data, or what has been uploaded before.
   *
   * Data is uploaded as `uploadMedia()` does it. If the room is encrypted, it is encrypted first,
   * with a key that only the message contains; the server learns neither its media type nor its
   * name. So is the thumbnail, with a key of its own. Nothing is uploaded before all options were
   * checked, and a stream is used up also if sending fails later.
   *
   * @param url The file: data, or where it is, as `uploadMedia()` returned it, or an encrypted
   *   file, as a message has it.
   * @param options What is known of the file, its name, kind and thumbnail, what it answers, transaction
   *   ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {EncryptionError} If the room is encrypted, and the client can't encrypt.
   * @throws {TooLargeError} If the server takes no content as large as this.
   * @throws {ValueError} If `url` is neither data nor an `mxc://` URI, or the data has another size
   *   than `info` says.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mfile | m.file}
   */
  sendFile(url: ContentURI | EncryptedFile | MediaData, options?: SendFileOptions): Promise<EventID>;

  /**
   * Sends an image: data, or what has been uploaded before. Data is treated as by `sendFile()`.
   *
   * @param url The image: data, or where it is, as `uploadMedia()` returned it, or an encrypted
   *   file, as a message has it.
   * @param options What is known of the image, its name and thumbnail, what it answers, transaction ID,
   *   encryption, and request options.
   * @returns The ID of the event.
   * @throws {EncryptionError} If the room is encrypted, and the client can't encrypt.
   * @throws {TooLargeError} If the server takes no content as large as this.
   * @throws {ValueError} If `url` is neither data nor an `mxc://` URI, or the data has another size
   *   than `info` says.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mimage | m.image}
   */
  sendImage(url: ContentURI | EncryptedFile | MediaData, options?: SendImageOptions): Promise<EventID>;

  /**
   * Encrypts an event for a room, creating and sharing a group session first if need be.
   *
   * @param eventType The type of the event.
   * @param content Its content.
   * @returns The content of the `m.room.encrypted` event, to be sent with `sendMessageEvent()`. It
   *   differs each time, so that in a handler the send should have a `key`.
   * @throws {EncryptionError} If the client has no encryption, or it can't be done.
   *   Redactions are never encrypted, nor what is encrypted already.
   */
  encrypt(eventType: string, content: object): Promise<RoomEncryptedContent>;

  /**
   * Creates a group session for a room and shares it with its members' devices, so that the first
   * message need not wait.
   *
   * @returns Which devices have the key, and which do not get it and why.
   * @throws {EncryptionError} If the client has no encryption, or it can't be done.
   */
  shareGroupSession(): Promise<ShareReport>;

  /**
   * Returns whether a room is encrypted: once a room was seen encrypted it counts as encrypted, even if the
   * server says otherwise later. The client asks the server if it does not know, unless syncs would
   * have shown it.
   *
   * @param options Request options, for what has to be looked up.
   * @throws {MatrixError} If the server has to be asked, and can't say.
   */
  isEncrypted(options?: RequestOptions): Promise<boolean>;

  /**
   * The queue of a room: what is added to it leaves in that order,
   * without being awaited, one after the other.
   *
   * A send is in the `store` before it leaves, with its transaction ID. So it is sent once, though the
   * process ends at any moment: the next one goes on when it has handled the first sync of a start, begins a
   * pass (`syncOnce()`), or has this called for the room. While the server is away or busy, the queue waits,
   * and tries again after up to a minute. A send that the server refuses for good, or itself fails at 30
   * times, is taken out and logged, and those behind it go on. Homeservers forget transaction IDs after a
   * day or so: a send whose answer was lost may come twice if the next process begins later than that.
   *
   * A room's queue holds 1,000 sends. Without a `store` they end with the client.
   * In a handler, a send that is added again after a crash is the same.
   *
   * @param options What is called with the progress of the queue.
   * @throws {ValueError} If the room's ID can't be one.
   */
  queue(options?: QueueOptions): SendQueue;
}
