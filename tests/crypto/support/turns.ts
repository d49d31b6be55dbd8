/** How often some work lets other work of the process go on. */

/** Counts the turns of the event loop during some work. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const count = () => void (isOver || (turns++, setImmediate(count)));
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}
