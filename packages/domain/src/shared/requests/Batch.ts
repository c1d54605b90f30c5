import { Effect, Option, Schema, type SchemaIssue, SchemaTransformation } from "effect"
import { docs } from "../docs.ts"
import { Conflict, errorMessage, QuotaExceeded, ValidationFailed } from "../Errors.ts"

export const maxBatch = 100

/** Stands for an item that is not what it should be. The other items are made all the same. */
export class Unreadable {
  readonly issue: SchemaIssue.Issue
  constructor(issue: SchemaIssue.Issue) {
    this.issue = issue
  }
}

/** The annotation with the schema of an item that can be read. */
export const batchOf = "batchOf"

/**
 * A body with up to 100 inputs of creates. What is wrong with one of them is found at its place,
 * and refuses no other: see `Unreadable`.
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

/** An item's type is that of one that was read, and says nothing of those that were not. */
const itemOf = <S extends Schema.Codec<unknown, unknown>>(input: S) =>
  input.pipe(
    Schema.decodeTo(Schema.Unknown, SchemaTransformation.passthroughSupertype()),
    Schema.catchDecoding((issue: SchemaIssue.Issue) =>
      Effect.succeed(Option.some(new Unreadable(issue)))
    )
  ) as unknown as Schema.Codec<S["Type"], S["Encoded"]>

const refusals = [ValidationFailed, Conflict, QuotaExceeded] as const

const BatchError = Schema.Struct({
  detail: Schema.Struct({
    error: Schema.Literals(refusals.map(({ code }) => code)).annotate({
      description: "The code of the failure, for programs. It is stable."
    }),
    message: errorMessage,
    issues: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({
          path: Schema.Array(Schema.Union([Schema.String, Schema.Int])).annotate({
            description: "Where in the item it is."
          }),
          message: errorMessage
        })
      ).annotate({ description: "What is wrong with the item. Only with `validation_failed`." })
    ),
    quota: Schema.optionalKey(
      Schema.String.annotate({ description: "Which limit is reached. Only with `quota_exceeded`." })
    ),
    limit: Schema.optionalKey(QuotaExceeded.fields.detail.fields.limit),
    plan: Schema.optionalKey(QuotaExceeded.fields.detail.fields.plan)
  }).annotate({ description: "What went wrong." })
}).annotate({
  identifier: "BatchError",
  examples: [
    {
      detail: {
        error: "conflict",
        message: "The state of the resource does not allow this."
      }
    }
  ],
  description: "The body that a create of its own would have been answered with."
})

/** What became of each item, in their order. */
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

/** A refusal of one item, or what was made of it. */
export type BatchOutcome<Record> = { readonly status: 201; readonly data: Record } | RefusedItem

export interface BatchOutcomes<Record> {
  readonly items: ReadonlyArray<BatchOutcome<Record>>
}

/** What every create of many says of itself. */
export const batchDocs = (nouns: string) =>
  docs(
    `Create up to ${maxBatch} ${nouns}`,
    "Each item is created or refused on its own, and has its own status in the answer, which is 200 " +
      "whatever became of them. Each item counts as one request."
  )
