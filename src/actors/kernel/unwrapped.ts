/**
 * Errors of actors, as callers see them.
 *
 * @module
 */

import { ActorError } from "./actor_error.ts";
import { MatrixError } from "../../errors/matrix_error.ts";

/**
 * Says why, in place of where: what is wrong with the account or the server concerns the caller
 * more than our actors.
 */
export async function unwrapped<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw reasonOf(error);
  }
}

/** Why an actor failed, if that is an error for callers. */
export function reasonOf(error: unknown): unknown {
  return error instanceof ActorError && error.cause instanceof MatrixError ? error.cause : error;
}
