import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  ForbiddenError,
  MatrixError,
  type MatrixRequestError,
  NotFoundError,
  ValueError,
} from "@greenroom/matrix";
import { ConversationError } from "@greenroom/matrix/bot";
import type { Context } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

class PaymentError extends MatrixError {}

/** What a function catches before a question: when it runs first, and when it runs again. */
async function caught(work: (c: Context) => Promise<unknown>): Promise<Error[]> {
  const errors: Error[] = [];
  await using tester = trying((bot) =>
    bot.command("go", async (c) => {
      await work(c as Context).catch((error) => errors.push(error));
      await c.ask("Well?");
    })
  );
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("Well?");
  await tester.restart();
  await room.say("well");
  await tester.settle();
  return errors;
}

Deno.test("An error that was caught before a question is of the same class, with the same members, when the function runs again", async () => {
  const [first, again] = await caught((c) => c.redact("$nope")) as MatrixRequestError[];
  assertEquals([first instanceof NotFoundError, again instanceof NotFoundError], [true, true]);
  assertEquals(
    [again?.errcode, again?.status, again?.message, again?.operation, again?.body],
    [first?.errcode, first?.status, first?.message, first?.operation, first?.body],
  );
  const elsewhere = await caught((c) => c.step(() => c.client.sendText("!nowhere:localhost", "hello")));
  assertEquals(elsewhere.map((each) => each instanceof ForbiddenError), [true, true]);
  const bad = await caught((c) =>
    c.step(() => Promise.reject(new ValueError("Cannot count: it is no number")))
  );
  assertEquals(bad.map((each) => [each instanceof ValueError, each.message]), [
    [true, "Cannot count: it is no number"],
    [true, "Cannot count: it is no number"],
  ]);
  const built = await caught((c) => c.step(() => Promise.reject(new TypeError("no function"))));
  assertEquals(built.map((each) => each instanceof TypeError), [true, true]);
});

Deno.test("An error of a class of the bot's own keeps its name and message when the function runs again", async () => {
  const [, again] = await caught((c) => c.step(() => Promise.reject(new PaymentError("no money"))));
  assertEquals([again?.name, again?.message], ["PaymentError", "no money"]);
  assertInstanceOf(again, ConversationError);
});
