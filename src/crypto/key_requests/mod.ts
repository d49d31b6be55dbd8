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
} from "./asked_devices.ts";
export { KeyRequests } from "./key_requests.ts";
export { type KeyReceivers, type KeysOutput, receiveKeys } from "./receive_keys.ts";
