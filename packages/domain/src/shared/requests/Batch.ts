import { Effect, Option, Schema, type SchemaIssue, SchemaTransformation } from "effect"
import { docs } from "../docs.ts"
import { Conflict, errorMessage, QuotaExceeded, ValidationFailed } from "../Errors.ts"
import { ValidationIssue } from "../ValidationIssue.ts"

export const maxBatch = 100

/** An item that does not fit its schema. The other items are created all the same. */
export class Unreadable {
  readonly issue: SchemaIssue.Issue
  constructor(issue: SchemaIssue.Issue) {
    this.issue = issue
  }
}

/** The annotation that holds the schema of an item. */
export const batchOf = "batchOf"

/**
 * A body with up to 100 inputs of creates. An item that does not fit its schema becomes an
 * `Unreadable`, and refuses no other item.
 */
export const Batch = <S extends Schema.Codec<unknown, unknown>>(
  identifier: string,
  input: S,
  example: NoInfer<S["Type"]>
) =>
  Schema.Struct({
    items: Schema.Array(itemOf(input))
      .check(Schema.isMinLength(1), Schema.isMaxLength(maxBatch))
      .annotate({ description: "1 to 100 inputs, each as for a create of its own." })
  }).annotate({ identifier, examples: [{ items: [example] }], [batchOf]: input })

/** The type of an item leaves out `Unreadable`, so a caller must check for it. */
const itemOf = <S extends Schema.Codec<unknown, unknown>>(input: S) =>
  input.pipe(
    Schema.decodeTo(Schema.Unknown, SchemaTransformation.passthroughSupertype()),
    Schema.catchDecoding((issue: SchemaIssue.Issue) =>
      Effect.succeed(Option.some(new Unreadable(issue)))
    )
  ) as unknown as Schema.Codec<S["Type"], S["Encoded"]>

const conflict = Conflict.fields.detail.fields

const refusals = [ValidationFailed, Conflict, QuotaExceeded] as const

const BatchError = Schema.Struct({
  detail: Schema.Struct({
    error: Schema.Literals(refusals.map(({ code }) => code)).annotate({
      description: "The code of the failure, for programs. It is stable."
    }),
    message: errorMessage,
    issues: Schema.optionalKey(
      Schema.Array(ValidationIssue).annotate({
        description: "What is wrong with the item. Only with `validation_failed`."
      })
    ),
    resource: Schema.optionalKey(conflict.resource),
    field: Schema.optionalKey(
      Schema.NullOr(Schema.String).annotate({
        description: "The field that conflicts. Only with `conflict`."
      })
    ),
    existing_id: Schema.optionalKey(
      Schema.NullOr(Schema.String).annotate({
        description: "The id of the record that is in the way. Only with `conflict`."
      })
    ),
    quota: Schema.optionalKey(
      Schema.String.annotate({ description: "Which limit is reached. Only with `quota_exceeded`." })
    ),
    limit: Schema.optionalKey(QuotaExceeded.fields.detail.fields.limit),
    plan: Schema.optionalKey(QuotaExceeded.fields.detail.fields.plan)
  }).annotate({ description: "The reason of the refusal." })
}).annotate({
  identifier: "BatchError",
  examples: [
    {
      detail: {
        error: "conflict",
        message: 'A cron task with the key "reports:nightly" already exists.',
        resource: "task",
        field: "key",
        existing_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d40"
      }
    }
  ],
  description: "The `detail` of the error that a create of its own would have been answered with."
})

/** The outcome of each item, in the order of the items. */
export const BatchResult = <Record, Encoded>(
  identifier: string,
  record: Schema.Codec<Record, Encoded>
) =>
  Schema.Struct({
    items: Schema.Array(
      Schema.Union([
        Schema.Struct({
          status: Schema.Literal(201).annotate({ description: "It was created." }),
          data: record
        }),
        Schema.Struct({
          status: Schema.Literals([402, 409, 422]).annotate({ description: "It was refused." }),
          error: BatchError
        })
      ])
    ).annotate({
      description:
        "One per input, in the same order: the status and the body that a create of its own would " +
        "have been answered with."
    })
  }).annotate({ identifier })

export interface RefusedItem {
  readonly status: 402 | 409 | 422
  readonly error: typeof BatchError.Type
}

/** The record that was created from an item, or the refusal of the item. */
export type BatchOutcome<Record> = { readonly status: 201; readonly data: Record } | RefusedItem

export interface BatchOutcomes<Record> {
  readonly items: ReadonlyArray<BatchOutcome<Record>>
}

/** The documentation of every endpoint that creates many records. */
export const batchDocs = (nouns: string) =>
  docs(
    `Create up to ${maxBatch} ${nouns}`,
    "Each item is created or refused on its own, and has its own status in the answer, which is 200 " +
      "whatever became of them. Each item counts as one request."
  )
