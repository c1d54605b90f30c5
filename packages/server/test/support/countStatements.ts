import { Effect } from "effect"
import { NativeSpan } from "effect/Tracer"

/**
 * Counts all SQL statements that finish while the effect runs, including statements from other
 * fibers.
 */
export const countStatements = <E, R>(
  effect: Effect.Effect<unknown, E, R>
): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    let count = 0
    const { end } = NativeSpan.prototype
    NativeSpan.prototype.end = function (...args) {
      if (this.attributes.has("db.query.text")) count++
      return end.apply(this, args)
    }
    return effect.pipe(
      Effect.map(() => count),
      Effect.ensuring(Effect.sync(() => void (NativeSpan.prototype.end = end)))
    )
  })
