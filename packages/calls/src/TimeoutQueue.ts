interface Link {
  readonly endsAtMs: number
  onTimeout: (() => void) | undefined
  before: Link | undefined
  after: Link | undefined
}

/**
 * Calls with the same timeout, in the order in which they time out. This is a linked list, because
 * a long-lived set moves removed members to the old generation of the heap (ADR 12), and a call
 * references its whole response. For the same reason, a removed link references nothing.
 */
export class TimeoutQueue {
  #first: Link | undefined
  #last: Link | undefined

  /** Adds a call that times out after all others. Returns a function that removes it. */
  add(endsAtMs: number, onTimeout: () => void): () => void {
    const link: Link = { endsAtMs, onTimeout, before: this.#last, after: undefined }
    if (this.#last === undefined) this.#first = link
    else this.#last.after = link
    this.#last = link
    return () => this.#remove(link)
  }

  get nextEndsAtMs(): number | undefined {
    return this.#first?.endsAtMs
  }

  /** Removes the first call and returns its `onTimeout`. */
  takeNext(): (() => void) | undefined {
    const first = this.#first
    const onTimeout = first?.onTimeout
    if (first !== undefined) this.#remove(first)
    return onTimeout
  }

  #remove(link: Link): void {
    if (link.onTimeout === undefined) return
    const { after, before } = link
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    link.before = undefined
    link.after = undefined
    link.onTimeout = undefined
  }
}
