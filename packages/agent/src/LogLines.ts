import { Cause, type Logger, References } from "effect"
import { toPrintableLine } from "./toPrintableLine.ts"

/**
 * Collects the log lines of one event loop iteration and writes them together. Separate writes
 * would add a sixth to the cost of each call.
 */
export class LogLines {
  readonly #write: (text: string) => void
  #waiting = ""

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  add(line: string): void {
    if (this.#waiting === "") setImmediate(() => this.flush())
    this.#waiting += `${line}\n`
  }

  /** Writes immediately, because an exiting process has no further event loop iteration. */
  flush(): void {
    const text = this.#waiting
    this.#waiting = ""
    if (text !== "") this.#write(text)
  }
}

/** Formats a log entry as one line: time, level, message and annotations. */
export const formatLogLine = ({
  cause,
  date,
  fiber,
  logLevel,
  message
}: Logger.Options<unknown>): string => {
  const text = [message].flat().map(String).join(" ")
  const failure = cause.reasons.length === 0 ? "" : `: ${Cause.pretty(cause)}`
  const notes = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
    .map(([name, value]) => ` ${name}=${toPrintableLine(String(value))}`)
    .join("")
  return `${date.toISOString()} ${logLevel.toUpperCase()} ${toPrintableLine(text + failure)}${notes}`
}
