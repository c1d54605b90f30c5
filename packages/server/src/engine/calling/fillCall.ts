import {
  type CallAuth,
  type OAuth2Auth,
  secretNameInReference
} from "@scheduling/domain/calls/CallAuth"
import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { hasBraces, parseTemplate } from "@scheduling/domain/calls/Template"
import {
  needsValues,
  valuesUsedByCall,
  type UsedValues,
  withPlaceholders
} from "@scheduling/domain/calls/TemplateCall"
import { type ExecutionError, executionError } from "@scheduling/domain/executions/ExecutionError"
import { renderCall } from "@scheduling/calls/renderCall"
import { type StepResponse, templateValuesOf } from "@scheduling/calls/templateValues"
import { Effect, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Meters } from "../../core/index.ts"
import type { RunCall, StartedRun } from "../Run.ts"
import { AccessTokens, type AccessToken } from "../secrets/AccessTokens.ts"
import { CallSecrets, type OpenedSecrets } from "../secrets/CallSecrets.ts"
import { secretValuesFor } from "../secrets/secretValuesFor.ts"

/** A call as its task defines it, with the data that was read with it. */
export interface LoadedCall {
  readonly call: RunCall
  /** Undefined if the run is not a step of a chain. */
  readonly step?: StepValues
}

/** The responses of the earlier steps that a step uses, and the input of the run. */
export interface StepValues {
  readonly answers: ReadonlyMap<string, StepResponse>
  readonly input: string | null
}

/** A call that can be made. */
export interface FilledCall {
  readonly call: RunCall
  /** Secret values substituted into the request, to be masked in the response. */
  readonly secrets: ReadonlyArray<string>
  /**
   * The access token that the call uses. If the response is 401, the token may have been revoked.
   */
  readonly token?: AccessToken
}

/**
 * The run whose values a call uses. A check of a monitor is not a run, but its request can also
 * contain an id and a time.
 */
export type ValueSource = Pick<
  StartedRun,
  "attempt" | "id" | "position" | "scheduled_ms" | "task_id" | "workspace_id"
>

/** The reason why a call cannot be made. */
export interface CallProblem {
  readonly error: ExecutionError
  /** The call with the retry options, if another attempt may succeed. Otherwise null. */
  readonly retries: RunCall | null
}

type Filled = Result.Result<FilledCall, CallProblem>

export const failWithoutCall = (error: ExecutionError): Result.Result<never, CallProblem> =>
  Result.fail({ error, retries: null })

/** The reasons why a call cannot be filled in. */
const reasons = ["secret_missing", "secret_refused", "invalid_template", "auth_failed"] as const

/** Creates a function that counts the calls that cannot be filled in, by reason. */
export const makeCountCallProblem = Effect.map(Meters, (meters) => {
  const count = meters.counts(
    "scheduling_calls_not_made_total",
    "Calls that were not made because their values could not be filled in.",
    "reason",
    reasons
  )
  return ({ error }: CallProblem): void => {
    const reason = reasons.find((code) => code === error.code)
    if (reason !== undefined) count(reason)
  }
})

/** Whether the call of the task contains values to fill in. */
export const needsFilling = (call: RunCall): boolean => needsValues(call, call.call_options?.auth)

/**
 * Fills in the values of a call:
 *
 * 1. Finds the values that the call uses.
 * 2. Decrypts its secrets.
 * 3. Reads the name of the task and the input of the run, if the call uses them.
 * 4. `fillWith` checks that each secret may be sent to the host of the call, renders the URL, the
 *    headers and the body, and adds the `Authorization` header of its `auth`.
 * 5. Obtains the access token for an OAuth2 `auth`.
 */
export const makeFillCall = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const callSecrets = yield* CallSecrets
  const tokens = yield* AccessTokens
  const countProblem = yield* makeCountCallProblem

  const fill = Effect.fnUntraced(function* (
    run: ValueSource,
    loaded: LoadedCall,
    now_ms: number,
    known?: CallValues
  ): Effect.fn.Return<Filled> {
    const { call, step } = loaded
    if (!needsFilling(call)) return Result.succeed({ call, secrets: [] })
    const used = known?.used ?? usesOf(call)
    const opened = known?.opened ?? (yield* callSecrets.open(run.workspace_id, used.secrets))
    const details =
      used.task || (used.input && step === undefined)
        ? yield* readTaskDetails(sql, run)
        : emptyTaskDetails
    const filled = fillWith(run, loaded, { used, opened, details, now_ms })
    if (Result.isFailure(filled)) return Result.fail(filled.failure)
    const { request, ...ready } = filled.success
    if (request === undefined) return Result.succeed(ready)
    const token = yield* tokens.get(run.workspace_id, request)
    return Result.mapBoth(token, {
      onSuccess: (given) => ({
        call: withAuthorization(ready.call, `Bearer ${given.text}`),
        secrets: [...ready.secrets, given.text],
        token: given
      }),
      onFailure: (problem) => ({ error: executionError("auth_failed", problem), retries: call })
    })
  })

  return (
    run: ValueSource,
    loaded: LoadedCall,
    now_ms: number,
    /** The values that the call uses, if they were already found in a batch. */
    known?: CallValues
  ): Effect.Effect<Filled> =>
    Effect.tap(fill(run, loaded, now_ms, known), (filled) => {
      if (Result.isFailure(filled)) countProblem(filled.failure)
      return Effect.void
    })
})

/** The values that a call uses, and its decrypted secrets. */
export interface CallValues {
  readonly used: UsedValues
  readonly opened: OpenedSecrets
}

const usesOf = (call: RunCall): UsedValues => valuesUsedByCall(call, call.call_options?.auth)

/**
 * Decrypts the secrets of calls that were returned with the start of their runs, in one batch.
 * These calls can then be filled in synchronously. A fiber per call would cost a third of a run's
 * time.
 */
export const makeDecryptBatch = Effect.map(
  CallSecrets,
  (callSecrets) =>
    (runs: ReadonlyArray<StartedRun>): Effect.Effect<ReadonlyMap<StartedRun, CallValues>> => {
      const uses = new Map<StartedRun, UsedValues>()
      const names = new Map<string, Set<string>>()
      for (const run of runs) {
        const { call, workspace_id } = run
        if (call === null || !needsFilling(call)) continue
        const used = usesOf(call)
        uses.set(run, used)
        const ofWorkspace = names.get(workspace_id) ?? new Set()
        for (const name of used.secrets) ofWorkspace.add(name)
        names.set(workspace_id, ofWorkspace)
      }
      if (uses.size === 0) return Effect.succeed(noFillings)
      return Effect.gen(function* () {
        const opened = yield* Effect.forEach(
          names,
          ([workspaceId, asked]) =>
            Effect.map(callSecrets.open(workspaceId, asked), (one) => [workspaceId, one] as const),
          { concurrency: "unbounded" }
        )
        const byWorkspace = new Map(opened)
        const fillings = new Map<StartedRun, CallValues>()
        for (const [run, used] of uses) {
          const ofWorkspace = byWorkspace.get(run.workspace_id)
          if (ofWorkspace !== undefined) fillings.set(run, { used, opened: ofWorkspace })
        }
        return fillings
      })
    }
)

const noFillings: ReadonlyMap<StartedRun, CallValues> = new Map()

/** Fills in a call that uses only secrets. Returns undefined if the call uses other values. */
export const fillSynchronously = (
  run: StartedRun,
  call: RunCall,
  { opened, used }: CallValues,
  now_ms: number
): Filled | undefined => {
  const auth = call.call_options?.auth
  if (auth?.kind === "oauth2_client_credentials") return undefined
  if (used.task || used.input) return undefined
  return fillWith(run, { call }, { used, opened, details: emptyTaskDetails, now_ms })
}

/** `request` is the request for an access token, if the call needs one. */
type Prepared = FilledCall & { readonly request?: OAuth2Auth }

const fillWith = (
  run: ValueSource,
  { call, step }: LoadedCall,
  {
    details,
    now_ms,
    opened,
    used
  }: {
    readonly used: UsedValues
    readonly opened: OpenedSecrets
    readonly details: TaskDetails
    readonly now_ms: number
  }
): Result.Result<Prepared, CallProblem> => {
  const auth = call.call_options?.auth
  const url = writtenUrl(call.url)
  if (Result.isFailure(url)) return failWithoutCall(url.failure)
  const hosts = auth === undefined ? [url.success] : [url.success, ...urlsOfAuth(auth)]
  const secrets = secretValuesFor(used.secrets, opened, hosts)
  if (Result.isFailure(secrets)) return failWithoutCall(secrets.failure)
  const rendered = renderCall(
    call,
    templateValuesOf({
      run: {
        id: run.position?.chain_run_id ?? run.id,
        attempt: run.attempt,
        scheduled_ms: run.scheduled_ms
      },
      task: details,
      input: step === undefined ? details.input : step.input,
      steps: step?.answers ?? noAnswers,
      secrets: secrets.success,
      now_ms
    })
  )
  if (Result.isFailure(rendered)) {
    return failWithoutCall(executionError("invalid_template", rendered.failure))
  }
  const filled = { ...call, ...rendered.success }
  const values = opened.valuesOf(used.secrets)
  if (auth === undefined) return Result.succeed({ call: filled, secrets: values })

  const plain = (text: string) => secrets.success.get(secretNameInReference(text) ?? "") ?? text
  if (auth.kind === "oauth2_client_credentials") {
    const request = {
      ...auth,
      client_id: plain(auth.client_id),
      client_secret: plain(auth.client_secret)
    }
    return Result.succeed({ call: filled, secrets: values, request })
  }
  const credentials =
    auth.kind === "bearer"
      ? plain(auth.token)
      : Buffer.from(`${plain(auth.username)}:${plain(auth.password)}`).toString("base64")
  const header = `${auth.kind === "bearer" ? "Bearer" : "Basic"} ${credentials}`
  return Result.succeed({
    call: withAuthorization(filled, header),
    secrets: auth.kind === "bearer" ? values : [...values, credentials]
  })
}

const noAnswers: ReadonlyMap<string, StepResponse> = new Map()

const withAuthorization = (call: RunCall, authorization: string): RunCall => ({
  ...call,
  headers: { ...call.headers, authorization }
})

/**
 * Parses the URL before its values are filled in. The host is already known, because references are
 * allowed only after it.
 */
const writtenUrl = (url: string): Result.Result<URL, ExecutionError> =>
  Result.mapError(
    hasBraces(url)
      ? Result.flatMap(
          Result.mapError(parseTemplate(url), (problems) => problems.join("; ")),
          (template) => parseCallUrl(withPlaceholders(template))
        )
      : parseCallUrl(url),
    (problem) => executionError("invalid_template", `url ${problem}`)
  )

/** The URLs, besides the target, to which the secrets of an `auth` are sent. */
const urlsOfAuth = (auth: CallAuth): ReadonlyArray<URL> =>
  auth.kind === "oauth2_client_credentials" ? [new URL(auth.token_url)] : []

export const emptyTaskDetails: TaskDetails = { name: null, key: null, input: null }

interface TaskDetails {
  readonly name: string | null
  readonly key: string | null
  readonly input: string | null
}

export const readTaskDetails = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, run: ValueSource) {
    const [row] = yield* sql<TaskDetails>`
      SELECT name, key, (
        SELECT input::text
        FROM run_inputs
        WHERE id = ${run.id}
          AND workspace_id = ${run.workspace_id}
      ) AS input
      FROM tasks
      WHERE workspace_id = ${run.workspace_id}
        AND id = ${run.task_id}`
    return row ?? emptyTaskDetails
  },
  Effect.retry({ schedule: Schedule.spaced("500 millis") }),
  Effect.orDie
)
