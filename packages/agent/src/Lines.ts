import { Cause, type Logger, References } from "effect"
import { printable } from "./printable.ts"

/**
 * Writes lines that come in the same turn of the event loop together. One write per call would
 * be a sixth of the cost of a call.
 */
export class Lines {
  readonly #write: (text: string) => void
  #waiting = ""

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  add(line: string): void {
    if (this.#waiting === "") setImmediate(() => this.flush())
    this.#waiting += `${line}\n`
  }

  /** Writes at once, because a process that exits does not wait for another turn. */
  flush(): void {
    const text = this.#waiting
    this.#waiting = ""
    if (text !== "") this.#write(text)
  }
}

/** One line per entry: time, level, text and annotations. */
export const lineOf = ({
  cause,
  date,
  fiber,
  logLevel,
  message
}: Logger.Options<unknown>): string => {
  const text = [message].flat().map(String).join(" ")
  const failure = cause.reasons.length === 0 ? "" : `: ${Cause.pretty(cause)}`
  const notes = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
    .map(([name, value]) => ` ${name}=${printable(String(value))}`)
    .join("")
  return `${date.toISOString()} ${logLevel.toUpperCase()} ${printable(text + failure)}${notes}`
}
