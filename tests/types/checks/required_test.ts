import { assertEquals } from "@std/assert";
import { contentCheckOf, Malformed } from "../../../src/types/events/define_event.ts";
import { CHECKED_CLASSES, shapeOf } from "../../../src/types/checks/content_shapes.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import { isJsonObject } from "../../../src/types/json.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { sampleOf, type Schema } from "../schema_sample.ts";
import { readSharedJson, specificationTest } from "../shared_schemas.ts";

/** A content without one of its members, however deep, and the way to that. */
function* lacking(value: unknown, path: readonly string[] = []): Generator<[path: string, content: unknown]> {
  const isList = Array.isArray(value);
  const entries = isList ? value.slice(0, 1) : isJsonObject(value) ? value : {};
  for (const [name, inner] of Object.entries(entries)) {
    if (!isList) {
      const { [name]: _, ...others } = value as JsonObject;
      yield [[...path, name].join("."), others];
    }
    for (const [at, less] of lacking(inner, [...path, name])) {
      yield [at, isList ? value.with(Number(name), less) : { ...(value as JsonObject), [name]: less }];
    }
  }
}

/**
 * The members without which a content reaches no handler, by type. Each is what the content says, or
 * what tells which thing it is about: without it there would be nothing to handle. What only explains
 * or repeats that is not among them.
 */
const REQUIRED: Readonly<Record<string, string>> = {
  "m.call.answer": "answer answer.sdp answer.type call_id",
  "m.call.candidates": "call_id candidates",
  "m.call.hangup": "call_id",
  // An invitation without an end would ring for ever.
  "m.call.invite": "call_id lifetime offer offer.sdp offer.type",
  "m.call.negotiate": "call_id description description.sdp description.type lifetime",
  "m.call.reject": "call_id",
  "m.call.sdp_stream_metadata_changed": "call_id sdp_stream_metadata",
  "m.call.select_answer": "call_id selected_party_id",
  // What a key is, and whose, as far as it is believed.
  "m.forwarded_room_key": "algorithm room_id sender_claimed_ed25519_key sender_key session_id session_key",
  "m.fully_read": "event_id",
  // Every part that a verification computes with, or that binds one step to the next.
  "m.key.verification.accept":
    "commitment hash key_agreement_protocol message_authentication_code short_authentication_string",
  "m.key.verification.cancel": "code",
  "m.key.verification.key": "key",
  "m.key.verification.mac": "keys mac",
  "m.key.verification.ready": "from_device methods",
  "m.key.verification.request": "from_device methods",
  "m.key.verification.start$m.reciprocate.v1": "from_device method secret",
  "m.key.verification.start$m.sas.v1":
    "from_device hashes key_agreement_protocols message_authentication_codes method short_authentication_string",
  "m.key_backup": "enabled",
  "m.marked_unread": "unread",
  "m.policy.rule.room": "entity recommendation",
  "m.policy.rule.server": "entity recommendation",
  "m.policy.rule.user": "entity recommendation",
  "m.presence": "presence",
  "m.reaction": "m.relates_to m.relates_to.event_id m.relates_to.key m.relates_to.rel_type",
  "m.recent_emoji": "recent_emoji",
  "m.room.encrypted": "algorithm ciphertext session_id",
  "m.room.encryption": "algorithm",
  "m.room.join_rules": "join_rule",
  "m.room.member": "membership",
  "m.room.message": "msgtype",
  "m.room.message$m.audio": "msgtype",
  // Text without text is nothing; elsewhere the text stands for something else.
  "m.room.message$m.emote": "body msgtype",
  "m.room.message$m.file": "msgtype",
  "m.room.message$m.image": "msgtype",
  "m.room.message$m.key.verification.request": "from_device methods msgtype to",
  "m.room.message$m.location": "geo_uri msgtype",
  "m.room.message$m.notice": "body msgtype",
  "m.room.message$m.server_notice": "msgtype",
  "m.room.message$m.text": "body msgtype",
  "m.room.message$m.video": "msgtype",
  "m.room.policy": "public_keys public_keys.ed25519 via",
  "m.room.third_party_invite": "display_name",
  "m.room.tombstone": "replacement_room",
  "m.room.topic": "topic",
  "m.room_key": "algorithm room_id session_id session_key",
  // The file is checked as the specification asks for, before it is decrypted.
  "m.room_key_bundle":
    "file file.hashes file.iv file.key file.key.alg file.key.k file.key.key_ops file.key.kty " +
    "file.url file.v room_id",
  "m.room_key.withheld": "algorithm code sender_key",
  "m.room_key_request": "action request_id requesting_device_id",
  "m.secret.request": "action request_id requesting_device_id",
  "m.secret.send": "request_id secret",
  "m.space.child": "via",
  "m.space.parent": "via",
  "m.typing": "user_ids",
};

specificationTest(
  "Only what a content says must be there: without any other member it reaches its handlers",
  () => {
    const schemas = readSharedJson<Record<string, Schema>>("event-schemas.json");
    const required: Record<string, Set<string>> = {};
    for (const [name, schema] of Object.entries(schemas)) {
      if (name === "m.key.verification.start") continue; // its variants say it all
      const { content } = sampleOf(schema, schema) as { content: JsonObject };
      const [type = ""] = name.split("$");
      for (const eventClass of CHECKED_CLASSES.filter((each) => shapeOf(each, type) !== undefined)) {
        // The sample is that of a message.
        if (type === "m.room.encrypted" && eventClass === "to_device") continue;
        for (const [path, less] of lacking(content)) {
          const checked = contentCheckOf(eventType(type, eventClass))?.(less);
          const isLost = checked instanceof Malformed && checked.content === undefined;
          if (isLost) (required[name] ??= new Set()).add(path);
        }
      }
    }
    const found = Object.fromEntries(
      Object.entries(required).map(([name, paths]) => [name, [...paths].sort().join(" ")]),
    );
    assertEquals(found, REQUIRED);
  },
);

/** Contents that lack a member which their types have, and what handlers get. */
const FILLED: readonly [
  type: Parameters<typeof contentCheckOf>[0],
  content: JsonObject,
  filled: JsonObject,
][] = [
  ["m.room.message", { msgtype: "m.image", url: "mxc://a/b" }, { body: "" }],
  ["m.room.message", { msgtype: "m.location", geo_uri: "geo:1,2" }, { body: "" }],
  ["m.room.message", { msgtype: "com.example.dice", eyes: 6 }, { body: "" }],
  ["m.sticker", { url: "mxc://a/b" }, { body: "" }],
  ["m.call.hangup", { call_id: "a" }, { version: 0 }],
  ["m.room.image_pack", { pack: { display_name: "Cats" } }, { images: {} }],
];

Deno.test("What no code needs of a content is filled in where it is missing, and nothing is reported", () => {
  for (const [type, content, filled] of FILLED) {
    assertEquals(contentCheckOf(type)?.(content), { ...content, ...filled });
  }
});
