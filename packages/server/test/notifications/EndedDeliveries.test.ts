import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  DeliveriesRepo,
  finishedDeliverySql
} from "../../src/notifications/sending/DeliveriesRepo.ts"
import { insertWorkspace } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const now = new Date("2026-06-01T12:00:00Z")
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)

/** Inserts deliveries to a channel, or callbacks. Each has a different number of events. */
const insert = Effect.fnUntraced(function* (
  what: { readonly isCallback: boolean; readonly status: string; readonly begun: number },
  finishedAt: Date | null,
  count = 1
) {
  const sql = yield* SqlClient.SqlClient
  const workspace = yield* insertWorkspace
  yield* sql`
    INSERT INTO notification_deliveries (
      id, workspace_id, channel_id, channel_kind, status, begun, ended, other, shown, subjects,
      mergeable, due_at, give_up_at, created_at, finished_at
    )
    SELECT
      gen_random_uuid(), ${workspace}::uuid,
      CASE WHEN NOT ${what.isCallback} THEN gen_random_uuid() END, 'webhook', ${what.status},
      ${what.begun}::int, 0, 0, '[]', '{}', false, ${now}, ${now}, ${now}, ${finishedAt}::timestamptz
    FROM generate_series(1, ${count}::int)`
})

layer(DeliveriesRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))(
  "finished deliveries",
  (it) => {
    it.effect("are removed after their time, delivered callbacks sooner", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* DeliveriesRepo
        for (const [begun, isCallback, status, finishedAt] of [
          [1, false, "delivered", daysAgo(31)],
          [2, false, "delivered", daysAgo(2)],
          [3, true, "delivered", daysAgo(2)],
          [4, true, "failed", daysAgo(2)],
          [5, true, "dropped", daysAgo(31)],
          [6, true, "queued", null],
          [7, false, "queued", null]
        ] as const) {
          yield* insert({ isCallback, status, begun }, finishedAt)
        }
        yield* repo.removeFinished(daysAgo(30), daysAgo(1))
        const left = yield* sql<{ readonly begun: number }>`
          SELECT begun
          FROM notification_deliveries
          ORDER BY begun`
        assert.deepStrictEqual(
          left.map(({ begun }) => begun),
          [2, 4, 6, 7]
        )
      })
    )

    it.effect("are found without reading the ones that stay", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        for (const isCallback of [false, true]) {
          const what = { isCallback, status: "delivered", begun: 1 }
          yield* insert(what, daysAgo(0), 5_000)
          yield* insert(what, daysAgo(40), 10)
        }
        yield* sql`ANALYZE notification_deliveries`
        for (const areOfKind of Object.values(finishedDeliverySql)) {
          const rows = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(`
            EXPLAIN
            SELECT id
            FROM notification_deliveries
            WHERE finished_at < '${daysAgo(30).toISOString()}'
              AND ${areOfKind}
            ORDER BY finished_at
            LIMIT 1000`)
          const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
          assert.notInclude(plan, "Seq Scan", areOfKind)
        }
      })
    )
  }
)
