interface Link {
  readonly endsAtMs: number
  onTimeout: (() => void) | undefined
  before: Link | undefined
  after: Link | undefined
}

/**
 * Calls with the same timeout, in the order in which their time is over. A list and not a set,
 * because a long-lived set keeps what was taken out of it from dying young (ADR 12), and a call
 * refers to its whole answer. For the same reason, a link that leaves the list refers to nothing.
 */
export class WaitingCalls {
  #first: Link | undefined
  #last: Link | undefined

  /** Adds a call whose time is over after that of all others. Returns how to take it back. */
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

  /** Removes the first call and returns how to tell it. */
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
