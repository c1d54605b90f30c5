import type { WebhookEvent } from "@scheduling/domain/events/Event"
import type { ExecutionKind, ExecutionStatus } from "@scheduling/domain/executions/Execution"
import type { NotificationEvent } from "@scheduling/domain/notifications/NotificationEvent"
import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Signals } from "./Signals.ts"
import { OutboxWaker } from "./OutboxWaker.ts"

/** An event to store in the outbox. Users may be notified of it. */
export interface NewOutboxEvent {
  readonly workspace_id: string
  readonly event: NotificationEvent
  /**
   * The task, chain, monitor, worker or key that the event is about. Events of the same subject are
   * sent in order.
   */
  readonly subject_id: string
  readonly tags?: ReadonlyArray<string>
  readonly at: Date
  /** The content of the message. It must not contain secrets. */
  readonly data: OutboxEventData
}

/** The content of the message. It contains no secrets. */
export type OutboxEventData = MessageText &
  (
    | { readonly about: EventData; readonly run?: undefined }
    /** Written by the statement that settles the run. */
    | { readonly about?: undefined; readonly run: RunData }
  )

/** The texts of the message, and the channels that get it in addition to those of the rules. */
interface MessageText {
  readonly name?: string
  readonly reason?: string | null
  /** Details that the message shows below the reason, in this order. */
  readonly facts?: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly channel_ids?: ReadonlyArray<string>
}

type DataOf<Event> = Event extends { readonly type: "digest" }
  ? never
  : Event extends { readonly data: infer Data }
    ? Omit<Data, "notice">
    : never

/** The `data` of an event as webhooks receive it, without the human-readable text. */
export type EventData = DataOf<WebhookEvent>

/** The fields of a settled run that are written to the outbox. */
export interface RunData {
  readonly kind: ExecutionKind
  readonly execution_id: string
  readonly chain_run_id: string | null
  readonly step: string | null
  readonly status: ExecutionStatus
  readonly status_code: number | null
  /** The error in the form in which the execution stores it. */
  readonly error: string | null
  readonly attempts: number
}

/** The step of a chain run that failed first, with its error as the execution stores it. */
export type FailedStep = Pick<RunData, "step" | "error">

/**
 * The event of a subject that was deleted or paused while it had a problem. Nobody is notified, but
 * channels with an open incident close it.
 */
export const subjectRemoved = "subject.removed"

/**
 * Stores an event in the transaction of the change that causes it, so that neither exists without
 * the other. The rules of the workspace decide later who is notified.
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    readonly announce: (...events: ReadonlyArray<NewOutboxEvent>) => Effect.Effect<void>
    /**
     * Clears the problem of a subject that was deleted or paused. Nobody is notified of a recovery,
     * but channels that track incidents close the incident.
     */
    readonly forget: (subject: {
      readonly workspace_id: string
      readonly subject_id: string
    }) => Effect.Effect<void>
  }
>()("@scheduling/server/events/Outbox") {
  static readonly layer: Layer.Layer<Outbox, never, SqlClient.SqlClient | Signals> = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const waker = yield* OutboxWaker

      const wakeRouter = Effect.suspend(() => {
        if (!waker.isWatched) return Effect.asVoid(signals.notify(["outbox"]))
        waker.wake()
        return Effect.void
      })

      return Outbox.of({
        announce: Effect.fn("Outbox.announce")(function* (...events) {
          if (events.length === 0) return
          const rows = events.map(({ tags = [], ...event }) => ({ ...event, tags }))
          yield* sql`
            INSERT INTO outbox (workspace_id, event, subject_id, tags, at, data)
            SELECT workspace_id, event, subject_id, tags, at, data
            FROM json_to_recordset(${JSON.stringify(rows)}::json) AS announced (
              workspace_id uuid, event text, subject_id uuid, tags text[], at timestamptz, data jsonb
            )`
          yield* sql.afterCommit(wakeRouter)
        }, Effect.orDie),

        forget: Effect.fn("Outbox.forget")(function* ({ subject_id, workspace_id }) {
          yield* sql`
            DELETE FROM outbox
            WHERE workspace_id = ${workspace_id}
              AND subject_id = ${subject_id}
              AND callback_url IS NULL`
          const known = yield* sql`
            INSERT INTO outbox (workspace_id, event, subject_id, at)
            SELECT workspace_id, ${subjectRemoved}, subject_id, ${yield* DateTime.nowAsDate}
            FROM problems
            WHERE workspace_id = ${workspace_id}
              AND subject_id = ${subject_id}
              AND notified_at IS NOT NULL
            RETURNING ordinal`
          if (known.length > 0) yield* sql.afterCommit(wakeRouter)
          yield* sql`
            DELETE FROM problems
            WHERE workspace_id = ${workspace_id}
              AND subject_id = ${subject_id}
              AND notified_at IS NULL`
        }, Effect.orDie)
      })
    })
  )
}
