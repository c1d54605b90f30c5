import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { firstIdAt } from "../../../src/engine/index.ts"
import { DeliveriesRepo } from "../../../src/notifications/sending/DeliveriesRepo.ts"
import { insertWorkspace } from "../../engine/runner/support/tasks.ts"
import { countRowsRead } from "../../support/countRowsRead.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"

const page = { before: "ffffffff-ffff-ffff-ffff-ffffffffffff", limit: 50 }
const now = Date.UTC(2026, 5, 1, 12)
const minute = 60_000

layer(DeliveriesRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))("Deliveries", (it) => {
  it.effect("are listed by status and tests by time without reading all others", () =>
    Effect.gen(function* () {
      const [repo, sql] = [yield* DeliveriesRepo, yield* SqlClient.SqlClient]
      const workspaceId = yield* insertWorkspace
      const channelId = randomUUID()
      const deliveries = Array.from({ length: 3_000 }, (_, index) => ({
        id: `${firstIdAt(now - index * minute).slice(0, 24)}${randomUUID().slice(24)}`,
        status: index < 2 ? "failed" : index < 5 ? "queued" : "delivered",
        created_at: new Date(now - index * minute),
        finished_at: new Date(now)
      }))
      yield* sql`
        INSERT INTO notification_deliveries (
          id, workspace_id, channel_id, channel_kind, status, begun, ended, other, shown, subjects,
          mergeable, due_at, give_up_at, created_at, finished_at
        )
        SELECT
          id, ${workspaceId}::uuid, ${channelId}::uuid, 'webhook', status, 0, 0, 1,
          '[{"event":"test"}]', '{}', false, created_at, created_at, created_at, finished_at
        FROM json_to_recordset(${JSON.stringify(deliveries)}::json) AS given (
          id uuid, status text, created_at timestamptz, finished_at timestamptz
        )`
      yield* sql`ANALYZE notification_deliveries`
      for (const [status, count] of [
        ["failed", 2],
        ["queued", 3],
        ["cancelled", 0]
      ] as const) {
        const list = repo.list(workspaceId, { status, page })
        assert.lengthOf(yield* list, count)
        assert.isBelow(yield* countRowsRead("notification_deliveries", list), 20)
      }
      const tests = repo.listTests(workspaceId, channelId, new Date(now - 2.5 * minute))
      assert.lengthOf(yield* tests, 3)
      assert.isBelow(yield* countRowsRead("notification_deliveries", tests), 20)
    })
  )
})
