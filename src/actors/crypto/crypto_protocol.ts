/**
 * What the Crypto actor can be asked: the engine's steps, as messages.
 *
 * @module
 */

import type { ParkedEventRef } from "../../crypto/megolm/decrypted.ts";
import type { Device } from "../../crypto/devices/device.ts";
import type {
  AnswerOutput,
  CryptoInput,
  CryptoOutput,
  Decryption,
  Encrypted,
  EncryptInput,
  EngineAccount,
  EngineRequest,
  FailureOutput,
  MemberChange,
  OwnIdentity,
  PrepareInput,
  PruneOptions,
  PruneReport,
  RecoveredEvent,
  RequestFailure,
  RoomDescription,
  RoomReadiness,
  SentRoomEvent,
  StaleInput,
  TrustInput,
} from "../../crypto/engine/engine_protocol.ts";
import type { ComparedIdentity, UserIdentity } from "../../crypto/devices/user_record.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";

/** The messages of the Crypto actor: each is one step, durable when the reply comes, or, of a sync, with its token. A commit that fails is fatal. */
export interface CryptoProtocol {
  /** Opens the engine of a device; before anything else. */
  open(account: EngineAccount): OwnIdentity;
  /** Takes in a sync response. */
  receiveSync(input: CryptoInput): CryptoOutput;
  /** Decrypts an event that did not come with a sync. */
  decrypt(event: MessageEvent): Decryption;
  /** All requests that are to be made now. */
  requests(): EngineRequest[];
  /** Takes in the answer to a request. */
  answer(body: { readonly id: string; readonly response: JsonObject }): AnswerOutput;
  /** Takes in that a request failed. */
  fail(body: { readonly id: string; readonly failure: RequestFailure }): FailureOutput;
  /** Says what stands between a room and its next event, and goes one step further towards it. */
  prepare(input: PrepareInput): RoomReadiness;
  /** Takes in what a room is. */
  describeRoom(description: RoomDescription): void;
  /** Takes in what a user is to a room since a moment ago. */
  memberChanged(change: MemberChange): void;
  /** Encrypts an event; undefined if the room has to be prepared first. */
  encrypt(input: EncryptInput): Encrypted | undefined;
  /** Forgets an encrypted event: it has arrived, or never will. */
  roomEventSent(event: SentRoomEvent): void;
  /** Writes down what was forgotten since: it comes with the next step otherwise. */
  noteSent(): void;
  /** Forgets events that had been waiting for their keys, and have been handled since. */
  settle(events: readonly ParkedEventRef[]): void;
  /** Has the next event of a room begin a new group session. */
  discardGroupSession(roomId: RoomID): void;
  /** The devices of users, as far as they are known. */
  devicesOf(users: readonly UserID[]): Device[];
  /** Whether something about users' devices is out of date; users who were not of interest are from now on. */
  areDevicesStale(input: StaleInput): boolean;
  /** Takes in what the application says of a device. */
  setDeviceTrust(input: TrustInput): RecoveredEvent[];
  /** By which keys a user vouches for devices; undefined if none were ever seen. */
  identityOf(userId: UserID): UserIdentity | undefined;
  /** Takes in that the application has accepted a user's identity. */
  acknowledgeIdentity(identity: ComparedIdentity): RecoveredEvent[];
  /** One step of letting go of what need not be kept any more, once a day at most; to be asked for again until it is done. */
  prune(options: PruneOptions): PruneReport;
}
