/**
 * Requests for secrets between own devices that are verified.
 *
 * @module
 */

export { SecretAnswers } from "./secret_answers.ts";
export { type AskedSecrets, SecretRequests, type WantedSecrets } from "./secret_requests.ts";
