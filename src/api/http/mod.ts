/**
 * The transport, and what all operations are made with: endpoints, options, the session, checks of
 * what is sent and received.
 *
 * @module
 */

export {
  checkedBaseUrl,
  type EndedTokens,
  type FindAddress,
  type FindTokens,
  type OnTokensRefreshed,
  type Tokens,
} from "./credentials.ts";
export { HTTPAPI } from "./http_api.ts";
export {
  CALL,
  type Call,
  type CustomRequestOptions,
  DOWNLOAD,
  ELSEWHERE,
  HTTP_OPTIONS,
  type HTTPAPIOptions,
  IS_TOKEN_DEAD,
  PREPARE,
  type Prepare,
  RESTART_DELAY,
  SKEW,
  TOKEN_DIED,
} from "./http_options.ts";
export {
  calledAs,
  checkActOptions,
  checkInteger,
  checkRequestOptions,
  checkRetry,
  optionsOfEach,
  PATIENCE,
  REQUEST_OPTIONS,
  type RequestOptions,
  requestOptions,
  type RetryPolicy,
} from "./request_options.ts";
export { isMatrixRefusal, isPassing } from "./tries.ts";
export {
  type FillMemberEventAPI,
  type FillMemberEventCallback,
  firstContact,
  isVersion,
  Session,
} from "./session.ts";
export {
  decoded,
  type Endpoint,
  endpoint,
  field,
  fields,
  fillPath,
  jsonObject,
  listOf,
  type Method,
  nothing,
  type Query,
  queryString,
  unchecked,
} from "./endpoint.ts";
export {
  checkedType,
  type ContentAs,
  identified,
  incomingContent,
  isToldByContent,
  type OutgoingEvent,
  outgoingEvent,
  type SendableContent,
  type SendingUser,
  shaped,
  type TransactionOptions,
} from "./events.ts";
export {
  isMediaData,
  type MediaData,
  type MediaSource,
  mediaSource,
  type OnProgress,
  type ReadableSource,
  streamIn,
  unusable,
  uploadBody,
} from "./upload_body.ts";
export { announcedSize, type Answer, letGo, readBytes, readChunks } from "./answer.ts";
export { type ReadAnswer, skewOf, timeOf, wrongBy } from "./exchange.ts";
