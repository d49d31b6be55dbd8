/**
 * People who write: what they are called, and what they say, in several scripts.
 *
 * @module
 */

import { oneOf, type Random } from "../../kill/random.ts";

const NAMES = [
  "Ada",
  "Žofie",
  "Νίκος",
  "Мария",
  "محمد",
  "नेहा",
  "李雷",
  "さくら",
  "김민준",
  "Zoë 🌻",
  "Bjørn",
  "Ọlá",
] as const;

const WORDS = [
  "the",
  "room",
  "is",
  "green",
  "and",
  "we",
  "wait",
  "for",
  "release",
  "Straße",
  "naïve",
  "façade",
  "дождь",
  "сегодня",
  "今日は",
  "明天",
  "안녕하세요",
  "γεια",
  "שלום",
  "नमस्ते",
  "🎉",
  "👩‍💻",
  "https://example.org/a?b=c&d=e",
  "`code`",
  '"quoted"',
] as const;

/** A user's name. */
export function displayName(random: Random): string {
  return `${oneOf(random, NAMES)} ${Math.floor(random() * 1_000)}`;
}

/** A message: 3 to 40 words. */
export function sentence(random: Random): string {
  const count = 3 + Math.floor(random() * random() * 38);
  return Array.from({ length: count }, () => oneOf(random, WORDS)).join(" ");
}
