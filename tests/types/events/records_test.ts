import { assert } from "@std/assert";
import { assertCompiles, moduleOf } from "../compiler.ts";
import { sampleOf, type Schema } from "../schema_sample.ts";
import { readSharedJson, specificationTest } from "../shared_schemas.ts";

/** What the specification calls an operation, and the file and type of its answer. */
const ANSWERS: readonly (readonly [operationId: string, file: string, type: string])[] = [
  ["claimKeys", "api/device_keys.ts", "KeysClaimResponse"],
  ["createContent", "content/file_info.ts", "CreateMediaResponse"],
  ["generateLoginToken", "api/login.ts", "LoginTokenResponse"],
  ["getCapabilities", "../api/server/server.ts", "{ capabilities: Capabilities }"],
  ["getConfigAuthed", "content/file_info.ts", "MediaConfig"],
  ["getDevice", "../api/account/devices.ts", "Device"],
  ["getDevices", "../api/account/devices.ts", "{ devices: Device[] }"],
  ["getEventByTimestamp", "events/room_records.ts", "TimestampToEventResponse"],
  ["getEventContext", "events/room_records.ts", "EventContextResponse"],
  ["getFilter", "events/sync_response.ts", "Filter"],
  ["getJoinedMembersByRoom", "events/room_records.ts", "{ joined: Record<string, RoomMember> }"],
  ["getKeysChanges", "api/device_keys.ts", "KeysChangesResponse"],
  ["getLoginFlows", "api/login.ts", "{ flows: LoginFlow[] }"],
  ["getMembersByRoom", "events/event.ts", "{ chunk: ClientStateEvent[] }"],
  ["getOneRoomEvent", "events/event.ts", "ClientEvent"],
  ["getPresence", "api/public_rooms.ts", "PresenceInfo"],
  ["getProtocolMetadata", "../api/server/third_party.ts", "ThirdPartyProtocol"],
  ["getPublicRooms", "api/public_rooms.ts", "PublicRoomsResponse"],
  ["getPushRule", "content/account_data_content.ts", "PushRule"],
  ["getPushRules", "content/account_data_content.ts", "{ global: PushRuleset }"],
  ["getPushers", "../api/account/notifications.ts", "{ pushers: Pusher[] }"],
  ["getRelatingEvents", "events/room_records.ts", "RelationsResponse"],
  ["getRoomEvents", "events/room_records.ts", "MessagesResponse"],
  ["getRoomIdByAlias", "api/public_rooms.ts", "RoomAliasResponse"],
  ["getRoomState", "events/event.ts", "ClientStateEvent[]"],
  ["getRoomSummary", "api/public_rooms.ts", "RoomSummary"],
  ["getRoomTags", "content/account_data_content.ts", "TagContent"],
  ["getSpaceHierarchy", "api/public_rooms.ts", "SpaceHierarchyResponse"],
  ["getThreadRoots", "events/room_records.ts", "ThreadsResponse"],
  ["getTokenOwner", "api/login.ts", "WhoamiResponse"],
  ["getTurnServer", "../api/server/server.ts", "TurnServer"],
  ["getUrlPreviewAuthed", "content/file_info.ts", "UrlPreview"],
  ["getUserProfile", "api/public_rooms.ts", "Profile"],
  ["getVersions", "api/login.ts", "VersionsResponse"],
  ["getWellknown", "api/login.ts", "DiscoveryInformation"],
  ["login", "api/login.ts", "LoginResponse"],
  ["queryKeys", "api/device_keys.ts", "KeysQueryResponse"],
  ["queryLocationByAlias", "../api/server/third_party.ts", "ThirdPartyLocation[]"],
  ["queryPublicRooms", "api/public_rooms.ts", "PublicRoomsResponse"],
  ["queryUserByID", "../api/server/third_party.ts", "ThirdPartyUser[]"],
  ["refresh", "api/login.ts", "RefreshResponse"],
  ["requestOpenIdToken", "../api/account/third_party_ids.ts", "OpenIDToken"],
  ["search", "../api/messages/search.ts", "SearchResponse"],
  ["searchUserDirectory", "api/public_rooms.ts", "UserSearchResponse"],
  ["sync", "events/sync_response.ts", "SyncResponse"],
  ["upgradeRoom", "events/room_records.ts", "RoomUpgradeResponse"],
  ["uploadCrossSigningSignatures", "api/device_keys.ts", "SignaturesUploadResponse"],
  ["uploadKeys", "api/device_keys.ts", "KeysUploadResponse"],
];

/** The same for what an operation takes. */
const BODIES: readonly (readonly [operationId: string, file: string, type: string])[] = [
  ["defineFilter", "events/sync_response.ts", "Filter"],
  ["joinRoom", "events/room_records.ts", "{ third_party_signed?: ThirdPartySigned; reason?: string }"],
  ["login", "api/login.ts", "{ identifier: UserIdentifier; [key: string]: unknown }"],
  ["postPusher", "../api/account/notifications.ts", "PusherSetup"],
  ["queryPublicRooms", "api/public_rooms.ts", "PublicRoomsRequest"],
  ["search", "../api/messages/search.ts", "SearchRequest"],
  ["setPushRule", "content/account_data_content.ts", "PushRuleUpdate"],
  ["uploadKeys", "api/device_keys.ts", "KeysUploadRequest"],
];

/** What an operation takes or answers. */
interface Payload {
  content?: { "application/json"?: { examples?: Record<string, { value: unknown }>; schema?: Schema } };
}

/** An operation of the specification. */
interface Operation {
  operationId: string;
  requestBody?: Payload;
  responses: Record<string, Payload>;
}

specificationTest(
  "The compiler accepts every operation's answer and body, by example and with every member",
  async () => {
    const api = readSharedJson<{ paths: Record<string, Record<string, Operation>> }>("client-server.json");
    const operations = new Map(
      Object.values(api.paths).flatMap((path) => Object.values(path))
        .map((operation) => [operation.operationId, operation]),
    );
    const lines: string[] = [];
    const add = (payload: Payload | undefined, operationId: string, file: string, type: string): void => {
      const { schema, examples } = payload?.content?.["application/json"] ?? {};
      assert(schema !== undefined, `${operationId} has no schema`);
      const values = [
        sampleOf(schema, api),
        ...Object.values(examples ?? {}).map((example) => example.value),
      ];
      for (const value of values) {
        const name = `${operationId}${lines.length}`;
        const typed = type.replace(/[A-Z]\w*/g, (word) => word === "Record" ? word : `${name}.${word}`);
        lines.push(
          `import type * as ${name} from "${moduleOf(file)}";`,
          `export const ${name}Value: ${typed} = ${JSON.stringify(value)};`,
        );
      }
    };
    for (const [id, file, type] of ANSWERS) add(operations.get(id)?.responses["200"], id, file, type);
    for (const [id, file, type] of BODIES) add(operations.get(id)?.requestBody, id, file, type);
    await assertCompiles(lines.join("\n"));
  },
);
