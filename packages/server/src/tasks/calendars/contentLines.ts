/**
 * Longer than a line with 5,000 dates. The rest of a longer line, such as an embedded picture, is
 * dropped.
 */
const maxLength = 100_000

/** Lines may be empty, so a file has up to a million. */
const linesPerStep = 50

/** A line of an iCalendar file (RFC 5545, 3.1), without its folds. */
export interface ContentLine {
  readonly text: string
  /** Something is left out at its end. */
  readonly isCut: boolean
}

/** The lines of a file, and undefined where it pauses after some work. */
export function* contentLines(file: string): Generator<ContentLine | undefined> {
  let parts: Array<string> = []
  let length = 0
  let isCut = false
  const add = (part: string) => {
    const added = part.slice(0, maxLength - length)
    if (added !== "") parts.push(added)
    length += added.length
    isCut ||= added.length < part.length
  }
  let read = 0
  for (let at = file.startsWith("\uFEFF") ? 1 : 0; at <= file.length;) {
    const found = file.indexOf("\n", at)
    const next = found === -1 ? file.length : found
    add(file.slice(at, found > at && file[found - 1] === "\r" ? found - 1 : next))
    at = next + 1
    const isFolded = file[at] === " " || file[at] === "\t"
    if (isFolded) at++
    else {
      yield { text: parts.join(""), isCut }
      parts = []
      length = 0
      isCut = false
    }
    if (++read % linesPerStep === 0) yield undefined
  }
}
