/**
 * The emoji of short authentication strings.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#sas-method-emoji | SAS method: emoji}
 * @module
 */

/** One of the seven emoji that two people compare. */
export interface VerificationEmoji {
  /** The emoji itself. */
  readonly symbol: string;
  /** Its name in English, as other clients show it: to be read aloud. */
  readonly name: string;
}

const TABLE = "🐶 Dog,🐱 Cat,🦁 Lion,🐎 Horse,🦄 Unicorn,🐷 Pig,🐘 Elephant,🐰 Rabbit,🐼 Panda,🐓 Rooster," +
  "🐧 Penguin,🐢 Turtle,🐟 Fish,🐙 Octopus,🦋 Butterfly,🌷 Flower,🌳 Tree,🌵 Cactus,🍄 Mushroom,🌏 Globe," +
  "🌙 Moon,☁️ Cloud,🔥 Fire,🍌 Banana,🍎 Apple,🍓 Strawberry,🌽 Corn,🍕 Pizza,🎂 Cake,❤️ Heart,😀 Smiley," +
  "🤖 Robot,🎩 Hat,👓 Glasses,🔧 Spanner,🎅 Santa,👍 Thumbs Up,☂️ Umbrella,⌛ Hourglass,⏰ Clock,🎁 Gift," +
  "💡 Light Bulb,📕 Book,✏️ Pencil,📎 Paperclip,✂️ Scissors,🔒 Lock,🔑 Key,🔨 Hammer,☎️ Telephone,🏁 Flag," +
  "🚂 Train,🚲 Bicycle,✈️ Aeroplane,🚀 Rocket,🏆 Trophy,⚽ Ball,🎸 Guitar,🎺 Trumpet,🔔 Bell,⚓ Anchor," +
  "🎧 Headphones,📁 Folder,📌 Pin";

/** The 64 emoji, by their number. */
export const EMOJI: readonly VerificationEmoji[] = TABLE.split(",").map((entry) => {
  const space = entry.indexOf(" ");
  return { symbol: entry.slice(0, space), name: entry.slice(space + 1) };
});

/** The emoji of a string. */
export function emojiOf(indices: readonly number[]): readonly VerificationEmoji[] {
  return indices.map((index) => EMOJI[index] as VerificationEmoji); // six bits each
}
