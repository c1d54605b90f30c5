import { Schema } from "effect"
import { ApiError } from "../shared/Errors.ts"
import { optionalWithDefault } from "../shared/requests/optionalWithDefault.ts"
import { text } from "../shared/Text.ts"
import { Timestamp } from "../shared/Timestamp.ts"

/** An approval that a step waits for. */
export const PendingApproval = Schema.Struct({
  message: Schema.NullOr(Schema.String).annotate({
    description: "What needs approval. Null if the step has no message.",
    examples: ["Release 1.4.0?"]
  }),
  until: Timestamp.annotate({ description: "When the step fails if nobody has decided." }),
  approvers: Schema.Array(Schema.String).annotate({
    description: "The ids of the members who may decide. Empty if every editor may."
  })
}).annotate({
  identifier: "PendingApproval",
  examples: [{ message: "Release 1.4.0?", until: "2026-02-01T09:30:00.000Z", approvers: [] }]
})
export type PendingApproval = typeof PendingApproval.Type

/** The body of a request that approves or rejects a step. */
export const DecisionRequest = Schema.Struct({
  note: optionalWithDefault(
    "None",
    Schema.NullOr(text({ min: 1, max: 500 })).annotate({
      description: "The reason, which later steps can use.",
      examples: ["The tests have passed."]
    })
  )
}).annotate({
  identifier: "DecisionRequest",
  description: "The options of a decision. The body may be omitted.",
  examples: [{ note: "The tests have passed." }]
})
export type DecisionRequest = typeof DecisionRequest.Type

export class NotApprover extends ApiError<NotApprover>()("NotApprover", {
  status: 403,
  code: "not_approver",
  message: "Only the approvers of this step may approve or reject it."
}) {}
