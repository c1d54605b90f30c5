import type { RunOn } from "@scheduling/sdk"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { formatDuration } from "../ui/values/format.ts"

/** A task's `run_on` setting as form values. */
export interface RunOnValues {
  /** The labels that a worker must have to make the call. Null means that the service makes it. */
  readonly run_on: string | null
  readonly worker_wait_seconds: number | null
}

export interface RunOnSettings {
  readonly run_on: RunOn | null
  readonly worker_wait_seconds: number
}

export const defaultRunOn: RunOnSettings = { run_on: null, worker_wait_seconds: 300 }

export const parseLabels = (text: string): ReadonlyArray<string> =>
  text.split(/[\s,]+/).filter((label) => label !== "")

export const runOnValuesOf = ({ run_on, worker_wait_seconds }: RunOnSettings): RunOnValues => ({
  run_on: run_on === null ? null : run_on.labels.join(", "),
  worker_wait_seconds
})

export const runOnInputOf = ({ run_on, worker_wait_seconds }: RunOnValues): RunOnSettings => ({
  run_on: run_on === null ? null : { labels: parseLabels(run_on) },
  worker_wait_seconds: worker_wait_seconds ?? defaultRunOn.worker_wait_seconds
})

export const runOnFacts = ({ run_on, worker_wait_seconds }: RunOnSettings): FactsByName =>
  run_on === null
    ? {}
    : {
        "Runs on": `Workers with ${run_on.labels.join(", ")}`,
        "Waits for a worker": formatDuration(worker_wait_seconds * 1_000)
      }
