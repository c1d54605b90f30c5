/** Names and errors come from users and from servers that they call: no line break reaches a header. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .toWellFormed()
    .trim()

/** At most so many UTF-16 units, and no half of a character. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${withoutHalf(text.slice(0, max - 1))}…`

/** At most so many bytes in UTF-8. */
export const cutBytes = (text: string, max: number): string => {
  if (Buffer.byteLength(text) <= max) return text
  const bytes = Buffer.from(text).subarray(0, max - 3)
  return `${new TextDecoder().decode(bytes, { stream: true })}…`
}

const withoutHalf = (text: string) => (text.isWellFormed() ? text : text.slice(0, -1))

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** What Markdown gives a meaning, in whatever flavour. */
export const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]()#+\-!|~<>]/g, String.raw`\$&`)

/** No `@all` of a task's name calls anybody: an invisible space comes after each `@`. */
export const withoutMentions = (text: string): string => text.replaceAll("@", "@\u200b")
