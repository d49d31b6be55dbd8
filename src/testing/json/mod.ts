/**
 * JSON: how it is read, answered, refused, and signed.
 *
 * @module
 */

export {
  type Answer,
  badJson,
  badRequest,
  Failure,
  forbidden,
  invalidParam,
  missingParam,
  notFound,
  refused,
  Reply,
} from "./answer.ts";
export {
  flag,
  isRoomId,
  isTruthy,
  optionalArray,
  optionalInteger,
  optionalObject,
  optionalString,
  optionalStrings,
  requiredString,
  stringAt,
  valueAt,
} from "./read.ts";
export { canonicalJson, checkSignature, ed25519KeyOf } from "./signed_json.ts";
