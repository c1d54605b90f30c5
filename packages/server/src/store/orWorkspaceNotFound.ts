import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Predicate } from "effect"
import { SqlError } from "effect/sql"

/** Turns an insert into a workspace that was deleted after the request was admitted into a 404. */
export const orWorkspaceNotFound = <A, E, R>(insert: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchIf(insert, SqlError.isSqlError, (error) =>
    isForeignKeyViolation(error)
      ? Effect.fail(new NotFound({ resource: "workspace" }))
      : Effect.die(error)
  )

/** Checks the SQL state, because the driver has one class for all constraints. */
const isForeignKeyViolation = ({ reason: { cause } }: SqlError.SqlError) =>
  Predicate.hasProperty(cause, "code") && cause.code === "23503"
