import { DateTime, Duration, Effect, Layer } from "effect"
import { AppConfig, loop } from "../../core/index.ts"
import { StatsRollUpRepo } from "./StatsRollUpRepo.ts"

/**
 * How long rolling up one piece should take. A request that needs a lock, or the embedded store's
 * only connection, waits no longer than this.
 */
const pieceMs = 250

const smallestPiece = 1_000
const largestPiece = 100_000

/**
 * Updates the statistics. Every minute, each node adds new executions to the statistics, piece by
 * piece, removes statistics that are older than the history, and merges tasks' old buckets into
 * longer ones. The size of a piece adapts to the database's speed.
 */
export const StatsRollUpLayer: Layer.Layer<never, never, AppConfig | StatsRollUpRepo> =
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { retentionDays } = yield* AppConfig
      const repo = yield* StatsRollUpRepo
      let size = smallestPiece

      const takeIn = Effect.fnUntraced(function* (upTo: string) {
        const [took, tookIn] = yield* Effect.timed(repo.takeIn({ upTo, size })).pipe(
          Effect.tapCause(() => Effect.sync(() => void (size = smallestPiece)))
        )
        const wanted = size * (pieceMs / Math.max(1, Duration.toMillis(took)))
        // The size doubles at most, because a piece may have been fast only because it contained
        // few rows.
        size = Math.round(Math.min(largestPiece, 2 * size, Math.max(smallestPiece, wanted)))
        return tookIn
      })

      const turn = repo.indexOrdinals.pipe(
        Effect.andThen(repo.settledOrdinal),
        Effect.flatMap((upTo) => Effect.repeat(takeIn(upTo), { while: (tookIn) => tookIn })),
        Effect.andThen(repo.removeOlderThan(retentionDays)),
        Effect.andThen(DateTime.nowAsDate),
        Effect.flatMap(repo.moveOldBuckets)
      )

      yield* Effect.forkScoped(
        loop("rolling up statistics", turn, {
          between: () => Effect.sleep("1 minute"),
          pauseAtMost: "1 minute"
        })
      )
    })
  )
