// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertType, type IsExact } from "@std/testing/types";
import type {
  AccountDataEvent,
  ClassOf,
  ContentOf,
  EphemeralEvent,
  EventID,
  EventIn,
  EventOf,
  EventTypeRef,
  JsonObject,
  MatrixEvent,
  MessageEvent,
  OlmEncryptedContent,
  PresenceEvent,
  RedactableEventOf,
  RoomEncryptedContent,
  RoomID,
  StateEvent,
  StrippedStateEvent,
  ToDeviceEvent,
  UserID,
} from "@greenroom/matrix/types";
import type { SecretStorageKeyContent, TagContent } from "../../../src/types/content/account_data_content.ts";
import type { ReceiptContent } from "../../../src/types/content/to_device_content.ts";
import type { MemberEvent, SyncErrored } from "../../../src/types/events/internal_event.ts";
import type { ImageMessageContent, RoomMessageContent } from "../../../src/types/content/message_content.ts";
import type { RoomNameContent, RoomTopicContent } from "../../../src/types/content/room_state_content.ts";

Deno.test("EventOf is the event of each class that a name stands for", () => {
  assertType<
    IsExact<
      EventOf<"m.room.name">,
      EventIn<"m.room.name", "state", RoomNameContent | { name?: undefined }>
    >
  >(true);
  assertType<IsExact<EventOf<"m.room.message">, MessageEvent<"m.room.message", RoomMessageContent>>>(true);
  assertType<IsExact<EventOf<"m.receipt">, EphemeralEvent<"m.receipt", ReceiptContent>>>(true);
  assertType<IsExact<EventOf<"m.presence">, PresenceEvent>>(true);
  assertType<IsExact<EventOf<"m.tag">, AccountDataEvent<"m.tag", TagContent>>>(true);
  assertType<IsExact<EventOf<"INVITE">, MemberEvent>>(true);
  assertType<IsExact<EventOf<"USER_INVITED">, MemberEvent>>(true);
  assertType<IsExact<MemberEvent["state_key"], UserID>>(true);
  assertType<IsExact<EventOf<"SYNC_ERRORED">, SyncErrored>>(true);
});

Deno.test("EventOf of a name of two classes is a message, of a reference the class that it says", () => {
  assertType<
    IsExact<EventOf<"m.room.encrypted">, MessageEvent<"m.room.encrypted", RoomEncryptedContent>>
  >(true);
  assertType<
    IsExact<
      EventOf<EventTypeRef<"m.room.encrypted", "to_device">>,
      ToDeviceEvent<"m.room.encrypted", OlmEncryptedContent>
    >
  >(true);
});

Deno.test("EventOf of a state type's name sent as a message promises nothing of the content", () => {
  assertType<
    IsExact<EventOf<EventTypeRef<"m.room.name", "message">>, MessageEvent<"m.room.name", JsonObject>>
  >(true);
});

Deno.test("EventOf of an undefined name is any event with any content", () => {
  assertType<IsExact<EventOf<"com.example.x">, MatrixEvent<"com.example.x">>>(true);
  assertType<IsExact<EventOf<string>, MatrixEvent>>(true);
});

Deno.test("EventOf of several types is the union of their events", () => {
  assertType<
    IsExact<EventOf<"m.room.name" | "m.room.topic">, EventOf<"m.room.name"> | EventOf<"m.room.topic">>
  >(true);
});

Deno.test("ContentOf follows the name, the reference and the family of secret storage keys", () => {
  assertType<IsExact<ContentOf<"m.room.topic">, RoomTopicContent>>(true);
  assertType<IsExact<ContentOf<EventTypeRef<"m.room.topic", "state">>, RoomTopicContent>>(true);
  assertType<IsExact<ContentOf<"m.secret_storage.key.abc">, SecretStorageKeyContent>>(true);
  assertType<IsExact<ContentOf<"com.example.x">, JsonObject>>(true);
  assertType<IsExact<ClassOf<"m.secret_storage.key.abc">, "account_data">>(true);
  assertType<IsExact<ClassOf<"com.example.x">, "unknown">>(true);
});

Deno.test("RedactableEventOf is the event with its content, or with nothing of it", () => {
  type Message = RedactableEventOf<"m.room.message">;
  assertType<IsExact<Message["content"]["body"], string | undefined>>(true);
  assertType<IsExact<RedactableEventOf<"m.room.avatar">, EventOf<"m.room.avatar">>>(true);
  assertType<IsExact<RedactableEventOf<"com.example.x">, EventOf<"com.example.x">>>(true);
});

Deno.test("A handler of any event takes every typed event", () => {
  const anyEvent = (_event: MatrixEvent): void => {};
  const message: (event: EventOf<"m.room.message">) => void = anyEvent;
  const name: (event: EventOf<"m.room.name">) => void = anyEvent;
  const presence: (event: EventOf<"m.presence">) => void = anyEvent;
  const toDevice: (event: EventOf<"m.room_key">) => void = anyEvent;
  void [message, name, presence, toDevice];
});

Deno.test("MatrixEvent is narrowed to state by its state key", () => {
  const roomOf = (event: MatrixEvent): void => {
    if ("state_key" in event && event.state_key !== undefined) {
      assertType<IsExact<typeof event, StateEvent | StrippedStateEvent>>(true);
    }
  };
  void roomOf;
});

Deno.test("RoomMessageContent is narrowed by msgtype", () => {
  const read = (content: RoomMessageContent): string => {
    if (content.msgtype === "m.image") {
      assertType<IsExact<typeof content, ImageMessageContent>>(true);
      return content.url ?? content.file?.url ?? "";
    }
    return content.body;
  };
  void read;
});

Deno.test("Members of room state have IDs of their kind", () => {
  assertType<IsExact<EventOf<"m.room.message">["room_id"], RoomID>>(true);
  assertType<IsExact<EventOf<"m.room.message">["event_id"], EventID>>(true);
  assertType<IsExact<EventOf<"m.room.name">["event_id"], EventID | undefined>>(true);
  assertType<IsExact<EventOf<"m.room_key">["sender"], UserID>>(true);
});
