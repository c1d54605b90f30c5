import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import { Principal, requesterOf } from "@scheduling/domain/auth/Principal"
import {
  type BatchOutcome,
  type BatchOutcomes,
  type RejectedItem,
  InvalidItem
} from "@scheduling/domain/shared/requests/Batch"
import {
  Conflict,
  type IdempotencyFailure,
  QuotaExceeded,
  type RateLimited,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Layer, type Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { AuditLog, RequestRates } from "../../accounts/index.ts"
import { Idempotency, issuesIn } from "../../http/index.ts"
import { elapsedMs } from "../../core/index.ts"
import { transactionOf } from "../../store/index.ts"

interface BatchRequest<Input, Record, Encoded> {
  readonly key: string | undefined
  readonly workspaceId: AuthorizedWorkspaceId
  readonly operation: string
  readonly items: ReadonlyArray<Input>
  readonly answer: Schema.Codec<BatchOutcomes<Record>, Encoded>
}

type Refusal = ValidationFailed | Conflict | QuotaExceeded

/** Creates many records in one request. */
export class Batches extends Context.Service<
  Batches,
  {
    /**
     * Creates the items one by one in one transaction. Each item has its own savepoint, so that a
     * rejected item leaves nothing behind and does not stop the others. One statement writes all
     * audit events. The batch counts as many requests as it has items. `before` runs for each item
     * before the transaction begins.
     */
    readonly create: <Input, Record, Encoded, E, R>(
      request: BatchRequest<Input, Record, Encoded>,
      create: (input: Input) => Effect.Effect<Record, E | Refusal, R>,
      before?: (input: Input) => Effect.Effect<void, E | Refusal, R>
    ) => Effect.Effect<
      BatchOutcomes<Record>,
      Exclude<E, Refusal> | IdempotencyFailure | RateLimited,
      R | HttpServerRequest.HttpServerRequest | Principal
    >
  }
>()("@scheduling/server/tasks/batches/Batches") {
  static readonly layer: Layer.Layer<
    Batches,
    never,
    AuditLog | Idempotency | RequestRates | SqlClient.SqlClient
  > = Layer.effect(
    Batches,
    Effect.gen(function* () {
      const transaction = transactionOf(yield* SqlClient.SqlClient)
      const audit = yield* AuditLog
      const idempotency = yield* Idempotency
      const rates = yield* RequestRates

      return Batches.of({
        create: Effect.fnUntraced(function* ({ answer, items, ...request }, create, before) {
          const message = NodeHttpServerRequest.toIncomingMessage(
            yield* HttpServerRequest.HttpServerRequest
          )
          // The request itself was already counted once when it arrived.
          const more = items.length - 1
          const limited =
            more === 0 ? undefined : rates.take(message, requesterOf(yield* Principal), more)
          if (limited !== undefined) return yield* limited
          const read = items.map(readItem)
          const ready =
            before === undefined ? read : yield* Effect.forEach(read, yield* readyBy(before))
          return yield* Effect.forEach(ready, (item) =>
            outcomeOf(item, (input: (typeof items)[number]) =>
              audit.dropEventsOnFailure(create(input))
            )
          ).pipe(
            Effect.map((outcomes) => ({ items: outcomes })),
            audit.collectEvents,
            transaction,
            idempotency.once({ ...request, payload: read, answer })
          )
        })
      })
    })
  )
}

const readItem = <Input>(item: Input): Input | Refusal =>
  item instanceof InvalidItem
    ? new ValidationFailed({ issues: issuesIn(item.issue, { whole: "The item", part: "field" }) })
    : item

/**
 * The time limit for running `before` for all items together. Once it has passed, each remaining
 * item has `atLeastMs`.
 */
const togetherMs = 15_000
const atLeastMs = 250

const tooLate = ValidationFailed.at(
  [],
  "invalid",
  "could not be checked in time; create it in a separate request",
  "The item"
)

const readyBy = <Input, E, R>(before: (input: Input) => Effect.Effect<void, E | Refusal, R>) =>
  Effect.clockWith((clock) => {
    const endsAt = elapsedMs(clock) + togetherMs
    return Effect.succeed(
      (item: Input | Refusal): Effect.Effect<Input | Refusal, Exclude<E, Refusal>, R> =>
        isRefusal(item)
          ? Effect.succeed(item)
          : Effect.suspend(() =>
              Effect.timeoutOrElse(before(item), {
                duration: Math.max(atLeastMs, endsAt - elapsedMs(clock)),
                orElse: () => Effect.fail(tooLate)
              })
            ).pipe(
              Effect.matchEffect({
                onSuccess: () => Effect.succeed(item),
                onFailure: (error) =>
                  isRefusal(error)
                    ? Effect.succeed(error)
                    : Effect.fail(error as Exclude<E, Refusal>)
              })
            )
    )
  })

const outcomeOf = <Input, Record, E, R>(
  item: Input | Refusal,
  create: (input: Input) => Effect.Effect<Record, E | Refusal, R>
): Effect.Effect<BatchOutcome<Record>, Exclude<E, Refusal>, R> =>
  isRefusal(item)
    ? Effect.succeed(rejected(item))
    : Effect.matchEffect(create(item), {
        onSuccess: (data) => Effect.succeed<BatchOutcome<Record>>({ status: 201, data }),
        onFailure: (error) =>
          isRefusal(error)
            ? Effect.succeed<BatchOutcome<Record>>(rejected(error))
            : Effect.fail(error as Exclude<E, Refusal>)
      })

const isRefusal = (error: unknown): error is Refusal =>
  error instanceof ValidationFailed || error instanceof Conflict || error instanceof QuotaExceeded

const rejected = (error: Refusal): RejectedItem => ({
  status: statusOf(error),
  error: { detail: error.detail }
})

const statusOf = (error: Refusal): RejectedItem["status"] =>
  error instanceof ValidationFailed ? 422 : error instanceof Conflict ? 409 : 402
