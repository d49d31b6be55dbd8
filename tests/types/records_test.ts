import { assert } from "@std/assert";
import { assertCompiles, moduleOf } from "./compiler.ts";
import { sampleOf, type Schema } from "./schema_sample.ts";
import { readSharedJson, specificationTest } from "./shared_schemas.ts";

/** What the specification calls an operation, and the file and type of its answer. */
const ANSWERS: readonly (readonly [operationId: string, file: string, type: string])[] = [
  ["claimKeys", "device_keys.ts", "KeysClaimResponse"],
  ["createContent", "media.ts", "CreateMediaResponse"],
  ["generateLoginToken", "login.ts", "LoginTokenResponse"],
  ["getCapabilities", "capabilities.ts", "{ capabilities: Capabilities }"],
  ["getConfigAuthed", "media.ts", "MediaConfig"],
  ["getDevice", "device.ts", "Device"],
  ["getDevices", "device.ts", "{ devices: Device[] }"],
  ["getEventByTimestamp", "history.ts", "TimestampToEventResponse"],
  ["getEventContext", "history.ts", "EventContextResponse"],
  ["getFilter", "filter.ts", "Filter"],
  ["getJoinedMembersByRoom", "room_records.ts", "{ joined: Record<string, RoomMember> }"],
  ["getKeysChanges", "device_keys.ts", "KeysChangesResponse"],
  ["getLoginFlows", "login.ts", "{ flows: LoginFlow[] }"],
  ["getMembersByRoom", "client_event.ts", "{ chunk: ClientStateEvent[] }"],
  ["getOneRoomEvent", "client_event.ts", "ClientEvent"],
  ["getPresence", "profile.ts", "PresenceInfo"],
  ["getProtocolMetadata", "third_party.ts", "ThirdPartyProtocol"],
  ["getPublicRooms", "public_rooms.ts", "PublicRoomsResponse"],
  ["getPushRule", "push_rule.ts", "PushRule"],
  ["getPushRules", "push_rule.ts", "{ global: PushRuleset }"],
  ["getPushers", "pusher.ts", "{ pushers: Pusher[] }"],
  ["getRelatingEvents", "history.ts", "RelationsResponse"],
  ["getRoomEvents", "history.ts", "MessagesResponse"],
  ["getRoomIdByAlias", "public_rooms.ts", "RoomAliasResponse"],
  ["getRoomState", "client_event.ts", "ClientStateEvent[]"],
  ["getRoomSummary", "public_rooms.ts", "RoomSummary"],
  ["getRoomTags", "account_data_content.ts", "TagContent"],
  ["getSpaceHierarchy", "public_rooms.ts", "SpaceHierarchyResponse"],
  ["getThreadRoots", "history.ts", "ThreadsResponse"],
  ["getTokenOwner", "login.ts", "WhoamiResponse"],
  ["getTurnServer", "turn.ts", "TurnServer"],
  ["getUrlPreviewAuthed", "media.ts", "UrlPreview"],
  ["getUserProfile", "profile.ts", "Profile"],
  ["getVersions", "discovery.ts", "VersionsResponse"],
  ["getWellknown", "discovery.ts", "DiscoveryInformation"],
  ["login", "login.ts", "LoginResponse"],
  ["queryKeys", "device_keys.ts", "KeysQueryResponse"],
  ["queryLocationByAlias", "third_party.ts", "ThirdPartyLocation[]"],
  ["queryPublicRooms", "public_rooms.ts", "PublicRoomsResponse"],
  ["queryUserByID", "third_party.ts", "ThirdPartyUser[]"],
  ["refresh", "login.ts", "RefreshResponse"],
  ["requestOpenIdToken", "openid.ts", "OpenIDToken"],
  ["search", "search.ts", "SearchResponse"],
  ["searchUserDirectory", "profile.ts", "UserSearchResponse"],
  ["sync", "sync_response.ts", "SyncResponse"],
  ["upgradeRoom", "room_records.ts", "RoomUpgradeResponse"],
  ["uploadCrossSigningSignatures", "device_keys.ts", "SignaturesUploadResponse"],
  ["uploadKeys", "device_keys.ts", "KeysUploadResponse"],
];

/** The same for what an operation takes. */
const BODIES: readonly (readonly [operationId: string, file: string, type: string])[] = [
  ["defineFilter", "filter.ts", "Filter"],
  ["joinRoom", "room_records.ts", "{ third_party_signed?: ThirdPartySigned; reason?: string }"],
  ["login", "login.ts", "{ identifier: UserIdentifier; [key: string]: unknown }"],
  ["postPusher", "pusher.ts", "PusherSetup"],
  ["queryPublicRooms", "public_rooms.ts", "PublicRoomsRequest"],
  ["search", "search.ts", "SearchRequest"],
  ["setPushRule", "push_rule.ts", "PushRuleUpdate"],
  ["uploadKeys", "device_keys.ts", "KeysUploadRequest"],
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
