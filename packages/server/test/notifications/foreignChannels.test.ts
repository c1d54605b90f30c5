import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { ChannelsRepo } from "../../src/notifications/channels/ChannelsRepo.ts"
import { DeliveriesRepo } from "../../src/notifications/sending/DeliveriesRepo.ts"
import { newDelivery } from "../../src/notifications/sending/newDelivery.ts"
import { insertWorkspace } from "../engine/runner/support/tasks.ts"
import { TestDatabaseLayer } from "../support/TestDatabase.ts"

const now = new Date("2026-06-01T12:00:00Z")

const deliveryOf = (workspace_id: AuthorizedWorkspaceId, channel_id: string) =>
  newDelivery({ id: randomUUID(), workspace_id, channel_id, channel_kind: "email", due_at: now })

/**
 * Creates a channel with an unconfirmed address, and a message that is waiting for the
 * confirmation.
 */
const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [own, other] = [yield* insertWorkspace, yield* insertWorkspace]
  const id = randomUUID()
  yield* sql`
    INSERT INTO notification_channels (
      id, workspace_id, name, kind, config, sealed_secrets, confirmed, created_at, updated_at
    )
    VALUES (${id}, ${own}, 'ops', 'email', '{"to":"a@b.test"}', '', false, ${now}, ${now})`
  const look = Effect.map(
    sql<{
      readonly confirmed: boolean
      readonly statuses: string
      readonly next: ReadonlyArray<string>
    }>`
      SELECT
        confirmed,
        (
          SELECT coalesce(string_agg(status, ' '), '')
          FROM notification_deliveries
          WHERE channel_id = notification_channels.id
            AND workspace_id = notification_channels.workspace_id
        ) AS statuses,
        ARRAY (
          SELECT workspace_id
          FROM notification_deliveries
          WHERE channel_id = notification_channels.id
            AND next_at IS NOT NULL
        ) AS next
      FROM notification_channels
      WHERE id = ${id}`,
    ([row]) => row
  )
  return { id, look, other, own }
})

layer(
  Layer.merge(ChannelsRepo.layer, DeliveriesRepo.layer).pipe(Layer.provideMerge(TestDatabaseLayer))
)("a channel of another workspace", (it) => {
  it.effect("is not confirmed", () =>
    Effect.gen(function* () {
      const repo = yield* ChannelsRepo
      const { id, look, other, own } = yield* setUp
      yield* repo.confirmByLink(other, id, "a@b.test", now)
      assert.deepInclude(yield* look, { confirmed: false })
      yield* repo.confirmByLink(own, id, "a@b.test", now)
      assert.deepInclude(yield* look, { confirmed: true })
    })
  )

  it.effect("keeps what waits for it, and waits itself", () =>
    Effect.gen(function* () {
      const repo = yield* DeliveriesRepo
      const { id, look, other, own } = yield* setUp
      yield* repo.write([deliveryOf(other, id)], now)
      assert.deepInclude(yield* look, { next: [], statuses: "" })
      yield* repo.write([deliveryOf(own, id)], now)
      assert.deepInclude(yield* look, { next: [own], statuses: "queued" })
      yield* repo.cancel(other, id, "all", now)
      assert.deepInclude(yield* look, { statuses: "queued" })
      yield* repo.cancel(own, id, "all", now)
      assert.deepInclude(yield* look, { statuses: "cancelled" })
    })
  )
})
