import { Effect } from "effect"

/** Wakes the waiting fiber. A notification is kept while no fiber waits. */
export class Signal {
  #isPending = false
  #resume: (() => void) | undefined

  notify(): void {
    if (this.#resume === undefined) this.#isPending = true
    else this.#resume()
  }

  readonly wait: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#isPending) {
      this.#isPending = false
      resume(Effect.void)
      return
    }
    this.#resume = () => {
      this.#resume = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      this.#resume = undefined
    })
  })
}
