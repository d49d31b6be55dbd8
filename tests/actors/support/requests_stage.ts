/**
 * Outgoing requests between an engine with scripted requests and the sender of requests.
 *
 * @module
 */

import { OutgoingRequests } from "../../../src/actors/crypto/outgoing_requests.ts";
import type { RequestSender } from "../../../src/actors/crypto/request_sender.ts";
import type { CryptoHandlers } from "../../../src/actors/crypto/crypto.ts";
import type { EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type { RequestFailure } from "../../../src/crypto/requests/requests.ts";
import type { AnswerOutput, RecoveredEvent } from "../../../src/crypto/megolm/mod.ts";
import { MatrixRequestError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { recordingLogger } from "../kernel/support.ts";
import { answeredBy } from "../../support/answered_by.ts";

/** What the engine does. */
export interface StagedEngine {
  /** Takes an answer. Default: nothing comes of it. */
  readonly answer?: () => RecoveredEvent[];
  /** Takes a failure, and says whether that settles the request. Default: it does not. */
  readonly fail?: (id: string) => boolean;
  /** Is called, and waited for, when the engine is asked for requests. */
  readonly asked?: () => Promise<void> | undefined;
  /** Whether a request that has waited still makes sense. Default: it does. */
  readonly isDue?: (id: string) => boolean;
}

/**
 * Makes outgoing requests. The engine hands out what is in `requests`, all of it whenever it is
 * asked.
 */
export function requestsStage(
  send: RequestSender,
  { answer = () => [], fail = () => false, asked = () => undefined, isDue = () => true }: StagedEngine = {},
) {
  const requests: EngineRequest[] = [];
  const told: string[] = [];
  const failures: RequestFailure[] = [];
  const delivered: RecoveredEvent[] = [];
  let asks = 0;
  const actor = answeredBy<CryptoHandlers>(async (kind, body) => {
    if (kind === "requests") {
      asks++;
      await asked();
      return requests.splice(0);
    }
    if (kind === "isDue") return isDue(body);
    told.push(`${kind} ${body.id}${kind === "fail" ? ` ${body.failure.status}` : ""}`);
    if (kind === "fail") failures.push(body.failure);
    return kind === "fail" ? { settled: fail(body.id) } : { recovered: answer(), alarms: [] };
  });
  const log = recordingLogger();
  const deliver = ({ recovered }: AnswerOutput): void => void delivered.push(...recovered);
  const outgoing = new OutgoingRequests(actor, send, deliver, log);
  return { requests, told, failures, delivered, log, outgoing, asks: () => asks };
}

/** A request for devices. */
export const query = (id: string): EngineRequest => ({ id, kind: "keysQuery", users: [] });

/** Something for devices, the key of a session if that is given. */
export const toDevice = (id: string, sessionId?: string): EngineRequest => ({
  id,
  kind: "toDevice",
  eventType: "m.room.encrypted",
  txnId: id,
  messages: {},
  sessionId,
});

/** An event of a session. */
export const event = (id: string, sessionId = ""): EngineRequest => ({
  id,
  kind: "roomEvent",
  roomId: "!room:a",
  txnId: id,
  content: { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "", session_id: sessionId },
  createdAt: 0,
});

/** What a server answers that does not do what it is asked for. */
export function refused(status: number, body: JsonObject = {}): MatrixRequestError {
  return new MatrixRequestError({ operation: "send", method: "PUT", path: "/", status, body } as never);
}

/** A request that ends with the outgoing's patience, and not before. */
export const never: RequestSender = (_request, signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** Lets what can go on go on. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
