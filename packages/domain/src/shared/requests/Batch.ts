import { Effect, Option, Schema, type SchemaIssue, SchemaTransformation } from "effect"
import { docs } from "../docs.ts"
import { Conflict, errorMessage, QuotaExceeded, ValidationFailed } from "../Errors.ts"
import { ValidationIssue } from "../ValidationIssue.ts"

export const maxBatchItems = 100

/** An item that does not match its schema. The other items are still created. */
export class InvalidItem {
  readonly issue: SchemaIssue.Issue
  constructor(issue: SchemaIssue.Issue) {
    this.issue = issue
  }
}

/** The annotation that holds the schema of an item. */
export const batchItemAnnotation = "batchItem"

/**
 * A body with up to 100 create inputs. An item that does not match its schema becomes an
 * `InvalidItem` and does not affect the other items.
 */
export const Batch = <S extends Schema.Codec<unknown, unknown>>(
  identifier: string,
  input: S,
  example: NoInfer<S["Type"]>
) =>
  Schema.Struct({
    items: Schema.Array(itemOf(input))
      .check(Schema.isMinLength(1), Schema.isMaxLength(maxBatchItems))
      .annotate({ description: "1 to 100 inputs, each as in a separate create request." })
  }).annotate({ identifier, examples: [{ items: [example] }], [batchItemAnnotation]: input })

/** The item type omits `InvalidItem`, so callers must check for it. */
const itemOf = <S extends Schema.Codec<unknown, unknown>>(input: S) =>
  input.pipe(
    Schema.decodeTo(Schema.Unknown, SchemaTransformation.passthroughSupertype()),
    Schema.catchDecoding((issue: SchemaIssue.Issue) =>
      Effect.succeed(Option.some(new InvalidItem(issue)))
    )
  ) as unknown as Schema.Codec<S["Type"], S["Encoded"]>

const conflict = Conflict.fields.detail.fields

const refusals = [ValidationFailed, Conflict, QuotaExceeded] as const

const BatchError = Schema.Struct({
  detail: Schema.Struct({
    error: Schema.Literals(refusals.map(({ code }) => code)).annotate({
      description: "A stable, machine-readable error code."
    }),
    message: errorMessage,
    issues: Schema.optionalKey(
      Schema.Array(ValidationIssue).annotate({
        description: "The problems found in the item. Only with `validation_failed`."
      })
    ),
    resource: Schema.optionalKey(conflict.resource),
    field: Schema.optionalKey(
      Schema.NullOr(Schema.String).annotate({
        description: "The conflicting field. Only with `conflict`."
      })
    ),
    existing_id: Schema.optionalKey(
      Schema.NullOr(Schema.String).annotate({
        description: "The id of the existing record that conflicts. Only with `conflict`."
      })
    ),
    quota: Schema.optionalKey(
      Schema.String.annotate({
        description: "The limit that was reached. Only with `quota_exceeded`."
      })
    ),
    limit: Schema.optionalKey(QuotaExceeded.fields.detail.fields.limit),
    plan: Schema.optionalKey(QuotaExceeded.fields.detail.fields.plan)
  }).annotate({ description: "Why the item was rejected." })
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
  description: "The `detail` of the error that a separate create request would have returned."
})

/** The result of each item, in the order of the items. */
export const BatchResult = <Record, Encoded>(
  identifier: string,
  record: Schema.Codec<Record, Encoded>
) =>
  Schema.Struct({
    items: Schema.Array(
      Schema.Union([
        Schema.Struct({
          status: Schema.Literal(201).annotate({ description: "The item was created." }),
          data: record
        }),
        Schema.Struct({
          status: Schema.Literals([402, 409, 422]).annotate({
            description: "The item was rejected."
          }),
          error: BatchError
        })
      ])
    ).annotate({
      description:
        "One result per input, in the same order: the status and the body that a separate create " +
        "request would have returned."
    })
  }).annotate({ identifier })

export interface RejectedItem {
  readonly status: 402 | 409 | 422
  readonly error: typeof BatchError.Type
}

/** The record that was created from an item, or why the item was rejected. */
export type BatchOutcome<Record> = { readonly status: 201; readonly data: Record } | RejectedItem

export interface BatchOutcomes<Record> {
  readonly items: ReadonlyArray<BatchOutcome<Record>>
}

/** The documentation of an endpoint that creates many records. */
export const batchDocs = (nouns: string) =>
  docs(
    `Create up to ${maxBatchItems} ${nouns}`,
    "Each item is created or rejected independently and has its own status in the response. " +
      "The response is 200 even if items were rejected. Each item counts as one request."
  )
