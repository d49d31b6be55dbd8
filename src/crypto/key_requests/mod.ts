/**
 * Requests for room keys between devices, and keys that no device has sent.
 *
 * @module
 */

export {
  asked,
  type AskedDevices,
  checkedAnswer,
  devicesToAsk,
  type OlmAnswer,
  tellAsked,
} from "./key_answers.ts";
export { type KeyReceivers, KeyRequests, type KeysOutput, receiveKeys } from "./key_requests.ts";
