/**
 * Contents of the events by which two devices, or two users, verify each other.
 *
 * @module
 */

import { RelationType } from "../enums.ts";
import type { VerificationRelatesTo } from "../content/relation.ts";
import type {
  BaseVerificationContent,
  ReciprocateStartContent,
  SasStartContent,
  VerificationAcceptContent,
  VerificationCancelContent,
  VerificationDoneContent,
  VerificationKeyContent,
  VerificationMacContent,
  VerificationReadyContent,
  VerificationRequestContent,
  VerificationStartContent,
} from "../content/verification_content.ts";
import { list, map, object, tag, variants } from "./composite_shapes.ts";
import { eventId, type Members, number, oneOf, optional, orElse, type Shape, text } from "./shape.ts";

const base: Members<BaseVerificationContent> = {
  transaction_id: optional(text),
  "m.relates_to": optional(object<VerificationRelatesTo>({
    rel_type: oneOf(RelationType.REFERENCE),
    event_id: eventId,
  })),
};

/** `m.key.verification.request`. */
export const verificationRequest: Shape<VerificationRequestContent> = object<VerificationRequestContent>({
  from_device: text,
  methods: list(text),
  transaction_id: optional(text),
  timestamp: optional(number),
});

/** `m.key.verification.ready`. */
export const verificationReady: Shape<VerificationReadyContent> = object<VerificationReadyContent>({
  ...base,
  from_device: text,
  methods: list(text),
});

/** `m.key.verification.start`. */
export const verificationStart: Shape<VerificationStartContent> = variants<{
  "m.sas.v1": SasStartContent;
  "m.reciprocate.v1": ReciprocateStartContent;
}>("method", {
  "m.sas.v1": object<SasStartContent>({
    ...base,
    method: tag(),
    from_device: text,
    key_agreement_protocols: list(text),
    hashes: list(text),
    message_authentication_codes: list(text),
    short_authentication_string: list(text),
  }),
  "m.reciprocate.v1": object<ReciprocateStartContent>({
    ...base,
    method: tag(),
    from_device: text,
    secret: text,
  }),
});

/** `m.key.verification.accept`. */
export const verificationAccept: Shape<VerificationAcceptContent> = object<VerificationAcceptContent>({
  ...base,
  method: optional(oneOf("m.sas.v1")),
  key_agreement_protocol: text,
  hash: text,
  message_authentication_code: text,
  short_authentication_string: list(text),
  commitment: text,
});

/** `m.key.verification.key`. */
export const verificationKey: Shape<VerificationKeyContent> = object<VerificationKeyContent>({
  ...base,
  key: text,
});

/** `m.key.verification.mac`. */
export const verificationMac: Shape<VerificationMacContent> = object<VerificationMacContent>({
  ...base,
  mac: map<VerificationMacContent["mac"]>(text),
  keys: text,
});

/** `m.key.verification.done`. */
export const verificationDone: Shape<VerificationDoneContent> = object<VerificationDoneContent>(base);

/** `m.key.verification.cancel`. */
export const verificationCancel: Shape<VerificationCancelContent> = object<VerificationCancelContent>({
  ...base,
  code: text,
  reason: orElse(text, () => ""),
});
