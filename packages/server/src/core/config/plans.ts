import { Limits } from "@scheduling/domain/billing/Limits"
import { Plan, PlanId } from "@scheduling/domain/billing/Plan"
import { minGapSeconds } from "@scheduling/schedules/shortestDailyGapSeconds"
import { WorkspaceId } from "@scheduling/domain/shared/Ids"
import { Effect, Result, Schema, Struct } from "effect"
import { readFileSync } from "node:fs"

export interface PlanCatalog {
  readonly plans: ReadonlyMap<string, Plan>
  /** The plan of workspaces that have neither bought a plan nor been assigned one. */
  readonly byDefault: Plan
  /** The plan ids that the operator has assigned, by workspace. */
  readonly assigned: ReadonlyMap<string, string>
}

/** The limits of a self-hosted service: as much as one node or one workspace can handle. */
export const selfHostedPlan: Plan = {
  id: "self_hosted",
  name: "Self-hosted",
  limits: {
    cron_tasks: 10_000,
    chains: 10_000,
    second_precision_tasks: 100,
    calendars: 20,
    pending_delayed_tasks: 100_000,
    unfinished_runs: 200_000,
    executions_a_month: null,
    shortest_interval_seconds: minGapSeconds,
    history_days: null,
    active_api_keys: 100,
    api_keys: 1_000,
    members: 1_000,
    open_invitations: 100,
    monitors: 1_000,
    notification_channels: 100,
    confirmation_mails_a_day: 20,
    waiting_callbacks: 1_000,
    workers: 1_000,
    queues: 100,
    secrets: 100,
    owned_workspaces: 100
  },
  trial_days: 0,
  prices: []
}

/**
 * The limit of unfinished runs per task, in every plan. The statement that fires tasks checks it.
 */
export const maxUnfinishedRunsPerTask = 10_000

export const selfHostedCatalog: PlanCatalog = {
  plans: new Map([[selfHostedPlan.id, selfHostedPlan]]),
  byDefault: selfHostedPlan,
  assigned: new Map()
}

/** Reads the file that `PLANS_FILE` names. Fails with an error message. */
export const readPlans = (path: string): Result.Result<PlanCatalog, string> => {
  const text = Result.try(() => readFileSync(path, "utf8"))
  if (Result.isFailure(text)) return Result.fail(`PLANS_FILE cannot be read: ${path}`)
  const file = decodeFile(text.success)
  if (Result.isFailure(file))
    return Result.fail(`PLANS_FILE is not valid: ${inOneLine(file.failure.message)}`)
  const { plans, workspaces } = file.success
  const byId = new Map(plans.map((plan) => [plan.id as string, withAllLimits(plan)]))
  const byDefault = byId.get(file.success.default)
  if (byDefault === undefined) return noSuchPlan("default", file.success.default)
  for (const [workspace, id] of Object.entries(workspaces)) {
    if (!byId.has(id)) return noSuchPlan(`workspaces.${workspace}`, id)
  }
  const ids = plans.flatMap(({ id, prices }) => [id, ...prices.map((price) => price.id)])
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) return Result.fail(`PLANS_FILE defines the id ${twice} twice`)
  return Result.succeed({ plans: byId, byDefault, assigned: new Map(Object.entries(workspaces)) })
}

export const plansByPrice = ({ plans }: PlanCatalog): ReadonlyMap<string, Plan> =>
  new Map([...plans.values()].flatMap((plan) => plan.prices.map(({ id }) => [id, plan])))

/** A plan in the file. It has the limits of `self_hosted`, unless it sets others. */
const PlanInFile = Plan.mapFields(
  Struct.evolve({
    limits: () => Limits.mapFields(Struct.map(Schema.optionalKey)),
    trial_days: (days) => days.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0))),
    prices: (prices) => prices.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
  })
)

const PlansFile = Schema.fromJsonString(
  Schema.Struct({
    default: PlanId,
    plans: Schema.Array(PlanInFile).check(Schema.isBetweenLength(1, 20)),
    workspaces: Schema.Record(WorkspaceId, PlanId).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed({}))
    )
  })
)

const decodeFile = Schema.decodeUnknownResult(PlansFile, {
  errors: "all",
  onExcessProperty: "error"
})

const withAllLimits = (plan: typeof PlanInFile.Type): Plan => ({
  ...plan,
  limits: { ...selfHostedPlan.limits, ...plan.limits }
})

/** Joins the lines of a schema error, which has a separate line for each path. */
const inOneLine = (problems: string) =>
  problems.replaceAll(/\n\s+at /g, " at ").replaceAll(/\s*\n\s*/g, "; ")

const noSuchPlan = (field: string, id: string) =>
  Result.fail(`PLANS_FILE: ${field} names the plan ${id}, which is not in plans`)
