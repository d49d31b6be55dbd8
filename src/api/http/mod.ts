/**
 * The transport, and what all operations are made with: endpoints, options, the session, checks of
 * what is sent and received.
 *
 * @module
 */

export type { EndedTokens, FindTokens, OnTokensRefreshed, Tokens } from "./credentials.ts";
export { HTTPAPI } from "./http_api.ts";
export { checkedBaseUrl, type FindAddress } from "./address.ts";
export {
  type Call,
  type CustomRequestOptions,
  HTTP_OPTIONS,
  type HTTPAPIOptions,
  type Prepare,
} from "./http_options.ts";
export {
  checkActOptions,
  checkInteger,
  checkRequestOptions,
  checkRetry,
  optionsOfEach,
  REQUEST_OPTIONS,
  type RequestOptions,
  requestOptions,
} from "./request_options.ts";
export { isMatrixRefusal, isPassing, type RetryPolicy } from "./retry.ts";
export {
  type FillMemberEventAPI,
  type FillMemberEventCallback,
  firstContact,
  isVersion,
  Session,
} from "./session.ts";
export { CALL, DOWNLOAD, IS_TOKEN_DEAD, PREPARE, RESTART_DELAY, SKEW } from "./http_internals.ts";
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
export { incomingContent, shaped } from "./incoming.ts";
export {
  checkedType,
  type ContentAs,
  type OutgoingEvent,
  outgoingEvent,
  type SendableContent,
} from "./outgoing_event.ts";
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
export { announcedSize, type Answer, letGo, readBytes, readChunks } from "./response_body.ts";
export { type ReadAnswer, skewOf, timeOf, wrongBy } from "./exchange.ts";
export { identified, isToldByContent, type SendingUser, type TransactionOptions } from "./transaction_id.ts";
