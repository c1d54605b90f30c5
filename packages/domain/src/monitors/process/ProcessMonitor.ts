import { Schema, Struct } from "effect"
import { WorkerId } from "../../shared/Ids.ts"
import { oneOf } from "../../shared/oneOf.ts"
import { keyInput } from "../../shared/requests/OwnKey.ts"
import { Page } from "../../shared/requests/Page.ts"
import { text } from "../../shared/Text.ts"
import { Timestamp } from "../../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../../shared/ValidationIssue.ts"
import { NeededLabels } from "../../workers/Label.ts"
import { exampleOfMonitor, monitorFields, monitorInput } from "../Monitor.ts"

export const maxShownPids = 20

const exactlyOne = Schema.makeFilter<object>((match) => Object.keys(match).length === 1, {
  expected: "an object with exactly one of name, command_contains and pid_file",
  toJsonSchema: () => ({ minProperties: 1, maxProperties: 1 })
})

const matchFields = {
  name: Schema.optionalKey(
    text({ min: 1, max: 255 }).annotate({
      description: "The name of the program, exactly.",
      examples: ["postgres"]
    })
  ),
  command_contains: Schema.optionalKey(
    text({ min: 1, max: 1_000 }).annotate({
      description:
        "A part of the command line. The agent looks for it only if it was started with exactly this text (`--watch-command`).",
      examples: ["worker.js --queue mail"]
    })
  ),
  pid_file: Schema.optionalKey(
    text({ min: 1, max: 1_000 }).annotate({
      description: "A file on the worker's machine that holds the process id.",
      examples: ["/run/nginx.pid"]
    })
  )
}

/** Which processes are watched. */
export const ProcessMatch = Schema.Struct(matchFields)
  .check(exactlyOne)
  .annotate({
    identifier: "ProcessMatch",
    description: "Exactly one of the three. Agents watch processes on Linux only.",
    examples: [{ name: "postgres" }]
  })
export type ProcessMatch = typeof ProcessMatch.Type

const count = (minimum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum: 1_000_000 }))

export const ProcessJudge = oneOf(["each", "together"], {
  identifier: "ProcessJudge",
  description:
    "How several workers count. `each`: the rules hold on each of them. `together`: they hold for " +
    "the processes of all of them together. It makes no difference with `worker_id`. `each` when absent."
})

const fields = Schema.Struct({
  ...monitorInput,
  worker_id: Schema.optionalKey(
    WorkerId.annotate({ description: "The worker on whose machine the processes run." })
  ),
  labels: Schema.optionalKey(
    NeededLabels.annotate({
      description:
        "Instead of `worker_id`: on the machines of all online workers with these labels.",
      examples: [["web"]]
    })
  ),
  judge: Schema.optionalKey(ProcessJudge),
  match: ProcessMatch,
  min_count: Schema.optionalKey(
    count(0).annotate({
      description: "At most `max_count`. When absent: 1, and 0 with a `max_count` of 0.",
      examples: [1]
    })
  ),
  max_count: Schema.optionalKey(
    Schema.NullOr(count(0)).annotate({
      description: "Any number when absent or null.",
      examples: [8]
    })
  ),
  max_rss_bytes: Schema.optionalKey(
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
    ).annotate({
      description: "The memory of all of them together. Any when absent or null.",
      examples: [536_870_912]
    })
  ),
  max_cpu_percent: Schema.optionalKey(
    Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))).annotate(
      {
        description:
          "The processor time of all of them together since the report before; 100 is one core. Any when absent or null.",
        examples: [150]
      }
    )
  ),
  interval_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 3_600 })).annotate({
      description: "How far apart reports are. 30 when absent.",
      examples: [30]
    })
  ),
  grace_seconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })).annotate({
      description:
        "How long a rule may be broken, or the worker silent, before the monitor goes down. 60 when absent.",
      examples: [60]
    })
  )
})

/** What a process monitor is where its author did not say. */
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

/** What `min_count` is where its author did not say. */
export const leastCount = ({ max_count }: Counts): number =>
  max_count === 0 ? 0 : processDefaults.min_count

interface Counts {
  readonly min_count?: number
  readonly max_count?: number | null
}

/** The problem of the counts, if any, of a new or changed monitor. */
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

interface Place {
  readonly worker_id?: string
  readonly labels?: ReadonlyArray<string>
}

const bothGiven = ({ labels, worker_id }: Place) => labels !== undefined && worker_id !== undefined
const noneGiven = ({ labels, worker_id }: Place) => labels === undefined && worker_id === undefined

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

const onePlace = Schema.makeFilter<Place>(
  (place) => {
    const problem = bothGiven(place) ? notBoth : noneGiven(place) ? missing : undefined
    return problem && filterIssue(problem)
  },
  { toJsonSchema: () => ({ oneOf: [{ required: ["worker_id"] }, { required: ["labels"] }] }) }
)

const atMostOnePlace = Schema.makeFilter<Place>(
  (place) => (bothGiven(place) ? filterIssue(notBoth) : undefined),
  {
    toJsonSchema: () => ({
      not: { properties: { worker_id: {}, labels: {} }, required: ["worker_id", "labels"] }
    })
  }
)

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

const fieldsWithKey = fields.mapFields(Struct.assign(keyInput))

export const ProcessMonitorInput = fieldsWithKey.check(onePlace, possible).annotate({
  identifier: "ProcessMonitorInput",
  description: "Give `worker_id` or `labels`, one of the two.",
  examples: [exampleDefinition]
})
export type ProcessMonitorInput = typeof ProcessMonitorInput.Type

export const ProcessMonitorDefinition = fields.check(onePlace, possible).annotate({
  identifier: "ProcessMonitorDefinition",
  description:
    "A process monitor whose key is in the path. Give `worker_id` or `labels`, one of the two. " +
    "Absent fields get their defaults.",
  examples: [exampleDefinition]
})
export type ProcessMonitorDefinition = typeof ProcessMonitorDefinition.Type

export const ProcessMonitorUpdate = fieldsWithKey
  .mapFields(Struct.map(Schema.optionalKey))
  .check(atMostOnePlace, possible)
  .annotate({
    identifier: "ProcessMonitorUpdate",
    description:
      "Any of the fields. Absent fields keep their values. `labels` replaces `worker_id`, and the other way round.",
    examples: [{ grace_seconds: 120 }]
  })
export type ProcessMonitorUpdate = typeof ProcessMonitorUpdate.Type

export const ProcessRefusal = oneOf(["not_allowed"], {
  identifier: "ProcessRefusal",
  description:
    "`not_allowed`: the agent was not started with the `command_contains` of the monitor " +
    "(`--watch-command`)."
})

/** What an agent has seen of the processes. */
export const ProcessReport = Schema.Struct({
  count: Schema.Int.annotate({ description: "How many processes match.", examples: [1] }),
  rss_bytes: Schema.Int.annotate({ description: "Their memory together." }),
  cpu_percent: Schema.NullOr(Schema.Finite).annotate({
    description: "Their processor time together; 100 is one core. Null in the first report.",
    examples: [12.5]
  }),
  pids: Schema.Array(Schema.Int).annotate({
    description: "The ids of at most 20 of them.",
    examples: [[4711]]
  }),
  refused: Schema.optionalKey(
    ProcessRefusal.annotate({ description: "Why the agent did not look. Absent if it did." })
  )
}).annotate({ identifier: "ProcessReport" })
export type ProcessReport = typeof ProcessReport.Type

export const LastProcessReport = Schema.Struct({
  at: Timestamp.annotate({ description: "When it arrived." }),
  worker_id: WorkerId.annotate({ description: "The worker whose agent it came from." }),
  ...ProcessReport.fields
}).annotate({ identifier: "LastProcessReport" })

export const ProcessMonitor = Schema.Struct({
  ...monitorFields,
  worker_id: Schema.NullOr(WorkerId).annotate({
    description: "The worker on whose machine the processes run. Null with `labels`."
  }),
  labels: Schema.NullOr(Schema.Array(Schema.String)).annotate({
    description: "The labels of the workers that are watched. Null with `worker_id`.",
    examples: [["web"]]
  }),
  judge: ProcessJudge,
  match: Schema.Struct({
    name: Schema.optionalKey(Schema.String).annotate({ description: "The name of the program." }),
    command_contains: Schema.optionalKey(Schema.String).annotate({
      description: "A part of the command line."
    }),
    pid_file: Schema.optionalKey(Schema.String).annotate({
      description: "A file that holds the process id."
    })
  }).annotate({ description: "Which processes are watched.", examples: [{ name: "postgres" }] }),
  min_count: Schema.Int.annotate({ description: "How many there must be." }),
  max_count: Schema.NullOr(Schema.Int).annotate({ description: "How many there may be." }),
  max_rss_bytes: Schema.NullOr(Schema.Int).annotate({
    description: "How much memory they may have."
  }),
  max_cpu_percent: Schema.NullOr(Schema.Finite).annotate({
    description: "How much processor time they may take."
  }),
  interval_seconds: Schema.Int.annotate({ description: "How far apart reports are." }),
  grace_seconds: Schema.Int.annotate({ description: "How long a rule may be broken." }),
  last_report: Schema.NullOr(LastProcessReport).annotate({
    description: "The latest one, of any of its workers. Null before the first."
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
        pids: [4711]
      }
    }
  ]
})
export type ProcessMonitor = typeof ProcessMonitor.Type

export const ProcessMonitorPage = Page("ProcessMonitorPage", ProcessMonitor)
