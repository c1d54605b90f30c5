import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Callbacks } from "@scheduling/domain/calls/Callbacks"
import type { RunOn } from "@scheduling/domain/workers/RunOn"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { RunQueue } from "../engine/index.ts"
import { callbackTargets } from "./TaskOptions.ts"

type Given = { readonly [Name in keyof Callbacks]: Callbacks[Name] | null } & {
  readonly url?: string
  readonly run_on?: object | null
}

/** Returns the URLs in a definition or a change of a task that makes only one call. */
export const callTargets = (
  given: Given,
  { run_on, url }: { readonly url: string; readonly run_on: RunOn | null }
) => [
  ...(given.url !== undefined || given.run_on === null ? [{ path: ["url"], url, run_on }] : []),
  ...callbackTargets(given)
]

/** A call's columns that can be long. */
export const longCallColumns = { headers: "t.headers", body: "t.body" }

interface Moved {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
  readonly run_on: RunOn | null
  readonly worker_wait_seconds: number
}

/**
 * Moves a task's queued runs to its new worker, or back to the service, after `run_on` has changed.
 */
export const moveRunsToNewWorker =
  (move: RunQueue["Service"]["move"]) =>
  (before: Moved, row: Moved): Effect.Effect<void> =>
    isDeepStrictEqual(before.run_on, row.run_on) &&
    before.worker_wait_seconds === row.worker_wait_seconds
      ? Effect.void
      : move({ workspace_id: row.workspace_id, task_id: row.id }, row)
