import { Schema, Struct } from "effect"
import { WorkerId } from "../../shared/Ids.ts"
import {
  patchFields,
  optionalWithDefault,
  optionalWithNote
} from "../../shared/requests/optionalWithDefault.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { keyInput } from "../../shared/requests/CallerChosenKey.ts"
import { ListPage } from "../../shared/requests/ListQuery.ts"
import { nullIsAbsent, putFields } from "../../shared/requests/putBody.ts"
import { versionInput } from "../../shared/requests/Version.ts"
import { text } from "../../shared/Text.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../../shared/ValidationIssue.ts"
import { RequiredLabels } from "../../workers/Label.ts"
import { exampleOfMonitor, monitorFields, monitorInput, monitorPausedInput } from "../Monitor.ts"

export const maxShownPids = 20

const exactlyOne = Schema.makeFilter<object>((match) => Object.keys(match).length === 1, {
  expected: "an object with exactly one of name, command_contains and pid_file",
  toJsonSchema: () => ({ minProperties: 1, maxProperties: 1 })
})

const matchFields = {
  name: Schema.optionalKey(
    text({ min: 1, max: 255 }).annotate({
      description: "The exact name of the program.",
      examples: ["postgres"]
    })
  ),
  command_contains: Schema.optionalKey(
    text({ min: 1, max: 1_000 }).annotate({
      description:
        "A part of the command line. The agent searches for it only if it was started with exactly this text (`--watch-command`).",
      examples: ["worker.js --queue mail"]
    })
  ),
  pid_file: Schema.optionalKey(
    text({ min: 1, max: 1_000 }).annotate({
      description: "A file on the worker's machine that contains the process id.",
      examples: ["/run/nginx.pid"]
    })
  )
}

export const ProcessMatch = Schema.Struct(matchFields)
  .check(exactlyOne)
  .annotate({
    identifier: "ProcessMatch",
    description:
      "Which processes are watched, by exactly one of the three fields. Agents watch processes only on Linux.",
    examples: [{ name: "postgres" }]
  })
export type ProcessMatch = typeof ProcessMatch.Type

const count = (minimum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum: 1_000_000 }))

export const ProcessJudge = oneOf(["each", "together"], {
  identifier: "ProcessJudge",
  description:
    "How the rules apply to several workers. `each`: to each worker separately. `together`: to the " +
    "sum of all workers. It makes no difference with `worker_id`."
})

const fields = Schema.Struct({
  ...monitorInput,
  worker_id: Schema.optionalKey(
    WorkerId.annotate({ description: "The worker on whose machine the processes run." })
  ),
  labels: Schema.optionalKey(
    RequiredLabels.annotate({
      description: "Instead of `worker_id`: all online workers with these labels.",
      examples: [["web"]]
    })
  ),
  judge: optionalWithDefault("`each`", ProcessJudge),
  match: ProcessMatch,
  min_count: optionalWithNote(
    "When absent: 1, and 0 with a `max_count` of 0.",
    count(0).annotate({
      description: "The minimum number of processes. Must not exceed `max_count`.",
      examples: [1]
    })
  ),
  max_count: optionalWithDefault(
    "Any number",
    Schema.NullOr(count(0)).annotate({
      description: "The maximum number of processes.",
      examples: [8]
    })
  ),
  max_rss_bytes: optionalWithDefault(
    "Any",
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
    ).annotate({
      description: "The maximum memory of all matching processes together.",
      examples: [536_870_912]
    })
  ),
  max_cpu_percent: optionalWithDefault(
    "Any",
    Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))).annotate(
      {
        description:
          "The limit on the combined CPU usage of all matching processes since the previous report, as a percentage of one core.",
        examples: [150]
      }
    )
  ),
  interval_seconds: optionalWithDefault(
    "30",
    Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 3_600 })).annotate({
      description: "Number of seconds between two reports.",
      examples: [30]
    })
  ),
  grace_seconds: optionalWithDefault(
    "60",
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })).annotate({
      description:
        "Number of seconds for which a rule can be broken, or the worker silent, before the monitor goes down.",
      examples: [60]
    })
  )
})

export const processDefaults = {
  key: null,
  tags: [],
  judge: "each",
  min_count: 1,
  max_count: null,
  max_rss_bytes: null,
  max_cpu_percent: null,
  interval_seconds: 30,
  grace_seconds: 60
} as const

export const defaultMinCount = ({ max_count }: Counts): number =>
  max_count === 0 ? 0 : processDefaults.min_count

interface Counts {
  readonly min_count?: number
  readonly max_count?: number | null
}

/** Returns the problem with a new or changed monitor's minimum and maximum counts, if any. */
export const countProblem = ({ max_count, min_count }: Counts): FieldProblem | undefined =>
  min_count !== undefined && max_count != null && min_count > max_count
    ? {
        path: ["max_count"],
        code: "out_of_range",
        problem: `must not be less than min_count, which is ${min_count}`
      }
    : undefined

const possible = Schema.makeFilter<Counts>((counts) => {
  const problem = countProblem(counts)
  return problem && filterIssue(problem)
})

interface WorkerChoice {
  readonly worker_id?: string
  readonly labels?: ReadonlyArray<string>
}

const bothGiven = ({ labels, worker_id }: WorkerChoice) =>
  labels !== undefined && worker_id !== undefined
const noneGiven = ({ labels, worker_id }: WorkerChoice) =>
  labels === undefined && worker_id === undefined

const notBoth: FieldProblem = {
  path: ["labels"],
  code: "invalid",
  problem: "must not be given together with worker_id"
}
const missing: FieldProblem = {
  path: ["worker_id"],
  code: "required",
  problem: "or labels is required"
}

const oneWorkerChoice = Schema.makeFilter<WorkerChoice>(
  (place) => {
    const problem = bothGiven(place) ? notBoth : noneGiven(place) ? missing : undefined
    return problem && filterIssue(problem)
  },
  { toJsonSchema: () => ({ oneOf: [{ required: ["worker_id"] }, { required: ["labels"] }] }) }
)

/**
 * Like `oneWorkerChoice`, but for a PUT. A PUT may contain a copy of a response, in which the
 * unused field is null.
 */
const oneWorkerChoiceSet = Schema.makeFilter<WorkerChoice>((place) =>
  bothGiven(place) ? filterIssue(notBoth) : noneGiven(place) ? filterIssue(missing) : undefined
)

const atMostOneWorkerChoice = Schema.makeFilter<WorkerChoice>(
  (place) => (bothGiven(place) ? filterIssue(notBoth) : undefined),
  {
    toJsonSchema: () => ({
      not: { properties: { worker_id: {}, labels: {} }, required: ["worker_id", "labels"] }
    })
  }
)

/**
 * The worker fields of a PUT. They accept null, because responses have null for the field that the
 * monitor does not use.
 */
const putWorkerFields = {
  worker_id: nullIsAbsent(fields.fields.worker_id),
  labels: nullIsAbsent(fields.fields.labels)
}

const example = {
  worker_id: WorkerId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43"),
  match: { name: "postgres" }
}

const exampleDefinition = {
  name: "Database",
  labels: ["database"],
  match: example.match,
  max_rss_bytes: 2_147_483_648
}

const fieldsWithKey = fields.mapFields(Struct.assign({ ...keyInput, ...monitorPausedInput }))

export const ProcessMonitorInput = fieldsWithKey.check(oneWorkerChoice, possible).annotate({
  identifier: "ProcessMonitorInput",
  description: "A process monitor to create. Requires either `worker_id` or `labels`.",
  examples: [exampleDefinition]
})
export type ProcessMonitorInput = typeof ProcessMonitorInput.Type

export const ProcessMonitorUpdate = fieldsWithKey
  .mapFields(patchFields)
  .mapFields(Struct.assign(versionInput))
  .check(atMostOneWorkerChoice, possible)
  .annotate({
    identifier: "ProcessMonitorUpdate",
    description:
      "The fields to change. Absent fields keep their values. `labels` replaces `worker_id`, and " +
      "`worker_id` replaces `labels`.",
    examples: [{ grace_seconds: 120 }]
  })
export type ProcessMonitorUpdate = typeof ProcessMonitorUpdate.Type

export const ProcessRefusal = oneOf(["not_allowed"], {
  identifier: "ProcessRefusal",
  description:
    "`not_allowed`: the agent was not started with the monitor's `command_contains` " +
    "(`--watch-command`)."
})

export const ProcessReport = Schema.Struct({
  count: Schema.Int.annotate({ description: "Number of matching processes.", examples: [1] }),
  rss_bytes: Schema.Int.annotate({ description: "The memory of all matching processes together." }),
  cpu_percent: Schema.NullOr(Schema.Finite).annotate({
    description:
      "The combined CPU usage of all matching processes, as a percentage of one core. Null in the first report.",
    examples: [12.5]
  }),
  pids: Schema.Array(Schema.Int).annotate({
    description: "The ids of up to 20 matching processes.",
    examples: [[4711]]
  }),
  refused: Schema.optionalKey(
    ProcessRefusal.annotate({
      description: "Why the agent has not counted the processes. Absent if it has."
    })
  )
}).annotate({ identifier: "ProcessReport" })
export type ProcessReport = typeof ProcessReport.Type

export const LastProcessReport = Schema.Struct({
  at: Timestamp.annotate({ description: "When the report arrived." }),
  worker_id: WorkerId.annotate({ description: "The worker whose agent sent the report." }),
  ...ProcessReport.fields,
  refused: Schema.NullOr(ProcessRefusal).annotate({
    description: "Why the agent has not counted the processes. Null if it has."
  })
}).annotate({ identifier: "LastProcessReport" })

export const ProcessMonitor = Schema.Struct({
  ...monitorFields,
  worker_id: Schema.NullOr(WorkerId).annotate({
    description: "The worker on whose machine the processes run. Null if `labels` is set."
  }),
  labels: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "The labels of the workers that are watched. Null if `worker_id` is set.",
    examples: [["web"]]
  }),
  judge: ProcessJudge,
  match: Schema.Struct({
    name: Schema.optionalKey(Schema.String).annotate({ description: "The name of the program." }),
    command_contains: Schema.optionalKey(Schema.String).annotate({
      description: "A part of the command line."
    }),
    pid_file: Schema.optionalKey(Schema.String).annotate({
      description: "A file that contains the process id."
    })
  }).annotate({ description: "Which processes are watched.", examples: [{ name: "postgres" }] }),
  min_count: Schema.Int.annotate({ description: "The minimum number of processes." }),
  max_count: Schema.NullOr(Schema.Int).annotate({
    description: "The maximum number of processes. Null if there is none."
  }),
  max_rss_bytes: Schema.NullOr(Schema.Int).annotate({
    description: "The maximum memory of all matching processes. Null if there is none."
  }),
  max_cpu_percent: Schema.NullOr(Schema.Finite).annotate({
    description:
      "The limit on the combined CPU usage of all matching processes, as a percentage of one core. Null if there is no limit."
  }),
  interval_seconds: Schema.Int.annotate({ description: "Number of seconds between two reports." }),
  grace_seconds: Schema.Int.annotate({
    description: "Number of seconds for which a rule can be broken."
  }),
  last_report: Schema.NullOr(LastProcessReport).annotate({
    description: "The latest report from any worker. Null before the first report."
  })
}).annotate({
  identifier: "ProcessMonitor",
  examples: [
    {
      ...exampleOfMonitor,
      name: "Database",
      tags: [],
      ...example,
      labels: null,
      judge: "each",
      min_count: 1,
      max_count: null,
      max_rss_bytes: 2_147_483_648,
      max_cpu_percent: null,
      interval_seconds: 30,
      grace_seconds: 60,
      last_report: {
        at: "2026-01-31T09:30:00.000Z",
        worker_id: example.worker_id,
        count: 1,
        rss_bytes: 734_003_200,
        cpu_percent: 12.5,
        pids: [4711],
        refused: null
      }
    }
  ]
})
export type ProcessMonitor = typeof ProcessMonitor.Type

export const ProcessMonitorDefinition = Schema.Struct(
  putFields(
    { ...fields.fields, ...putWorkerFields, ...monitorPausedInput, ...versionInput },
    ProcessMonitor
  )
)
  .check(oneWorkerChoiceSet, possible)
  .annotate({
    identifier: "ProcessMonitorDefinition",
    description:
      "A process monitor whose key is in the path. Requires either `worker_id` or `labels`. " +
      "Absent fields get their defaults. Fields that only responses have are ignored.",
    examples: [exampleDefinition]
  })
export type ProcessMonitorDefinition = typeof ProcessMonitorDefinition.Type

export const ProcessMonitorPage = ListPage("ProcessMonitorPage", ProcessMonitor)
