import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { IncidentsRepo } from "../../src/incidents/IncidentsRepo.ts"
import { insertWorkspace } from "../engine/runner/support/tasks.ts"
import { countRowsRead } from "../support/countRowsRead.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const page = { before: "ffffffff-ffff-ffff-ffff-ffffffffffff", limit: 50 }

layer(IncidentsRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))("open incidents", (it) => {
  it.effect("are listed without reading the closed ones", () =>
    Effect.gen(function* () {
      const [repo, sql] = [yield* IncidentsRepo, yield* SqlClient.SqlClient]
      const workspaceId = yield* insertWorkspace
      yield* sql`
        INSERT INTO incidents (
          id, workspace_id, subject_kind, subject_id, subject_name, opened_at, closed_at,
          acknowledged_at, cause_code, cause_message
        )
        SELECT
          gen_random_uuid(), ${workspaceId}::uuid, 'cron', gen_random_uuid(), 'a task', now(),
          CASE WHEN n > 4 THEN now() END, CASE WHEN n > 2 THEN now() END, 'http_5xx', 'It is down.'
        FROM generate_series(1, 3000) AS n`
      yield* sql`ANALYZE incidents`
      for (const [filters, count] of [
        [{ open: "true" }, 4],
        [{ status: ["open"] }, 2],
        [{ status: ["acknowledged"] }, 2],
        [{ status: ["open", "acknowledged"] }, 4],
        [{ status: ["closed", "open"] }, 51],
        [{ open: "false" }, 51]
      ] as const) {
        const list = repo.list(workspaceId, filters, ["cron"], page)
        assert.lengthOf(yield* list, count, JSON.stringify(filters))
        if (count > page.limit) continue
        // Other workspaces may have a few open incidents.
        const read = yield* countRowsRead("incidents", list)
        assert.isBelow(read, 100, JSON.stringify(filters))
      }
    })
  )
})
