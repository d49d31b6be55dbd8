/**
 * What a bot does at times: reminders, schedules, and the ends of questions.
 *
 * @module
 */

export { isPassing, within } from "./jobs.ts";
export { ReminderLimit } from "./reminder_limit.ts";
export { readCron } from "./schedule.ts";
export type { Accepted, Due, Reminder, Timer } from "./timer.ts";
export { Timers } from "./timers.ts";
