import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeRunId } from "../../../src/engine/RunId.ts"
import { runAt, type RunOrExecution } from "../executions/history.ts"
import { ask, createKey, type Member, signUp } from "../../support/http.ts"
import { testNow } from "../../support/TestApp.ts"

export const loginStep = { name: "login", url: "https://api.example.com/login" }
export const closeStep = {
  name: "close",
  url: "https://api.example.com/days/{{ steps.login.body.day }}/close"
}
export const alarmStep = {
  name: "alarm",
  url: "https://chat.example.com/hooks/ops",
  run_if: "failure"
}

export const minimalChain = { name: "Close the day", steps: [loginStep, closeStep, alarmStep] }

/** Adds the defaults to a step. */
export const storedStep = (step: object) => ({
  kind: "call",
  method: "POST",
  headers: {},
  body: null,
  timeout_seconds: 30,
  retry_count: 0,
  retry: null,
  success_codes: null,
  body_contains: null,
  body_lacks: null,
  completion: null,
  auth: null,
  run_on: null,
  worker_wait_seconds: 300,
  run_if: "success",
  ...step
})

type Owner = Pick<Member, "workspace" | "access_token">

/** Returns functions that send requests for chains, with the owner's token. */
export const chainClientOf = ({ access_token: token, workspace }: Owner) => {
  const chains = `${workspace}/chains`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", chains, { token, headers, body: { ...minimalChain, ...input } }),
    list: (query = "") => ask("GET", `${chains}${query}`, { token }),
    get: (id: string) => ask("GET", `${chains}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${chains}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${chains}/${id}`, { token }),
    act: (id: string, action: string, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${chains}/${id}/${action}`, { token, headers }),
    runs: (id: string, query = "") => ask("GET", `${chains}/${id}/runs${query}`, { token }),
    getRun: (id: string, runId: string) => ask("GET", `${chains}/${id}/runs/${runId}`, { token })
  }
}

/**
 * Creates a workspace with an API key that has all scopes needed for chains. The test's clock is
 * set to noon.
 */
export const setUpChains = Effect.gen(function* () {
  yield* TestClock.setTime(testNow)
  const member = yield* signUp()
  const { key } = yield* createKey(member, {
    scopes: ["tasks:read", "tasks:write", "executions:read"]
  })
  return { member, key, chains: chainClientOf({ ...member, access_token: key }) }
})

/** Creates a chain run's rows as the engine writes them, first step first. */
export const runOf = (
  chain: { readonly workspace_id: string; readonly id: string },
  at: number,
  steps: ReadonlyArray<Partial<RunOrExecution>>
): ReadonlyArray<RunOrExecution> => {
  const id = makeRunId(at, at)
  return steps.map((step, index) =>
    runAt(at + index * 1_000, {
      workspace_id: chain.workspace_id,
      task_id: chain.id,
      kind: "chain",
      trigger: index === 0 ? "schedule" : "chain",
      chain_run_id: id,
      step_index: index,
      ...(index === 0 ? { id } : {}),
      ...step
    })
  )
}

const steps = [loginStep, closeStep, alarmStep]

/** The rows that the engine writes for the steps of `minimal`, with their results. */
export const loginRow = { step: "login" }
export const closeRow = { step: "close" }
export const alarmRow = { step: "alarm" }
export const succeededRow = { status: "succeeded", status_code: 200 } as const
export const failedRow = {
  status: "failed",
  status_code: 500,
  error: "http_status: responded with 500"
} as const
export const skippedRow = { status: "skipped" } as const
export const cancelledRow = { status: "cancelled", error: "cancelled: cancelled" } as const
export const runningRow = { status: "running", steps } as const
export const queuedRow = { status: "queued", steps } as const

/** The fields that most tests check in a run. */
export interface CheckedRun {
  readonly id: string
  readonly status: string
  readonly finished_at: string | null
  readonly steps: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly execution: object | null
  }>
}

/** Converts a run from the list to its details, without responses. */
export const withoutResponses = (run: CheckedRun) => ({
  ...run,
  input: null,
  steps: run.steps.map((step) => ({
    ...step,
    execution: step.execution === null ? null : { ...step.execution, response_body: null }
  }))
})

export const runAndStepStatuses = (run: CheckedRun) => [
  run.status,
  run.steps.map((step) => step.status)
]
