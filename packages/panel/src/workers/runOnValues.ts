import type { RunOn } from "@scheduling/sdk"
import { labelsOf } from "./labelsOf.ts"

/** Where a call is made, as it is typed. */
export interface RunOnValues {
  /** The labels of the workers. Null: the service makes the call. */
  readonly run_on: string | null
  readonly worker_wait_seconds: number | null
}

export interface RunsOn {
  readonly run_on: RunOn | null
  readonly worker_wait_seconds: number
}

export const newRunOn: RunsOn = { run_on: null, worker_wait_seconds: 300 }

export const runOnValuesOf = ({ run_on, worker_wait_seconds }: RunsOn): RunOnValues => ({
  run_on: run_on === null ? null : run_on.labels.join(", "),
  worker_wait_seconds
})

/** As the API takes it. */
export const runOnInputOf = ({ run_on, worker_wait_seconds }: RunOnValues): RunsOn => ({
  run_on: run_on === null ? null : { labels: labelsOf(run_on) },
  worker_wait_seconds: worker_wait_seconds ?? newRunOn.worker_wait_seconds
})
