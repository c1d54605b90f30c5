import { Predicate } from "effect"
import { SqlError } from "effect/sql"

/**
 * Joins the driver's message with the message of its cause. The cause contains the details, such as
 * a refused connection, too many clients, or a wrong password.
 */
export const explainSqlError = ({ message, reason: { cause } }: SqlError.SqlError): string =>
  cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message

/** Returns whether the failure of the statement is temporary, so that it can be retried. */
export const isTemporaryFailure = (error: unknown): error is SqlError.SqlError =>
  SqlError.isSqlError(error) &&
  (temporaryFailures.has(error.reason._tag) || temporaryState.test(sqlState(error.reason.cause)))

/** Returns whether the statement failed because another transaction held a lock for too long. */
export const isLockTimeout = (error: unknown): boolean =>
  SqlError.isSqlError(error) && error.reason._tag === "LockTimeoutError"

const temporaryFailures = new Set([
  "ConnectionError",
  "AuthenticationError",
  "StatementTimeoutError",
  "LockTimeoutError"
])

/**
 * SQL states of temporary failures for which the driver has no class. 53: out of connections,
 * memory or disk. 57P0: the server is starting or stopping. 25006: the primary became a replica.
 */
const temporaryState = /^(?:53|57P0|25006)/

const sqlState = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : ""
