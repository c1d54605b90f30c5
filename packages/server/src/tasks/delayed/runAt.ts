import { type DelayedTaskDefinition, maxDelaySeconds } from "@scheduling/domain/delayed/DelayedTask"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"
import type { DelayedTaskRow } from "./DelayedTasksRepo.ts"

export const dueFields = ["run_at", "delay_seconds"] as const

/** A time that had passed when the task was made or changed meant that moment. */
export const isDueAs = (
  task: Pick<DelayedTaskRow, "run_at" | "updated_at">,
  { run_at }: DelayedTaskDefinition
): boolean =>
  run_at !== undefined &&
  Math.max(Date.parse(run_at), task.updated_at.getTime()) === task.run_at.getTime()

/** When the task should run, if the input says so. A time in the past means now. */
export const runAtOf = Effect.fnUntraced(function* (
  due: { readonly run_at?: string; readonly delay_seconds?: number },
  now: Date
) {
  if (due.delay_seconds !== undefined) return new Date(now.getTime() + due.delay_seconds * 1000)
  if (due.run_at === undefined) return undefined
  const runAtMs = Date.parse(due.run_at)
  if (runAtMs > now.getTime() + maxDelaySeconds * 1000) {
    return yield* new ValidationFailed({
      issues: [{ path: ["run_at"], message: "Expected a time at most 365 days ahead" }]
    })
  }
  return new Date(Math.max(runAtMs, now.getTime()))
})

export const isPending = (task: Pick<DelayedTaskRow, "status" | "run_at">, now: Date): boolean =>
  task.status === "pending" && task.run_at > now
