import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type {
  DeliveryKind,
  DeliveryStatus
} from "@scheduling/domain/notifications/NotificationDelivery"
import { Conflict, RateLimited } from "@scheduling/domain/shared/Errors"
import { NotificationChannelId, type NotificationDeliveryId } from "@scheduling/domain/shared/Ids"
import type { PageQuery } from "@scheduling/domain/shared/requests/Page"
import type { Resource } from "@scheduling/domain/shared/Resource"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { OutboxWaker } from "../../events/index.ts"
import { Ids, orNotFound } from "../../core/index.ts"
import { Limits } from "../../plans/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { type ChannelRow, ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { type NewDelivery, newDelivery } from "./newDelivery.ts"
import {
  DeliveriesRepo,
  type DeliveryRow,
  toDeliveryAttempt,
  toDelivery
} from "./DeliveriesRepo.ts"
import { PauseChannel } from "../channels/PauseChannel.ts"
import type { ChannelResult } from "../kinds/ChannelKind.ts"
import { messageOf } from "../kinds/Message.ts"
import { Transport } from "./Transport.ts"

interface DeliveryQuery extends PageQuery {
  readonly channel_id?: NotificationChannelId
  readonly kind?: DeliveryKind
  readonly status?: DeliveryStatus
}

/** Lists deliveries, resends them, and sends test messages. */
export class Deliveries extends Context.Service<Deliveries>()(
  "@scheduling/server/notifications/sending/Deliveries",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const waker = yield* OutboxWaker
      const channels = yield* ChannelsRepo
      const pauseChannel = yield* PauseChannel
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* DeliveriesRepo
      const transport = yield* Transport
      /**
       * The channels that this node is currently testing. The database counts only finished tests.
       */
      const underTest = new Set<string>()

      const keepTest = Effect.fnUntraced(function* (
        { id, workspace_id }: ChannelRow,
        delivery: NewDelivery,
        result: ChannelResult
      ) {
        const now = yield* DateTime.nowAsDate
        const channel = Option.getOrUndefined(yield* channels.findForUpdate(workspace_id, id))
        if (channel === undefined) return
        yield* repo.insertTest(channel, delivery, { now, result })
        if (result.gone) yield* pauseChannel(channel, result.error ?? "gone", delivery.id, now)
      }, transaction)

      const runTest = Effect.fnUntraced(function* (
        workspaceId: AuthorizedWorkspaceId,
        channel: ChannelRow
      ) {
        const now = yield* DateTime.nowAsDate
        const since = new Date(now.getTime() - minuteMs)
        const tests = yield* repo.listTests(workspaceId, channel.id, since)
        const inTheWay = tests.at(-maxTestsPerMinute)
        if (inTheWay !== undefined) {
          const waitMs = inTheWay.getTime() - since.getTime()
          return yield* new RateLimited({ retry_after: Math.max(1, Math.ceil(waitMs / 1000)) })
        }
        const delivery = testDelivery(yield* ids.next, channel, now)
        const workspace_name = yield* repo.findWorkspaceName(channel.workspace_id)
        const { duration_ms, ...result } = yield* transport.send({
          delivery_id: delivery.id,
          workspace_id: channel.workspace_id,
          channel_id: channel.id,
          kind: channel.kind,
          config: channel,
          message: messageOf({ ...delivery, created_at: now, workspace_name }),
          attempt: 1,
          timeout_seconds: testSeconds
        })
        yield* keepTest(channel, delivery, result)
        return {
          delivered: result.outcome === "delivered",
          status_code: result.status_code,
          error: result.error,
          duration_ms
        }
      })

      /** Fails if the delivery cannot be sent again. */
      const checkRecipient = Effect.fnUntraced(function* ({
        channel_id,
        target,
        workspace_id
      }: DeliveryRow) {
        if (channel_id !== null) {
          const channel = Option.getOrUndefined(
            yield* channels.findForUpdate(workspace_id, channel_id)
          )
          if (channel === undefined)
            return yield* conflict(
              "notification_channel",
              "The channel of this delivery was deleted."
            )
          if (channel.paused)
            return yield* conflict(
              "notification_channel",
              "The channel is paused. Resume it first.",
              "paused"
            )
          if (!channel.confirmed) yield* conflict("notification_channel", unconfirmed, "confirmed")
          if ((yield* repo.countWaiting(workspace_id, channel_id)) >= maxWaitingToResend) {
            yield* conflict(
              "notification_delivery",
              `${maxWaitingToResend} deliveries are already waiting for the channel. Try again later.`
            )
          }
          return
        }
        if (target === null)
          return yield* conflict(
            "notification_delivery",
            "The task no longer has the callback of this delivery."
          )
        const most = (yield* limits.planOf(workspace_id)).limits.waiting_callbacks
        if ((yield* repo.countWaiting(workspace_id, null)) >= most) {
          yield* conflict(
            "notification_delivery",
            `${most} callbacks are already waiting, the limit of the plan. Try again later.`
          )
        }
      })

      return {
        list: Effect.fn("Deliveries.list")(function* (
          workspaceId: AuthorizedWorkspaceId,
          query: DeliveryQuery
        ) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, { ...query, page }), page, toDelivery)
        }),

        get: Effect.fn("Deliveries.get")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: NotificationDeliveryId
        ) {
          const row = yield* requireDelivery(repo.find(workspaceId, id))
          const attempts = yield* repo.listAttempts(workspaceId, id)
          return { ...toDelivery(row), attempts: attempts.map(toDeliveryAttempt) }
        }),

        resend: Effect.fn("Deliveries.resend")(function* (
          workspaceId: AuthorizedWorkspaceId,
          id: NotificationDeliveryId
        ) {
          const row = yield* requireDelivery(repo.find(workspaceId, id))
          if (row.finished_at === null) {
            return yield* conflict(
              "notification_delivery",
              "The delivery is still in progress.",
              "status"
            )
          }
          // Only an email that requests consent has no events. It cannot be sent again from here.
          if (row.begun + row.ended + row.other === 0) {
            return yield* conflict(
              "notification_delivery",
              "The delivery has no events to send again."
            )
          }
          yield* checkRecipient(row)
          const { begun, channel_id, channel_kind, ended, incident_key, other, target } = row
          const now = yield* DateTime.nowAsDate
          const again = newDelivery({
            id: yield* ids.next,
            workspace_id: workspaceId,
            channel_id,
            channel_kind,
            target,
            begun,
            ended,
            other,
            incident_key,
            due_at: now,
            shown: [...row.shown],
            subjects: new Set(row.subjects)
          })
          yield* repo.write([again], now)
          yield* sql.afterCommit(Effect.sync(() => waker.wake()))
          return toDelivery(yield* requireDelivery(repo.find(workspaceId, again.id)))
        }, transaction),

        /** Sends a test message immediately, and waits for the result. */
        test: Effect.fn("Deliveries.test")(function* (
          workspaceId: AuthorizedWorkspaceId,
          channelId: NotificationChannelId
        ) {
          const channel = yield* requireChannel(channels.find(workspaceId, channelId))
          if (!channel.confirmed) {
            return yield* conflict("notification_channel", unconfirmed, "confirmed")
          }
          if (underTest.has(channel.id)) return yield* new RateLimited({ retry_after: 5 })
          return yield* Effect.acquireUseRelease(
            Effect.sync(() => underTest.add(channel.id)),
            () => runTest(workspaceId, channel),
            () => Effect.sync(() => underTest.delete(channel.id))
          )
        })
      }
    })
  }
) {
  static readonly layer = Layer.effect(this, this.make)
}

const unconfirmed =
  "The recipient has not confirmed the address of the channel. Ask them to open the link in the confirmation email."

/**
 * The number of deliveries that wait for a channel from which none is sent again. It keeps a channel
 * whose provider is down from collecting copies.
 */
const maxWaitingToResend = 100

const maxTestsPerMinute = 6
const minuteMs = 60_000

const conflict = (resource: Resource, message: string, field: string | null = null) =>
  Effect.fail(new Conflict({ resource, field, message }))

/** The number of seconds after which a test gives up. The API must respond within 15 s. */
const testSeconds = 14

const testDelivery = (id: string, channel: ChannelRow, now: Date) =>
  newDelivery({
    id,
    workspace_id: channel.workspace_id,
    channel_id: channel.id,
    channel_kind: channel.kind,
    due_at: now,
    other: 1,
    shown: [
      {
        event: "test",
        subject_id: channel.id,
        name: channel.name,
        reason: "This is a test notification. Alerts will be delivered here.",
        at: now.toISOString(),
        data: { channel: { id: NotificationChannelId.make(channel.id) } },
        facts: []
      }
    ],
    subjects: new Set([channel.id])
  })

const requireDelivery = orNotFound("notification_delivery")
const requireChannel = orNotFound("notification_channel")
