/** Escapes line breaks as `\r` and `\n`, so that a single-line input can show them. */
export const escapeLineBreaks = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\r", "\\r").replaceAll("\n", "\\n")

export const unescapeLineBreaks = (text: string): string =>
  text.replaceAll(/\\([\\rn])/g, (_, letter: string) =>
    letter === "r" ? "\r" : letter === "n" ? "\n" : "\\"
  )
