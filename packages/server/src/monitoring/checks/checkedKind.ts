import type { Check, CheckEvent, CheckResult } from "@scheduling/domain/monitors/checks/Check"
import type { Monitor as AnyMonitor } from "@scheduling/domain/monitors/Monitor"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type KindTypes, type MonitorKind, recordPause } from "../MonitorKind.ts"
import {
  type CheckedColumns,
  type CheckedRow,
  checkedTable,
  type CheckRules
} from "./CheckedRow.ts"
import { ChecksRepo } from "./ChecksRepo.ts"

interface CheckedInput extends Partial<CheckRules> {
  readonly name?: string
  readonly key?: string | null
  readonly tags?: ReadonlyArray<string>
}

export interface CheckedTypes<Target, Input, Changes, Monitor> extends KindTypes {
  readonly Row: CheckedRow<Target>
  readonly Columns: CheckedColumns<Target>
  readonly Joined: object
  readonly Input: Input & KindTypes["Input"]
  readonly Changes: Changes & KindTypes["Changes"]
  readonly Monitor: Monitor & KindTypes["Monitor"]
  readonly Details: CheckResult
  readonly Event: CheckEvent
}

/** The differences between the kinds whose targets are checked at an interval. */
export interface TargetOf<Target, Input, Changes, Monitor> {
  readonly kind: AnyMonitor["kind"]
  readonly defaults: CheckRules & { readonly key: null; readonly tags: ReadonlyArray<string> }
  /** Returns the target of a definition. `before` is the target that it replaces. */
  readonly toTarget: (input: Input, before?: Target) => Target
  readonly changeTarget: (target: Target, changes: Changes) => Target
  /** Returns the problem of a target whose fields contradict each other. */
  readonly problemOf?: (target: Target) => FieldProblem | undefined
  /**
   * Returns the fields of a target that identify what is checked. If they change, the monitor
   * becomes `new`.
   */
  readonly identityOf: (target: Target) => unknown
  readonly secretsOf?: (target: Target) => ReadonlyArray<string>
  readonly checkTarget: NonNullable<
    MonitorKind<CheckedTypes<Target, Input, Changes, Monitor>>["checkTarget"]
  >
  readonly show: (row: CheckedRow<Target>, at: Date) => Monitor
}

/** Creates a kind of monitor whose target is checked at an interval. */
export const checkedKind = <
  Target,
  Input extends CheckedInput & { readonly name: string },
  Changes extends CheckedInput,
  Monitor
>(
  of: TargetOf<Target, Input, Changes, Monitor>
) =>
  Effect.map(ChecksRepo, (repo): MonitorKind<CheckedTypes<Target, Input, Changes, Monitor>> => {
    const settingsWith = <Settings extends object>(target: Target, settings: Settings) => {
      const names = of.secretsOf?.(target) ?? []
      return (
        of.problemOf?.(target) ?? {
          ...settings,
          target,
          secret_names: names.length === 0 ? null : names
        }
      )
    }

    return {
      table: checkedTable<Target>(of.kind),
      rows: repo.rowReader<Target>(of.kind),
      stored: ({ target }) => target as object,
      toSettings: (input, before) => {
        const { key, tags, ...rules } = of.defaults
        return settingsWith(of.toTarget(input, before?.target), {
          key: input.key ?? key,
          name: input.name,
          tags: input.tags ?? tags,
          ...rulesOf(input, rules)
        })
      },
      changeSettings: (row, changes) =>
        settingsWith(of.changeTarget(row.target, changes), rulesOf(changes, row)),
      checkTarget: of.checkTarget,
      initialColumns: (_, at) => ({ check_at: at }),
      decideSettings: (row, settings, at) => {
        const { status: from } = row
        const target = settings.target ?? row.target
        const isSame = isDeepStrictEqual(of.identityOf(target), of.identityOf(row.target))
        const isKnown = from !== "new" && from !== "paused"
        return {
          columns: {
            ...settings,
            ...(isSame ? {} : { last_check: null }),
            failures: 0,
            successes: 0,
            check_at: from === "paused" ? null : at
          },
          // The new target has not been checked, so the old status does not apply.
          changes: isSame || !isKnown ? [] : [{ from, to: "new", at: at.getTime(), cause: null }],
          events: []
        }
      },
      decidePaused: (row, isPaused, at) => ({
        columns: { check_at: isPaused ? null : at, failures: 0, successes: 0 },
        ...recordPause(row, isPaused, at)
      }),
      show: (row, at) => of.show(row, at) as Monitor & KindTypes["Monitor"],
      showDetails: (details) => ({ ...nothingMeasured, ...details })
    }
  })

/** The fields of a check without measurements. */
export const nothingMeasured: Omit<Check, "at"> = {
  error: null,
  duration_ms: null,
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  wait_ms: null,
  status_code: null,
  certificate_expires_at: null,
  values: null
}

const rulesOf = (given: Partial<CheckRules>, otherwise: CheckRules): CheckRules => ({
  interval_seconds: given.interval_seconds ?? otherwise.interval_seconds,
  timeout_seconds: given.timeout_seconds ?? otherwise.timeout_seconds,
  confirm_after: given.confirm_after ?? otherwise.confirm_after,
  recover_after: given.recover_after ?? otherwise.recover_after
})
