import type { CallAuth } from "@scheduling/domain/calls/CallAuth"
import { secretNamedBy } from "@scheduling/domain/calls/CallAuth"
import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { parseTemplate } from "@scheduling/domain/calls/Template"
import { isFilledIn, usedBy, withPlaceholders } from "@scheduling/domain/calls/TemplateCall"
import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { renderCall } from "@scheduling/calls/renderCall"
import { type StepAnswer, valuesOf } from "@scheduling/calls/templateValues"
import { Effect, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { RunCall, StartedRun } from "../Run.ts"
import { AccessTokens, type AccessToken } from "../secrets/AccessTokens.ts"
import { CallSecrets } from "../secrets/CallSecrets.ts"
import { valuesFor } from "../secrets/valuesFor.ts"

/** A call as its task has it, and what was read with it. */
export interface LoadedCall {
  readonly call: RunCall
  /** Of a step: the answers of the earlier steps that it uses, and the input of the run. */
  readonly step?: {
    readonly answers: ReadonlyMap<string, StepAnswer>
    readonly input: string | null
  }
}

/** A call that can be made. */
export interface FilledCall {
  readonly call: RunCall
  /** What was filled in, to be masked in the answer. */
  readonly secrets: ReadonlyArray<string>
  /** The access token of the call. A server that answers 401 may have withdrawn it. */
  readonly token?: AccessToken
}

/** Why a call cannot be made. */
export interface Unfillable {
  readonly error: ExecutionError
  /** The call whose retries may help. Null if no further attempt can succeed. */
  readonly retries: RunCall | null
}

type Filled = Result.Result<FilledCall, Unfillable>

export const cannotCall = (error: ExecutionError): Result.Result<never, Unfillable> =>
  Result.fail({ error, retries: null })

/** True if a call is not made as its task has it. */
export const needsFilling = (call: RunCall): boolean => isFilledIn(call, call.call_options?.auth)

/**
 * Fills in the values of a call:
 *
 * 1. Finds what the call uses.
 * 2. Opens its secrets, and checks that each of them may be sent to the host of the call.
 * 3. Reads the name of the task and the input of the run, if the call uses them.
 * 4. Renders the URL, the headers and the body.
 * 5. Adds the `Authorization` header of its `auth`.
 */
export const makeFillCall = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const callSecrets = yield* CallSecrets
  const tokens = yield* AccessTokens

  return Effect.fnUntraced(function* (
    run: StartedRun,
    { call, step }: LoadedCall,
    now_ms: number
  ): Effect.fn.Return<Filled> {
    if (!needsFilling(call)) return Result.succeed({ call, secrets: [] })
    const auth = call.call_options?.auth
    const used = usedBy(call, auth)
    const url = writtenUrl(call.url)
    if (Result.isFailure(url)) return cannotCall(url.failure)
    const hosts = [url.success, ...(auth === undefined ? [] : urlsOfAuth(auth))]
    const opened = yield* callSecrets.open(run.workspace_id, used.secrets)
    const secrets = valuesFor(used.secrets, opened, hosts)
    if (Result.isFailure(secrets)) return cannotCall(secrets.failure)

    const details =
      used.task || (used.input && step === undefined)
        ? yield* readDetails(sql, run)
        : { name: null, key: null, input: null }
    const rendered = renderCall(
      call,
      valuesOf({
        run: {
          id: run.position?.chain_run_id ?? run.id,
          attempt: run.attempt,
          scheduled_ms: run.scheduled_ms
        },
        task: details,
        input: step === undefined ? details.input : step.input,
        steps: step?.answers ?? new Map(),
        secrets: secrets.success,
        now_ms
      })
    )
    if (Result.isFailure(rendered)) {
      return cannotCall(executionError("invalid_template", rendered.failure))
    }
    const filled = { ...call, ...rendered.success }
    const values = [...secrets.success.values()]
    if (auth === undefined) return Result.succeed({ call: filled, secrets: values })

    const plain = (text: string) => secrets.success.get(secretNamedBy(text) ?? "") ?? text
    if (auth.kind !== "oauth2_client_credentials") {
      const credentials =
        auth.kind === "bearer"
          ? plain(auth.token)
          : Buffer.from(`${plain(auth.username)}:${plain(auth.password)}`).toString("base64")
      const header = `${auth.kind === "bearer" ? "Bearer" : "Basic"} ${credentials}`
      return Result.succeed({
        call: authorized(filled, header),
        secrets: [...values, credentials]
      })
    }
    const token = yield* tokens.get(run.workspace_id, {
      ...auth,
      client_id: plain(auth.client_id),
      client_secret: plain(auth.client_secret)
    })
    return Result.mapBoth(token, {
      onSuccess: (given) => ({
        call: authorized(filled, `Bearer ${given.text}`),
        secrets: [...values, given.text],
        token: given
      }),
      onFailure: (problem) => ({ error: executionError("auth_failed", problem), retries: call })
    })
  })
})

const authorized = (call: RunCall, authorization: string): RunCall => ({
  ...call,
  headers: { ...call.headers, authorization }
})

/** The URL as it is written, which has its host. References stand only after it. */
const writtenUrl = (url: string): Result.Result<URL, ExecutionError> =>
  Result.mapError(
    Result.flatMap(
      Result.mapError(parseTemplate(url), (problems) => problems.join("; ")),
      (template) => parseCallUrl(withPlaceholders(template))
    ),
    (problem) => executionError("invalid_template", `url ${problem}`)
  )

/** Where the secrets of an `auth` go besides the target. */
const urlsOfAuth = (auth: CallAuth): ReadonlyArray<URL> =>
  auth.kind === "oauth2_client_credentials" ? [new URL(auth.token_url)] : []

interface Details {
  readonly name: string | null
  readonly key: string | null
  readonly input: string | null
}

const readDetails = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, run: StartedRun) {
    const [row] = yield* sql<Details>`
      SELECT name, key, (
        SELECT input::text
        FROM run_inputs
        WHERE id = ${run.id}
          AND workspace_id = ${run.workspace_id}
      ) AS input
      FROM tasks
      WHERE workspace_id = ${run.workspace_id}
        AND id = ${run.task_id}`
    return row ?? { name: null, key: null, input: null }
  },
  Effect.retry({ schedule: Schedule.spaced("500 millis") }),
  Effect.orDie
)
