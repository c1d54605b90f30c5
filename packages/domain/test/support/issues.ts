import { Result, Schema, SchemaIssue } from "effect"

/** Decodes a body as the API does. Returns the issues as pairs of a path and a message. */
export const issuesOf = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, body: unknown) =>
  Result.match(
    Schema.decodeUnknownResult(schema)(body, { errors: "all", onExcessProperty: "error" }),
    {
      onSuccess: () => [],
      onFailure: (error) =>
        SchemaIssue.makeFormatterStandardSchemaV1()(error.issue).issues.map(
          ({ message, path }) => [(path ?? []).join("."), message] as const
        )
    }
  )
