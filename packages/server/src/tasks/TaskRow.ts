import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { CallOptions } from "@scheduling/domain/calls/CallOptions"
import { maskedDefinitionHeaders } from "@scheduling/domain/calls/credentialHeaders"
import type { Actor } from "@scheduling/domain/shared/Actor"
import type { Schema } from "effect"
import type { RecordedDefinition } from "../accounts/index.ts"
import type { Dependency } from "@scheduling/domain/incidents/Dependency"
import { fieldsCopier } from "../core/index.ts"
import type { TaskFlowColumns } from "../engine/index.ts"
import { timestampOf } from "../store/index.ts"
import type { StoredHeaders } from "./restoreHeaders.ts"
import { shownTiming } from "./timingColumn.ts"
import {
  type OptionColumn,
  type OptionColumns,
  type RareOption,
  rareOptions,
  firingFields,
  unsetOptionsOf
} from "./TaskOptions.ts"

/** Identifies a task of any kind. */
export interface TaskRef {
  readonly id: string
  readonly workspace_id: AuthorizedWorkspaceId
}

/** Identifies a cron task or a chain. Delayed tasks have no trigger URL and no success rate. */
export interface CronOrChainRef {
  readonly workspaceId: AuthorizedWorkspaceId
  readonly kind: "cron" | "chain"
  readonly id: string
}

/** The columns of `tasks` that all kinds have. */
export interface TaskRow
  extends TaskRef, StoredHeaders, TaskFlowColumns, Pick<OptionColumns, "ending_options"> {
  readonly timeout_seconds?: number
  readonly call_options?: CallOptions | null
  readonly key: string | null
  readonly version: number
  readonly status: string
  readonly queue_id: string | null
  /** The dependencies, which are stored in the table `dependencies`. Absent for delayed tasks. */
  readonly depends_on?: ReadonlyArray<Dependency>
  readonly created_by: Actor | null
  /** Null until the first change. */
  readonly updated_by: Actor | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A response's fields that have a column with the same name. */
export type PlainColumns<Task> = Omit<
  Task,
  | RareOption
  | "anchor"
  | "created_at"
  | "created_by"
  | "depends_on"
  | "execution_id"
  | "every"
  | "last_run"
  | "next_run_at"
  | "paused"
  | "paused_reason"
  | "queue_key"
  | "updated_at"
  | "updated_by"
  | "workspace_id"
>

/** The columns that all kinds with a schedule have. */
export interface FiringColumns extends Pick<OptionColumns, "firing_options"> {
  readonly paused_reason: string | null
  readonly next_fire_at: Date | null
}

/** A response's fields that have no column with the same name. */
const otherFields: ReadonlySet<string> = new Set([
  ...rareOptions,
  "execution_id",
  "anchor",
  "depends_on",
  "every",
  "last_run",
  "next_run_at",
  "paused",
  "paused_reason",
  "queue_key"
])

/**
 * Derives a kind's columns, and the function that converts a row to a response, from its response
 * fields and its groups of rare options. `defined` lists its definition's fields.
 */
export const makeTaskRowMapper = <
  Task extends { readonly last_run: unknown },
  Row extends Omit<TaskRow, "steps">
>(
  { fields }: { readonly fields: Schema.Struct.Fields },
  options: ReadonlyArray<OptionColumn>,
  defined: ReadonlyArray<string>
) => {
  const plain = Object.keys(fields).filter((name) => !otherFields.has(name))
  const times = ["run_at", "created_at", "updated_at"].filter((name) => plain.includes(name))
  const unset = Object.assign({}, ...options.map(unsetOptionsOf), { queue_key: null })
  const copied = fieldsCopier<Record<string, unknown>>(plain, unset)
  const hasSchedule = options.includes("firing_options")
  const columns = [
    ...plain,
    "flow_parts",
    ...options,
    ...(hasSchedule ? ["paused_reason", "next_fire_at"] : [])
  ]
  const definedColumns = plain.filter((name) => defined.includes(name))
  const copiedDefinition = fieldsCopier<Record<string, unknown>>(
    definedColumns,
    Object.assign({}, ...options.map(unsetOptionsOf))
  )
  return {
    columns,

    definition: (row: TaskRow & Partial<OptionColumns>): RecordedDefinition => {
      const stored = copiedDefinition(row)
      for (const name of times) if (name in stored) stored[name] = timestampOf(stored[name] as Date)
      Object.assign(stored, row.call_options, row.firing_options, row.ending_options)
      if (hasSchedule) {
        Object.assign(stored, shownTiming(stored["schedule"] as string | null))
        stored["paused"] = row.status === "paused"
        stored["depends_on"] = (row.depends_on ?? []).map(({ id, kind }) => ({ kind, id }))
      }
      const { updated_at, version } = row
      const updated_by = row.updated_by ?? row.created_by
      const headers = row.headers && maskedDefinitionHeaders(row.headers)
      const shown = headers === row.headers ? stored : { ...stored, headers }
      return { version, updated_at, updated_by, stored, shown }
    },

    show: (row: Row & Partial<OptionColumns>, lastRun: Task["last_run"]): Task => {
      const task = copied(row)
      for (const name of times) task[name] = timestampOf(task[name] as Date)
      Object.assign(task, row.call_options, row.firing_options, row.ending_options)
      if (hasSchedule) {
        Object.assign(task, shownTiming(task["schedule"] as string | null))
        Object.assign(task, firingFields(row as Row & FiringColumns))
        task["depends_on"] = row.depends_on ?? []
      }
      if (row.headers !== undefined) task["headers"] = maskedDefinitionHeaders(row.headers)
      task["updated_by"] ??= row.created_by
      task["last_run"] = lastRun
      return task as object as Task
    }
  }
}
