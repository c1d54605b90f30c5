const maxBytes = 10_000

/** Keeps only the end of an output of any length. */
export class OutputTail {
  #chunks: Array<Buffer> = []
  #bytes = 0

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= maxBytes) {
      this.#bytes -= this.#chunks.shift()?.length ?? 0
    }
  }

  /** Returns the last 10 kB, beginning at a whole character. */
  text(): string {
    const all = Buffer.concat(this.#chunks)
    const start = Math.max(0, all.length - maxBytes)
    const isInside = (at: number) => ((all[at] ?? 0) & 0xc0) === 0x80
    let from = start
    while (from > 0 && from < all.length && isInside(from)) from++
    return all.subarray(from).toString("utf8")
  }
}
