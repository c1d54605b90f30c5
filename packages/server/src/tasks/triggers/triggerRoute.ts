import { NodeHttpServerRequest } from "@effect/platform-node"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { RunRequest } from "@scheduling/domain/executions/RunRequest"
import {
  InvalidSignature,
  type NotFound,
  type QuotaExceeded,
  ValidationFailed
} from "@scheduling/domain/shared/Errors"
import { isIdempotencyKey } from "@scheduling/domain/shared/requests/IdempotencyKey"
import { Clock, Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { RequestRates } from "../../accounts/index.ts"
import { Idempotency, respondWithError } from "../../http/index.ts"
import { Chains } from "../chains/Chains.ts"
import { CronTasks } from "../cron/CronTasks.ts"
import { checkInputSize, readRunInput } from "./readRunInput.ts"
import { answerToUrlCheck, eventIdOf } from "./senderRules.ts"
import { type RequestedTrigger, Triggers, unknownTriggerError } from "./Triggers.ts"
import { type SignedRequest, verifySignature } from "./verifySignature.ts"

/**
 * Runs the task that a trigger URL belongs to, with the request's body as the run's input. A
 * signature covers the raw body, so this route is not part of the contract, which would parse the
 * body. If an event is delivered again, the response to the first delivery is returned, and no task
 * runs.
 */
export const triggerRouteLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const idempotency = yield* Idempotency
    const rates = yield* RequestRates
    const triggers = yield* Triggers
    const runOf: Readonly<Record<RequestedTrigger["kind"], RunTask>> = {
      cron: (yield* CronTasks).run,
      chain: (yield* Chains).run
    }

    const run = Effect.fnUntraced(function* (
      { kind, lane, task_id, workspace_id }: RequestedTrigger,
      input: Schema.Json | undefined,
      once: { readonly key: string | undefined; readonly payload: unknown }
    ) {
      const request = input === undefined ? {} : { input }
      const answer = yield* Effect.map(
        runOf[kind](workspace_id, task_id, request),
        ({ id }): Answer => ({ execution_id: id })
      ).pipe(
        idempotency.onceFor(
          { id: task_id, lane },
          { ...once, workspaceId: workspace_id, operation: "trigger", answer: Answer }
        )
      )
      return HttpServerResponse.jsonUnsafe(answer, { status: 202, headers: notStored })
    })

    const runSigned = Effect.fnUntraced(function* (
      trigger: RequestedTrigger,
      { secret, sender }: NonNullable<RequestedTrigger["signature"]>,
      request: SignedRequest
    ) {
      const now = yield* Clock.currentTimeMillis
      const signature = secret === null ? undefined : verifySignature(sender, secret, request, now)
      if (signature === undefined) return yield* new InvalidSignature()
      const input = yield* readRunInput(request.headers["content-type"], request.body)
      const check = answerToUrlCheck(sender, request, input)
      if (check !== undefined) return HttpServerResponse.jsonUnsafe(check, { headers: notStored })
      const id = eventIdOf(sender, request, input, signature)
      const key = createHash("sha256").update(`${sender} ${id}`).digest("base64url")
      // The payload is not compared, because the payloads of repeated deliveries can differ, for
      // example in the time of the attempt.
      return yield* run(trigger, input, { key, payload: null })
    })

    const runUnsigned = Effect.fnUntraced(function* (
      trigger: RequestedTrigger,
      { body, headers }: SignedRequest
    ) {
      const key = headers["idempotency-key"]
      if (key !== undefined && !isIdempotencyKey(key)) return yield* malformedKey
      const input = body === "" ? undefined : yield* readRunInput(headers["content-type"], body)
      return yield* run(trigger, input, { key, payload: input ?? null })
    })

    yield* router.add(
      "POST",
      "/trigger/:token",
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const [, token] = shape.exec(request.url) ?? []
        if (token === undefined) return yield* unknownTriggerError
        const trigger = yield* triggers.findByToken(token)
        const message = NodeHttpServerRequest.toIncomingMessage(request)
        const limited = rates.take(message, { id: trigger.task_id, lane: trigger.lane })
        if (limited !== undefined) return yield* limited
        const body = hasBody(request) ? yield* Effect.orDie(request.text) : ""
        yield* checkInputSize(body)
        const received = { headers: request.headers, body }
        return yield* trigger.signature === null
          ? runUnsigned(trigger, received)
          : runSigned(trigger, trigger.signature, received)
      }).pipe(Effect.catch(respondWithError))
    )
  })
)

const Answer = Schema.Struct({ execution_id: Schema.String })
type Answer = typeof Answer.Type

type RunTask = (
  workspaceId: AuthorizedWorkspaceId,
  id: string,
  request: RunRequest
) => Effect.Effect<{ readonly id: string }, NotFound | QuotaExceeded>

const shape = /^\/trigger\/([\w-]{43})(?:\?.*)?$/

const notStored = { "cache-control": "no-store" }

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

const malformedKey = ValidationFailed.at(
  ["idempotency-key"],
  "invalid_format",
  "must be 1 to 255 visible ASCII characters"
)
