import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { DeliveriesRepo } from "../../../src/notifications/sending/DeliveriesRepo.ts"
import { newDelivery } from "../../../src/notifications/sending/newDelivery.ts"
import { insertWorkspace } from "../../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"

const now = new Date("2026-06-01T12:00:00Z")

layer(DeliveriesRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer)))("A delivery", (it) => {
  it.effect("names each subject once, however many of its events are added", () =>
    Effect.gen(function* () {
      const [repo, sql] = [yield* DeliveriesRepo, yield* SqlClient.SqlClient]
      const workspace_id = yield* insertWorkspace
      const [channel_id, first, second, subject] = Array.from({ length: 4 }, () => randomUUID())
      yield* sql`
        INSERT INTO notification_channels (
          id, workspace_id, name, kind, config, sealed_secrets, confirmed, created_at, updated_at
        )
        VALUES (${channel_id}, ${workspace_id}, 'ops', 'webhook', '{}', '', true, ${now}, ${now})`
      const write = (id: string | undefined, is_new: boolean) =>
        repo.write(
          [
            newDelivery({
              id: String(id),
              is_new,
              workspace_id,
              channel_id: String(channel_id),
              channel_kind: "webhook",
              due_at: now,
              mergeable: true,
              begun: 1,
              subjects: new Set([String(subject)])
            })
          ],
          now
        )
      yield* write(first, true)
      yield* write(second, true)
      for (let added = 0; added < 3; added++) yield* write(second, false)
      const rows = yield* sql`
        SELECT begun, subjects, after
        FROM notification_deliveries
        WHERE channel_id = ${channel_id}
        ORDER BY ordinal`
      assert.deepStrictEqual(rows, [
        { begun: 1, subjects: [subject], after: [] },
        { begun: 4, subjects: [subject], after: [first] }
      ])
    })
  )
})
