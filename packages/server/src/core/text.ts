/** Collapses text from users and their servers to one line, so that it is safe in headers. */
export const toOneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .toWellFormed()
    .trim()

/** Truncates text to a number of UTF-16 units, without splitting a character. */
export const truncate = (text: string, max: number): string =>
  text.length <= max ? text : `${withoutHalf(text.slice(0, max - 1))}…`

/** Truncates text to a number of bytes in UTF-8. */
export const truncateBytes = (text: string, max: number): string => {
  if (Buffer.byteLength(text) <= max) return text
  const bytes = Buffer.from(text).subarray(0, max - 3)
  return `${new TextDecoder().decode(bytes, { stream: true })}…`
}

const withoutHalf = (text: string) => (text.isWellFormed() ? text : text.slice(0, -1))

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Escapes the special characters of all Markdown dialects. */
export const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]()#+\-!|~<>]/g, String.raw`\$&`)

/**
 * Escapes Markdown, and inserts a zero-width space after each `@`, so that `@all` in the name of a
 * task notifies nobody.
 */
export const escapeMarkdownAndMentions = (text: string): string =>
  escapeMarkdown(text).replaceAll("@", "@\u200b")
