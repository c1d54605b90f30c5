import { Effect } from "effect"

/** Wakes the one who waits. A ring while nobody waits is kept. */
export class Bell {
  #rung = false
  #resume: (() => void) | undefined

  ring(): void {
    if (this.#resume === undefined) this.#rung = true
    else this.#resume()
  }

  readonly wait: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#rung) {
      this.#rung = false
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
