import { Cause, type Logger, References } from "effect"
import { printable } from "./printable.ts"

/**
 * Writes lines that come in the same turn of the event loop together. A write for each call is a
 * sixth of what a call costs the agent.
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

  /** For the end of the process, which does not wait for another turn. */
  flush(): void {
    const text = this.#waiting
    this.#waiting = ""
    if (text !== "") this.#write(text)
  }
}

/** One line per entry: time, level, text, and what it is about. */
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
