import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { TestDelivery } from "@scheduling/domain/notifications/NotificationChannel"
import type {
  DeliveryKind,
  DeliveryStatus,
  NotificationDelivery,
  NotificationDeliveryDetail
} from "@scheduling/domain/notifications/NotificationDelivery"
import { Conflict, type NotFound, RateLimited } from "@scheduling/domain/shared/Errors"
import type { NotificationChannelId, NotificationDeliveryId } from "@scheduling/domain/shared/Ids"
import type { Page, PageQuery } from "@scheduling/domain/shared/requests/Page"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { OutboxBell } from "../../events/index.ts"
import { Ids, orNotFound } from "../../core/index.ts"
import { Limits } from "../../plans/index.ts"
import { pageRequest, toPage, transactionOf } from "../../store/index.ts"
import { type ChannelRow, ChannelsRepo } from "../channels/ChannelsRepo.ts"
import { emptyDelivery } from "./emptyDelivery.ts"
import { DeliveriesRepo, type DeliveryRow, toAttempt, toDelivery } from "./DeliveriesRepo.ts"
import { Disabling } from "../channels/Disabling.ts"
import type { ChannelResult } from "../Kind.ts"
import { messageOf } from "../Message.ts"
import { SenderRepo } from "../sending/SenderRepo.ts"
import { Transmitter } from "../sending/Transmitter.ts"

interface DeliveryQuery extends PageQuery {
  readonly channel_id?: NotificationChannelId
  readonly kind?: DeliveryKind
  readonly status?: DeliveryStatus
}

export class Deliveries extends Context.Service<
  Deliveries,
  {
    readonly list: (
      workspaceId: AuthorizedWorkspaceId,
      query: DeliveryQuery
    ) => Effect.Effect<Page<NotificationDelivery>>
    readonly get: (
      workspaceId: AuthorizedWorkspaceId,
      id: NotificationDeliveryId
    ) => Effect.Effect<NotificationDeliveryDetail, NotFound>
    readonly resend: (
      workspaceId: AuthorizedWorkspaceId,
      id: NotificationDeliveryId
    ) => Effect.Effect<NotificationDelivery, NotFound | Conflict>
    /** Sends a message now, and waits for what comes of it. */
    readonly test: (
      workspaceId: AuthorizedWorkspaceId,
      channelId: NotificationChannelId
    ) => Effect.Effect<TestDelivery, NotFound | Conflict | RateLimited>
  }
>()("@scheduling/server/notifications/deliveries/Deliveries") {
  static readonly layer: Layer.Layer<
    Deliveries,
    never,
    | ChannelsRepo
    | DeliveriesRepo
    | Disabling
    | Ids
    | Limits
    | SenderRepo
    | SqlClient.SqlClient
    | Transmitter
  > = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const transaction = transactionOf(sql)
      const bell = yield* OutboxBell
      const channels = yield* ChannelsRepo
      const disabling = yield* Disabling
      const ids = yield* Ids
      const limits = yield* Limits
      const repo = yield* DeliveriesRepo
      const sender = yield* SenderRepo
      const transmitter = yield* Transmitter
      /** On this node. With the count in the database it bounds what a channel is sent by tests. */
      const underTest = new Set<string>()

      const keepTest = Effect.fnUntraced(function* (
        { id: channelId, workspace_id: workspaceId }: ChannelRow,
        delivery: DeliveryRow,
        verdict: ChannelResult
      ) {
        const now = yield* DateTime.nowAsDate
        const delivered = verdict.outcome === "delivered"
        const ended: DeliveryRow = {
          ...delivery,
          status: delivered ? "delivered" : "failed",
          attempts_count: 1,
          status_code: verdict.status_code,
          error: verdict.error,
          finished_at: now
        }
        const channel = yield* channels.findForUpdate(workspaceId, channelId)
        if (Option.isNone(channel)) return
        yield* repo.insert(ended)
        yield* repo.insertAttempt(ended, {
          number: 1,
          started_at: delivery.created_at,
          finished_at: now,
          status_code: verdict.status_code,
          response_body: verdict.response,
          error: verdict.error
        })
        yield* sender.updateLast(channel.value, verdict, now)
        if (verdict.gone) {
          yield* disabling.disable(channel.value, verdict.error ?? "gone", delivery.id, now)
        }
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
        const told = {
          ...delivery,
          workspace_name: yield* sender.findWorkspaceName(channel.workspace_id)
        }
        const { duration_ms, ...verdict } = yield* transmitter.send({
          id: delivery.id,
          channel,
          message: messageOf(told),
          attempt: 1,
          timeout_seconds: testSeconds
        })
        yield* keepTest(channel, delivery, verdict)
        return {
          delivered: verdict.outcome === "delivered",
          status_code: verdict.status_code,
          error: verdict.error,
          duration_ms
        }
      })

      /** Where it goes if it is sent again. */
      const receiverOf = Effect.fnUntraced(function* ({
        channel_id,
        target,
        workspace_id
      }: DeliveryRow) {
        if (channel_id !== null) {
          const channel = Option.getOrUndefined(
            yield* channels.findForUpdate(workspace_id, channel_id)
          )
          if (channel === undefined) return yield* conflict("The channel was deleted.")
          if (!channel.enabled) return yield* conflict("The channel is disabled; enable it first.")
          return channel.confirmed
            ? channel
            : yield* conflict("The address of the channel is not confirmed.")
        }
        if (target === null) return yield* conflict("The delivery has no target any more.")
        const most = (yield* limits.planOf(workspace_id)).limits.waiting_callbacks
        return (yield* repo.countWaitingCallbacks(workspace_id)) < most
          ? { id: null, workspace_id, kind: "callback" as const }
          : yield* conflict(`${most} call-backs wait already, and the plan allows no more.`)
      })

      return Deliveries.of({
        list: Effect.fn("Deliveries.list")(function* (workspaceId, query) {
          const page = pageRequest(query)
          return toPage(yield* repo.list(workspaceId, { ...query, page }), page, toDelivery)
        }),

        get: Effect.fn("Deliveries.get")(function* (workspaceId, id) {
          const row = yield* found(repo.find(workspaceId, id))
          const attempts = yield* repo.listAttempts(workspaceId, id)
          return { ...toDelivery(row), attempts: attempts.map(toAttempt) }
        }),

        resend: Effect.fn("Deliveries.resend")(function* (workspaceId, id) {
          const row = yield* found(repo.find(workspaceId, id))
          if (row.finished_at === null) {
            return yield* conflict("The delivery has not ended: it is still being tried.")
          }
          // The mail that asks an address tells of nothing, and would not be counted here.
          if (row.begun + row.ended + row.other === 0) {
            return yield* conflict("The delivery tells of nothing that could be sent again.")
          }
          const channel = yield* receiverOf(row)
          const { begun, ended, incident_key, other, shown, subjects, target } = row
          const again: DeliveryRow = {
            ...emptyDelivery(yield* ids.next, channel, yield* DateTime.nowAsDate),
            target,
            begun,
            ended,
            other,
            shown,
            subjects,
            incident_key
          }
          yield* repo.insert(again)
          yield* sql.afterCommit(Effect.sync(() => bell.ring()))
          return toDelivery(again)
        }, transaction),

        test: Effect.fn("Deliveries.test")(function* (workspaceId, channelId) {
          const channel = yield* foundChannel(channels.find(workspaceId, channelId))
          if (!channel.confirmed) {
            return yield* conflict("The channel is not confirmed yet by whoever gets its mails.")
          }
          if (underTest.has(channel.id)) return yield* new RateLimited({ retry_after: 5 })
          return yield* Effect.acquireUseRelease(
            Effect.sync(() => underTest.add(channel.id)),
            () => runTest(workspaceId, channel),
            () => Effect.sync(() => underTest.delete(channel.id))
          )
        })
      })
    })
  )
}

const maxTestsPerMinute = 6
const minuteMs = 60_000

const conflict = (message: string) => Effect.fail(new Conflict({ message }))

/** A request is answered within 15 s. */
const testSeconds = 14

const testDelivery = (id: string, channel: ChannelRow, now: Date): DeliveryRow => ({
  ...emptyDelivery(id, channel, now),
  other: 1,
  shown: [
    {
      event: "test",
      subject_id: channel.id,
      name: channel.name,
      reason: "This is a test: alerts reach you here.",
      at: now.toISOString(),
      facts: []
    }
  ],
  subjects: [channel.id]
})

const found = orNotFound("notification_delivery")
const foundChannel = orNotFound("notification_channel")
