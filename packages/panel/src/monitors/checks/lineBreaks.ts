/** A one-line input shows line breaks as `\r` and `\n`. */
export const withoutBreaks = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\r", "\\r").replaceAll("\n", "\\n")

export const withBreaks = (text: string): string =>
  text.replaceAll(/\\([\\rn])/g, (_, letter: string) =>
    letter === "r" ? "\r" : letter === "n" ? "\n" : "\\"
  )
