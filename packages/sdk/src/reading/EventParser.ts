import { SchedulingError } from "../errors.ts"

/** The maximum length of a line. The service's messages are far shorter. */
const maxLine = 1_000_000

/** Parses a `text/event-stream` incrementally and remembers the last event id. */
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

  /** Resets the parser for a new stream. Discards the previous stream's incomplete message. */
  begin(): void {
    this.#decoder = new TextDecoder()
    this.#rest = ""
    this.#data = []
    this.#id = this.#lastEventId
  }

  /** Yields the data of the messages that end in this chunk. */
  *read(chunk: Uint8Array): Generator<string, void, undefined> {
    // A trailing CR may be the first half of a CRLF.
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(
      /\r\n|\n|\r(?!$)/
    )
    this.#rest = lines.pop() ?? ""
    if (this.#rest.length > maxLine)
      throw new SchedulingError("A line in the event stream is too long")
    for (const line of lines) {
      if (line !== "") {
        this.#field(line)
        continue
      }
      // The id takes effect only at the end of its message. After a reconnection, the service
      // repeats an incomplete message, but not a complete one.
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
