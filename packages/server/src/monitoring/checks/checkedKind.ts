import { noMeasurements } from "@scheduling/calls/probes/checkErrors"
import type { CheckEvent, CheckResult } from "@scheduling/domain/monitors/checks/Check"
import type { Monitor as AnyMonitor } from "@scheduling/domain/monitors/Monitor"
import type { ValidationFailed } from "@scheduling/domain/shared/Errors"
import type { FieldProblem } from "@scheduling/domain/shared/ValidationIssue"
import { Effect, Option } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type KindTypes, type MonitorKind, decidePause } from "../MonitorKind.ts"
import {
  type CheckedColumns,
  type CheckedRow,
  checkedTable,
  type JoinedPlaces,
  type CheckRules
} from "./CheckedRow.ts"
import { ChecksRepo } from "./ChecksRepo.ts"

interface CheckedInput extends Partial<CheckRules> {
  readonly name?: string
  readonly key?: string | null
  readonly tags?: ReadonlyArray<string>
}

/** The `KindTypes` of a kind whose targets are checked periodically. */
export interface CheckedTypes<Target, Input, Changes, Monitor> extends KindTypes {
  readonly Row: CheckedRow<Target>
  readonly Columns: CheckedColumns<Target>
  readonly Joined: JoinedPlaces
  readonly Input: Input & KindTypes["Input"]
  readonly Changes: Changes & KindTypes["Changes"]
  readonly Monitor: Monitor & KindTypes["Monitor"]
  readonly Details: CheckResult
  readonly Event: CheckEvent
}

/** The parts that differ between the kinds of monitors whose targets are checked periodically. */
export interface TargetKind<Target, Input, Changes, Monitor> {
  readonly kind: AnyMonitor["kind"]
  readonly defaults: CheckRules & { readonly key: null; readonly tags: ReadonlyArray<string> }
  /** Returns a definition's target. `before` is the target that it replaces. */
  readonly toTarget: (input: Input, before?: Target) => Target
  readonly changeTarget: (target: Target, changes: Changes) => Target
  /** Returns the problem of a target whose fields contradict each other. */
  readonly problemOf?: (target: Target) => FieldProblem | undefined
  /**
   * Returns a target's fields that identify what is checked. If they change, the monitor becomes
   * `new`.
   */
  readonly identityOf: (target: Target) => unknown
  readonly secretsOf?: (target: Target) => ReadonlyArray<string>
  /** Fails if the service is not allowed to connect to the target. */
  readonly checkTarget: (given: Partial<Target>) => Effect.Effect<void, ValidationFailed>
  readonly show: (row: CheckedRow<Target> & JoinedPlaces, at: Date) => Monitor
}

/** Creates a kind of monitor whose targets are checked periodically. */
export const checkedKind = <
  Target,
  Input extends CheckedInput & { readonly name: string },
  Changes extends CheckedInput,
  Monitor
>(
  of: TargetKind<Target, Input, Changes, Monitor>
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
      // If workers check the target, they decide which addresses they are allowed to call.
      checkTarget: Effect.fnUntraced(function* (_, given, current) {
        const before = Option.getOrUndefined(yield* current)
        const { places = before?.places ?? null } = given
        if (places === null) yield* of.checkTarget({ ...before?.target, ...(given as object) })
      }),
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
          // The new target has not been checked yet, so the old status does not apply to it.
          changes: isSame || !isKnown ? [] : [{ from, to: "new", at: at.getTime(), cause: null }],
          events: []
        }
      },
      decidePaused: (row, isPaused, at) => ({
        columns: { check_at: isPaused ? null : at, failures: 0, successes: 0 },
        ...decidePause(row, isPaused, at)
      }),
      show: (row, at) => of.show(row, at) as Monitor & KindTypes["Monitor"],
      showDetails: (details) => ({ ...noMeasurements, ...details })
    }
  })

const rulesOf = (given: Partial<CheckRules>, otherwise: CheckRules): CheckRules => ({
  interval_seconds: given.interval_seconds ?? otherwise.interval_seconds,
  timeout_seconds: given.timeout_seconds ?? otherwise.timeout_seconds,
  confirm_after: given.confirm_after ?? otherwise.confirm_after,
  recover_after: given.recover_after ?? otherwise.recover_after,
  places: given.places === undefined ? otherwise.places : given.places,
  down_when: given.down_when ?? otherwise.down_when
})
