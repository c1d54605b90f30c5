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
