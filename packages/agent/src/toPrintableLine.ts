/**
 * Control characters, characters that change the text direction, separators and lone surrogates.
 */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const maxLength = 2_000

/**
 * Converts text from the service or from a called server to one line that is safe to print. Escape
 * sequences could clear the terminal, overwrite lines or send keyboard input.
 */
export const toPrintableLine = (text: string): string => {
  const line = text
    .slice(0, maxLength)
    .replaceAll(/\s*[\r\n]+\s*/g, " | ")
    .replaceAll(
      unprintable,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`
    )
  return text.length > maxLength ? `${line} (truncated)` : line
}
