import { SchedulingError } from "../errors.ts"

/** No message of the service is nearly as long. */
const maxLine = 1_000_000

/** Reads `text/event-stream` as it comes, and remembers the last id. */
export class EventParser {
  #lastEventId: string | undefined
  #decoder = new TextDecoder()
  #rest = ""
  #data: Array<string> = []
  #id: string | undefined

  constructor(lastEventId: string | undefined) {
    this.#lastEventId = lastEventId
  }

  get lastEventId(): string | undefined {
    return this.#lastEventId
  }

  /** A stream begins. What was left of the one before it counts for nothing. */
  begin(): void {
    this.#decoder = new TextDecoder()
    this.#rest = ""
    this.#data = []
    this.#id = this.#lastEventId
  }

  /** The data of the messages that end in this chunk. */
  *read(chunk: Uint8Array): Generator<string, void, undefined> {
    // A CR may be the first half of a line's end.
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(
      /\r\n|\n|\r(?!$)/
    )
    this.#rest = lines.pop() ?? ""
    if (this.#rest.length > maxLine) throw new SchedulingError("A line of the events is too long")
    for (const line of lines) {
      if (line !== "") {
        this.#field(line)
        continue
      }
      // The id counts from here on, so that a message that was read is not asked for again.
      this.#lastEventId = this.#id
      if (this.#data.length > 0) yield this.#data.splice(0).join("\n")
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(":")
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (name === "data") this.#data.push(value)
    if (name === "id" && !value.includes("\0")) this.#id = value
  }
}
