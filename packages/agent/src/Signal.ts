import { Effect } from "effect"

/**
 * Wakes a waiting fiber. If no fiber waits, the notification is kept for the next one that does.
 */
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
