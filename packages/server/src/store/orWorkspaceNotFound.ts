import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Predicate } from "effect"
import { SqlError } from "effect/sql"

/**
 * Fails with a 404 if the workspace of an inserted row was deleted after the request was
 * authorized.
 */
export const orWorkspaceNotFound = <A, E, R>(insert: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchIf(insert, SqlError.isSqlError, (error) =>
    isForeignKeyViolation(error)
      ? Effect.fail(new NotFound({ resource: "workspace" }))
      : Effect.die(error)
  )

/**
 * Returns whether an insert has violated a foreign key. The SQL state is checked, because the
 * driver has one error class for all constraints.
 */
const isForeignKeyViolation = ({ reason: { cause } }: SqlError.SqlError) =>
  Predicate.hasProperty(cause, "code") && cause.code === "23503"
