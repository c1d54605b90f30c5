import { Schema } from "effect"
import {
  unsentBodyCheck,
  callOptions,
  retryCountCheck,
  timeoutCheck
} from "../calls/CallOptions.ts"
import { duplicateAuthorizationCheck } from "../calls/CallAuth.ts"
import { call } from "../calls/HttpCall.ts"
import { hasBraces, stepNamePattern } from "../calls/Template.ts"
import {
  referenceProblems,
  unsentTextProblems,
  referenceCountProblems
} from "../calls/TemplateCall.ts"
import { PendingApproval } from "../executions/PendingApproval.ts"
import { NotificationChannelId, UserId } from "../shared/Ids.ts"
import { oneOf } from "../shared/oneOf.ts"
import { keysOfRecords, CallerChosenKey } from "../shared/requests/CallerChosenKey.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { text } from "../shared/Text.ts"
import { isTimeWithOffset } from "../shared/Timestamp.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { runOn } from "../workers/RunOn.ts"

/** The longest time that a step waits: 90 days. */
export const maxStepWaitSeconds = 90 * 86_400

/** The default values of each kind of step. */
export const chainStepDefaults = {
  call: { kind: "call", ...call.defaults, ...runOn.defaults, run_if: "success" },
  wait: { seconds: null, until: null, run_if: "success" },
  approve: { channel_ids: [], channel_keys: [], message: null, approvers: [], run_if: "success" }
} as const

export const RunIf = oneOf(["success", "failure", "always"], {
  identifier: "RunIf",
  description:
    "When a step runs: if no earlier step failed (`success`), if an earlier step failed " +
    "(`failure`), or `always`. Otherwise it is skipped."
})
export type RunIf = typeof RunIf.Type

const kindOf = <const Kind extends string>(kind: Kind) =>
  Schema.Literal(kind).annotate({ description: "The kind of the step." })

const nameDescription =
  "Later steps refer to the response by this name. Names are unique within a chain."

const nameInput = Schema.String.check(
  Schema.isPattern(stepNamePattern, {
    expected: "a name of at most 64 letters, digits, - and _ that starts with a letter",
    toJsonSchema: () => ({ pattern: stepNamePattern.source, maxLength: 64 })
  })
).annotate({
  description: nameDescription,
  examples: ["login"]
})

const name = Schema.String.annotate({ description: nameDescription })

const runIfInput = optionalWithDefault("`success`", RunIf)

export const CallStepInput = Schema.Struct({
  kind: optionalWithDefault("`call`", kindOf("call")),
  name: nameInput,
  ...call.input,
  ...runOn.input,
  run_if: runIfInput
})
  .check(unsentBodyCheck, retryCountCheck, timeoutCheck, duplicateAuthorizationCheck)
  .annotate({
    identifier: "CallStepInput",
    description:
      "A call that may use the responses of earlier steps in `url`, `headers` and `body`: " +
      "`{{ steps.<name>.status }}`, `{{ steps.<name>.body }}` and, if the body is JSON, " +
      "`{{ steps.<name>.body.items[0].id }}`. If a value is missing, the step fails. The first " +
      "10,000 bytes of each response can be used. A chain may contain at most 2,000 references.",
    examples: [
      {
        name: "login",
        url: "https://api.example.com/login",
        body: '{"user":"robot"}',
        retry_count: 3
      }
    ]
  })
export type CallStepInput = typeof CallStepInput.Type

const oneOfSecondsAndUntil = Schema.makeFilter<{
  readonly seconds?: number | null
  readonly until?: string | null
}>(({ seconds = null, until = null }) =>
  (seconds === null) === (until === null)
    ? filterIssue({
        path: ["seconds"],
        code: seconds === null ? "required" : "conflict",
        problem: seconds === null ? "or until is required" : "and until must not be given together"
      })
    : undefined
)

export const WaitStepInput = Schema.Struct({
  kind: kindOf("wait"),
  name: nameInput,
  seconds: optionalWithDefault(
    "None",
    Schema.NullOr(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxStepWaitSeconds }))
    ).annotate({
      description:
        "How long the step waits after the end of the previous step, in seconds. At most 90 days.",
      examples: [3_600]
    })
  ),
  until: optionalWithDefault(
    "None",
    Schema.NullOr(text({ min: 1, max: 1_000 })).annotate({
      description:
        "When the step stops waiting: an ISO 8601 time with Z or an offset, or references that produce one, such as " +
        "`{{ input.at }}`. If the time has passed, the step ends immediately. If the time is more than 90 days ahead, the step fails.",
      examples: ["{{ input.at }}"]
    })
  ),
  run_if: runIfInput
})
  .check(oneOfSecondsAndUntil)
  .annotate({
    identifier: "WaitStepInput",
    description:
      "Waits for a number of seconds, or until a given time. A waiting step occupies no slot on a node or in a queue.",
    examples: [{ kind: "wait", name: "pause", seconds: 3_600 }]
  })
export type WaitStepInput = typeof WaitStepInput.Type

export const ApproveStepInput = Schema.Struct({
  kind: kindOf("approve"),
  name: nameInput,
  channel_ids: optionalWithDefault(
    "None",
    Schema.Array(NotificationChannelId).check(Schema.isMaxLength(10)).annotate({
      description:
        "The channels that receive a message with a link, in addition to the channels that rules notify of `approval.requested`. At most 10."
    })
  ),
  channel_keys: optionalWithDefault(
    "None",
    Schema.Array(CallerChosenKey).check(Schema.isMaxLength(10)).annotate({
      description:
        "The keys of the channels, instead of `channel_ids`. If both are given, each key must belong to a channel named by an id."
    })
  ),
  message: optionalWithDefault(
    "None",
    Schema.NullOr(text({ min: 1, max: 500 })).annotate({
      description: "The question for the approvers. It can contain references, but not to secrets.",
      examples: ["Release {{ input.version }}?"]
    })
  ),
  timeout_seconds: Schema.Int.check(
    Schema.isBetween({ minimum: 1, maximum: maxStepWaitSeconds })
  ).annotate({
    description: "How long the step waits for a decision before it fails. At most 90 days.",
    examples: [86_400]
  }),
  approvers: optionalWithDefault(
    "Every editor",
    Schema.Array(UserId).check(Schema.isMaxLength(20)).annotate({
      description:
        "The ids of up to 20 members who can decide. They must be at least editors. If given, the link in messages leads to the panel, where the members sign in."
    })
  ),
  run_if: runIfInput
}).annotate({
  identifier: "ApproveStepInput",
  description:
    "Waits until somebody approves or rejects it: with the link in a message, in the panel, or with `POST …/executions/{id}/approve` and `/reject`. " +
    "A rejection makes the step fail.",
  examples: [
    {
      kind: "approve",
      name: "release",
      message: "Release {{ input.version }}?",
      timeout_seconds: 86_400
    }
  ]
})
export type ApproveStepInput = typeof ApproveStepInput.Type

const stepInput = Schema.Union([CallStepInput, WaitStepInput, ApproveStepInput]).annotate({
  identifier: "ChainStepInput",
  description: "A step of a chain. Without `kind`, it is a call."
})

/**
 * An interface gives the type a name. Otherwise, declarations would repeat the whole type at each
 * endpoint.
 */
export interface ChainStepInputSchema extends StepInputSchema {}
type StepInputSchema = typeof stepInput
export const ChainStepInput: ChainStepInputSchema = stepInput
export type ChainStepInput = typeof ChainStepInput.Type

export const isCallStep = <Step extends { readonly kind?: string }>(
  step: Step
): step is Exclude<Step, { readonly kind: "wait" | "approve" }> => (step.kind ?? "call") === "call"

/** Checks that step names are unique and that references name only earlier steps. */
export const stepsProblems = (
  steps: ReadonlyArray<ChainStepInput>
): ReadonlyArray<FieldProblem> => {
  const tooMany = referenceCountProblems(steps.filter(isCallStep))
  if (tooMany.length > 0) return tooMany
  const earlier = new Set<string>()
  return steps.flatMap((step, index) => {
    const found = isCallStep(step) ? referenceProblems(step, earlier) : pauseProblems(step, earlier)
    const problems = found.map((one) => ({ ...one, path: [index, ...one.path] }))
    if (earlier.has(step.name)) {
      problems.push({
        path: [index, "name"],
        code: "duplicate",
        problem: "is already the name of an earlier step"
      })
    }
    earlier.add(step.name)
    return problems
  })
}

const pauseProblems = (
  step: WaitStepInput | ApproveStepInput,
  earlier: ReadonlySet<string>
): ReadonlyArray<FieldProblem> => {
  if (step.kind === "approve") {
    const { message = null } = step
    return message === null ? [] : unsentTextProblems(["message"], message, earlier)
  }
  const { until = null } = step
  if (until === null) return []
  if (hasBraces(until)) return unsentTextProblems(["until"], until, earlier)
  if (isTimeWithOffset(until)) return []
  const problem =
    "must be an ISO 8601 time with Z or an offset, such as 2026-01-31T09:30:00Z, or a reference such as {{ input.at }}"
  return [{ path: ["until"], code: "invalid_format", problem }]
}

/** A step with a call as responses show it, for examples. */
export const exampleCallStep = {
  kind: "call",
  name: "close",
  url: "https://api.example.com/days/today/close",
  method: "POST",
  headers: {},
  body: null,
  timeout_seconds: 30,
  retry_count: 3,
  ...callOptions.unset,
  ...runOn.defaults,
  run_if: "success"
} as const

export const CallStep = Schema.Struct({
  kind: kindOf("call"),
  name,
  ...call.fields,
  ...runOn.fields,
  run_if: RunIf
}).annotate({
  identifier: "CallStep",
  description: "A step that makes a call.",
  examples: [exampleCallStep]
})
export type CallStep = typeof CallStep.Type

export const WaitStep = Schema.Struct({
  kind: kindOf("wait"),
  name,
  seconds: Schema.NullOr(Schema.Int).annotate({
    description: "How long the step waits, in seconds. Null if it waits until a given time."
  }),
  until: Schema.NullOr(Schema.String).annotate({
    description: "When the step stops waiting. Null if it waits for a number of seconds."
  }),
  run_if: RunIf
}).annotate({
  identifier: "WaitStep",
  description: "A step that waits.",
  examples: [{ kind: "wait", name: "pause", seconds: 3_600, until: null, run_if: "success" }]
})
export type WaitStep = typeof WaitStep.Type

export const ApproveStep = Schema.Struct({
  kind: kindOf("approve"),
  name,
  channel_ids: Schema.Array(Schema.String).annotate({
    description: "The channels that receive a message with a link."
  }),
  channel_keys: keysOfRecords("channels"),
  message: Schema.NullOr(Schema.String).annotate({
    description: "What needs approval. Null if the step has no message."
  }),
  timeout_seconds: Schema.Int.annotate({
    description: "How long the step waits for a decision, in seconds."
  }),
  approvers: PendingApproval.fields.approvers,
  run_if: RunIf
}).annotate({
  identifier: "ApproveStep",
  description: "A step that waits for a person's decision.",
  examples: [
    {
      kind: "approve",
      name: "release",
      channel_ids: [],
      channel_keys: [],
      message: "Release {{ input.version }}?",
      timeout_seconds: 86_400,
      approvers: [],
      run_if: "success"
    }
  ]
})
export type ApproveStep = typeof ApproveStep.Type

const step = Schema.Union([CallStep, WaitStep, ApproveStep]).annotate({
  identifier: "ChainStep",
  description: "A step of a chain."
})

/** An interface that gives the type a name, as for `ChainStepInputSchema`. */
export interface ChainStepSchema extends StepSchema {}
type StepSchema = typeof step
export const ChainStep: ChainStepSchema = step
export type ChainStep = typeof ChainStep.Type
