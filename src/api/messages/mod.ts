/**
 * Messages: sending, reading, searching, reporting and marking them as read.
 *
 * @module
 */

export {
  type CreateDelayedEventOptions,
  type DelayedEvent,
  type DelayedEventsAPI,
  delayedEventsAPI,
} from "./delayed_events.ts";
export {
  type GetRelationsOptions,
  type GetThreadsOptions,
  type RelationsAPI,
  relationsAPI,
  type SetThreadSubscriptionOptions,
  type ThreadSubscription,
  type ThreadSubscriptionsAPI,
  threadSubscriptionsAPI,
} from "./relations.ts";
export { type MatrixLink, matrixToUrl, matrixUri, parseMatrixLink } from "./matrix_link.ts";
export {
  checkSendOptions,
  type GetMessagesOptions,
  type MessagesAPI,
  messagesAPI,
  type RedactOptions,
  relationTo,
  type ReplyPlace,
  type SendOptions,
} from "./messages.ts";
export {
  type ReceiptsAPI,
  receiptsAPI,
  type SendReceiptOptions,
  type SetFullyReadMarkerOptions,
  type SetTypingOptions,
} from "./receipts.ts";
export { type ReportingAPI, reportingAPI, type ReportOptions } from "./reporting.ts";
export {
  type HistoricProfile,
  type RoomEventsCriteria,
  type RoomEventsResults,
  type SearchAPI,
  searchAPI,
  type SearchCategories,
  type SearchContextCriteria,
  type SearchGroup,
  type SearchGroupings,
  type SearchGroupKey,
  type SearchMessagesOptions,
  type SearchRequest,
  type SearchResponse,
  type SearchResult,
  type SearchResultContext,
} from "./search.ts";
export {
  type PlacedSendOptions,
  type SendFileOptions,
  type SendFilesAPI,
  type SendImageOptions,
  type Thumbnail,
} from "./send_files.ts";
export {
  type EditOptions,
  type SendHelpersAPI,
  sendHelpersAPI,
  type SendStickerOptions,
  type SendTextOptions,
  type SendTypedTextOptions,
} from "./send_helpers.ts";
export {
  type SendToDeviceOptions,
  type ToDeviceAPI,
  toDeviceAPI,
  type ToDeviceMessages,
} from "./to_device.ts";
export { type IterateMessagesOptions, type PagingAPI, pagingAPI } from "./paging.ts";
